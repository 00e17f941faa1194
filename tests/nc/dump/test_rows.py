"""Numbers are what C's printf writes, and lines end where ncdump ends them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from omnizarr.native import CdlRows

KINDS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def rows_of(shape, unlimited=(), *, width=78, indent=0, line=2, notes="", name=b"v"):
    flags = [*unlimited, *[False] * (len(shape) - len(unlimited))]
    return CdlRows(
        shape, flags, part=[], width=width, indent=indent, line=line, name=name, notes=notes, whole_rows=False
    )


def c_text(value, digits):
    if value.dtype.kind != "f":
        return str(value)
    if np.isfinite(value):
        return f"%.{digits}g" % value
    suffix = "f" if value.dtype == np.float32 else ""
    return ("NaN" if np.isnan(value) else "-Infinity" if value < 0 else "Infinity") + suffix


@given(kind=st.sampled_from(KINDS), data=st.data())
def test_numbers_are_what_printf_writes(kind, data):
    dtype = np.dtype(kind)
    bits = data.draw(arrays.arrays(f"u{dtype.itemsize}", st.integers(1, 40)))
    values = bits.view(dtype)
    digits = data.draw(st.integers(1, 20))
    text = rows_of((len(values),), width=10**9).numbers(values, None, digits).decode()
    assert text == ", ".join(c_text(value, digits) for value in values) + " ;\n"


@given(st.lists(st.floats(width=64), min_size=1, max_size=30), st.sampled_from([7, 15, 17]))
@example([0.5, 1.5, 2.5, 0.125, 0.375, 1e22, 1e23, 5e-324, 123456789012345.5], 15)
@example([2.5, 0.25, 1.25e-5, 99999995.0, 9999999.5, 999999.95], 7)
def test_doubles_near_round_numbers(numbers, digits):
    values = np.array([*numbers, *(round(one, 3) for one in numbers if np.isfinite(one))], "f8")
    text = rows_of((len(values),), width=10**9).numbers(values, None, digits).decode()
    assert text == ", ".join(c_text(value, digits) for value in values) + " ;\n"


@pytest.mark.parametrize("kind", KINDS)
def test_fill_values_are_underscores(kind):
    values = np.array([1, 2, 3], kind)
    assert rows_of((3,)).numbers(values, values[1].tobytes(), 7) == b"1, _, 3 ;\n"


@pytest.mark.parametrize(
    ("kind", "fill", "values", "wanted"),
    [
        ("f4", np.nan, [np.nan, 1, np.inf], "_, 1, Infinityf"),
        ("f8", -np.inf, [np.nan, -np.inf, np.inf], "NaN, _, Infinity"),
        ("f4", 1, [1.0000001, 1.0000002, -1], "_, 1, -1"),
        ("f8", 0, [0.0, -0.0, 5e-324, -5e-324], "_, _, 4.94065645841247e-324, -4.94065645841247e-324"),
    ],
)
def test_floats_equal_the_fill_value_up_to_the_last_bit(kind, fill, values, wanted):
    array = np.array(values, kind)
    digits = 7 if kind == "f4" else 15
    text = rows_of((len(values),)).numbers(array, np.array(fill, kind).tobytes(), digits)
    assert text.decode() == f"{wanted} ;\n"


class Model:
    """What ncdump does, in its own steps."""

    def __init__(self, width, indent, line):
        self.width, self.indent, self.line, self.parts = width, indent, line, []

    @property
    def text(self):
        return "".join(self.parts)

    def put(self, text):
        if len(text) + self.line > self.width and len(text) > 2:
            self.parts.append("\n" + " " * (self.indent + 4))
            self.line = self.indent + 4
        self.parts.append(text)
        self.line = self.indent if text.endswith("\n") else self.line + len(text)

    def rows(self, texts, shape, unlimited, corner=(), pending=0):
        level = len(corner)
        if level and unlimited[level]:
            self.put("{")
            pending += 1
        if level < len(shape) - 1:
            for i in range(shape[level]):
                last = i == shape[level] - 1
                self.rows(texts, shape, unlimited, (*corner, i), pending if last else 0)
            return
        row = list(itertools.islice(texts, shape[-1] if shape else 1))
        for text in row[:-1]:
            self.put(f"{text}, ")
        self.put(row[-1] + "}" * pending)
        if all(i == n - 1 for i, n in zip(corner, shape, strict=False)):
            self.put(" ;")
            self.put("\n")
        else:
            self.put(",\n")
            self.put("  ")


@given(data=st.data())
def test_lines_end_where_ncdump_ends_them(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 6), max_size=4)))
    unlimited = [data.draw(st.booleans()) for _ in shape]
    width, indent = data.draw(st.integers(8, 40)), data.draw(st.sampled_from([0, 2, 6]))
    size = int(np.prod(shape))
    values = np.array(data.draw(st.lists(st.integers(-(10**6), 10**6), min_size=size, max_size=size)), "i4")
    model = Model(width, indent, line=5)
    model.rows(map(str, values), shape, unlimited)
    rows = rows_of(shape, unlimited, width=width, indent=indent, line=5)
    cut = data.draw(st.integers(0, size))
    assert (rows.numbers(values[:cut], None, 7) + rows.numbers(values[cut:], None, 7)).decode() == model.text
    assert rows.line == model.line
    by_one = rows_of(shape, unlimited, width=width, indent=indent, line=5)
    assert by_one.tokens([str(value).encode() for value in values]).decode() == model.text


def test_many_numbers_in_one_row_are_written_on_all_threads():
    values = np.arange(300_000, dtype="u4")
    model = Model(78, 0, line=2)
    model.rows(map(str, values), (len(values),), [False])
    assert rows_of((len(values),)).numbers(values, None, 7).decode() == model.text


def test_what_is_no_contiguous_array_of_numbers_is_refused():
    for values in (np.arange(10)[::2], np.array(["a"]), np.array([1], ">i4"), np.array([1j])):
        with pytest.raises(TypeError):
            rows_of((5,)).numbers(values, None, 7)
    with pytest.raises(ValueError, match="notes"):
        rows_of((5,), notes="x")
