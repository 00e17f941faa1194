"""Values in text, tables, NumPy's files and JSON, with NumPy as the model."""

from __future__ import annotations

import csv
import io
import json
import sys
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import SelectionError, UnsupportedError
from omnizarr.tools.values.blocks import blocks, edges
from omnizarr.tools.values.selecting import pick
from omnizarr.tools.values.writing import write_csv, write_json, write_npy, write_text

index = st.one_of(
    st.integers(-4, 3),
    st.builds(
        slice, *(st.none() | st.integers(-6, 6) for _ in range(2)), st.none() | st.sampled_from([1, 2, 3, -1, -2])
    ),
)


def typed(item: object) -> str:
    if not isinstance(item, slice):
        return "..." if item is ... else str(item)
    parts = ["" if one is None else str(one) for one in (item.start, item.stop, item.step)]
    return ":".join(parts if item.step is not None else parts[:2])


@settings(max_examples=300)
@given(data=st.data())
def test_selections_are_those_of_numpy(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=4)))
    items = [data.draw(index) for _ in range(data.draw(st.integers(0, len(shape))))]
    if data.draw(st.booleans()):
        items.insert(data.draw(st.integers(0, len(items))), ...)
    text = data.draw(st.sampled_from([",", ", "])).join(map(typed, items))
    values = np.arange(np.prod(shape)).reshape(shape)
    try:
        expected = values[tuple(items)]
    except IndexError:
        with pytest.raises(SelectionError):
            pick(text, shape)
        return
    picked = pick(text, shape)
    assert picked.shape == expected.shape
    chunks = tuple(data.draw(st.integers(1, 3)) for _ in shape)
    array = oz.create_array({}, data=values, chunks=chunks)
    most = data.draw(st.sampled_from([1, 16, 64, 1 << 20]))
    parts = [block.values.reshape(-1) for block in blocks(array, picked, most_bytes=most)]
    assert np.array_equal(np.concatenate([*parts, np.empty(0, values.dtype)]), expected.reshape(-1))
    assert most > 8 or all(part.size <= 1 for part in parts)


@pytest.mark.parametrize(
    ("text", "expected"), [("x=1", (2,)), ("y=-1, x=::2", (2,)), ("x=0:1,y=0:1", (1, 1)), ("", (2, 3)), ("[0]", (3,))]
)
def test_selections_by_name(text, expected):
    assert pick(text, (2, 3), ("y", "x")).shape == expected


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "1.5",
        "0,,1",
        "0:1:2:3",
        "...,...",
        "z=1",
        "x=1,x=2",
        "x=1,2",
        "x=",
        "=1",
        "1 2",
        "::0",
        "0,0,0",
        "--1",
        "٣",
    ],
)
def test_what_is_no_selection(text):
    with pytest.raises(SelectionError):
        pick(text, (4, 4), ("y", "x"))


def test_selections_by_name_need_names():
    with pytest.raises(SelectionError, match="no dimension"):
        pick("x=1", (4,))
    with pytest.raises(SelectionError, match="twice"):
        pick("x=1", (4, 4), ("x", "x"))


ARRAYS = {
    "floats": np.array([[0.1, -np.inf], [np.nan, 1e-300]]),
    "small floats": np.array([0.1, 1 / 3, np.nan], "f4"),
    "half": np.array([0.1, 65504], "f2"),
    "integers": np.array([[-(2**63), 2**63 - 1]]),
    "unsigned": np.array([2**64 - 1, 0], "u8"),
    "booleans": np.array([True, False]),
    "complex": np.array([1 + 2j, complex(np.nan, -0.0)], "c8"),
    "times": np.array(["2000-01-01T12:00", "NaT"], "M8[s]"),
    "durations": np.array([5, "NaT"], "m8[ms]"),
    "text": np.array(["", 'a,"b"', "é\n"]),
    "bytes": np.array([b"ab", b"\xff"], "S2"),
    "fields": np.array([(1, (0.5, "x"))], dtype=[("a", "i4"), ("b", [("c", "f4"), ("d", "U2")])]),
    "number": np.array(5.5),
    "nothing": np.empty((0, 3)),
    "cube": np.arange(24).reshape(2, 3, 4),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_files_of_numpy_hold_the_same(name):
    array = oz.create_array({}, data=ARRAYS[name], chunks=1 if ARRAYS[name].ndim else "auto")
    file = io.BytesIO()
    write_npy(array, pick("", array.shape), file)
    file.seek(0)
    found = np.load(file)
    assert found.dtype == array.dtype
    assert found.tobytes() == array[...].tobytes()
    assert found.shape == array.shape


@pytest.mark.parametrize("dtype", [str, bytes, ml_dtypes.bfloat16])
def test_files_of_numpy_refuse_what_they_cannot_hold(dtype):
    array = oz.create_array({}, shape=(3,), dtype=dtype)
    file = io.BytesIO()
    with pytest.raises(UnsupportedError, match="no type"):
        write_npy(array, pick("", array.shape), file)
    assert not file.getvalue()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("floats", "0.1,-inf\nnan,1e-300\n"),
        ("small floats", "0.1\n0.33333334\nnan\n"),
        ("half", "0.1\n6.55e+04\n"),
        ("integers", "-9223372036854775808,9223372036854775807\n"),
        ("unsigned", "18446744073709551615\n0\n"),
        ("booleans", "True\nFalse\n"),
        ("complex", "1+2j\nnan-0j\n"),
        ("times", "2000-01-01T12:00:00\nNaT\n"),
        ("durations", "5 milliseconds\nNaT\n"),
        ("text", '""\n"a,""b"""\n"é\n"\n'),
        ("bytes", "ab\n\\xff\n"),
        ("fields", "a,b.c,b.d\n1,0.5,x\n"),
        ("number", "5.5\n"),
        ("nothing", ""),
    ],
)
def test_tables(name, expected):
    array = oz.create_array({}, data=ARRAYS[name])
    file = io.StringIO()
    write_csv(array, pick("", array.shape), file)
    assert file.getvalue() == expected


def test_tables_of_more_dimensions_have_indices_in_front():
    array = oz.create_array({}, data=ARRAYS["cube"], dims=("t", None, "x"), chunks=(1, 2, 3))
    file = io.StringIO()
    write_csv(array, pick("1:, ::2, ::-1", array.shape), file)
    rows = list(csv.reader(io.StringIO(file.getvalue())))
    assert rows[0] == ["t", "dim_1", "x", "value"]
    expected = [(1, y, x, 12 + 4 * y + x) for y in (0, 2) for x in (3, 2, 1, 0)]
    assert [tuple(map(int, row)) for row in rows[1:]] == expected


def test_rows_longer_than_a_block_are_whole(monkeypatch):
    monkeypatch.setattr("omnizarr.tools.values.writing.MOST_BYTES", 16 * 8 * 3)
    values = np.arange(40).reshape(4, 10)
    file = io.StringIO()
    write_csv(oz.create_array({}, data=values), pick("", (4, 10)), file)
    assert np.array_equal(np.loadtxt(io.StringIO(file.getvalue()), delimiter=",", dtype=int), values)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("floats", [[0.1, "-Infinity"], ["NaN", 1e-300]]),
        ("small floats", [0.1, 0.33333334, "NaN"]),
        ("integers", [[-(2**63), 2**63 - 1]]),
        ("booleans", [True, False]),
        ("complex", [[1.0, 2.0], ["NaN", -0.0]]),
        ("times", ["2000-01-01T12:00:00", "NaT"]),
        ("text", ["", 'a,"b"', "é\n"]),
        ("bytes", ["ab", "\\xff"]),
        ("fields", [{"a": 1, "b": {"c": 0.5, "d": "x"}}]),
        ("number", 5.5),
        ("nothing", []),
        ("cube", np.arange(24).reshape(2, 3, 4).tolist()),
    ],
)
def test_json(name, expected):
    array = oz.create_array({}, data=ARRAYS[name])
    file = io.StringIO()
    write_json(array, pick("", array.shape), file)
    told = json.loads(file.getvalue())
    assert told["values"] == expected
    assert tuple(told["shape"]) == array.shape
    assert told["dtype"] == array.metadata.dtype.label


@pytest.mark.parametrize(
    "shape", [(3,), (1000,), (1001,), (7, 200), (30, 40, 50), (2, 2, 2, 400), (1001, 1), (6, 7, 8, 9)]
)
def test_text_is_what_numpy_prints(shape):
    values = np.random.default_rng(1).normal(size=shape) * 100
    array = oz.create_array({}, data=values)
    file = io.StringIO()
    write_text(array, pick("", shape), file, width=80)
    assert file.getvalue() == np.array2string(values, max_line_width=80) + "\n"
    file = io.StringIO()
    write_text(array, pick("", shape), file, width=80, full=True)
    assert file.getvalue() == np.array2string(values, max_line_width=80, threshold=sys.maxsize) + "\n"


def test_edges_of_a_huge_array_are_read_alone():
    array = oz.create_array({}, shape=(10**9, 10**9), dtype="f8", chunks=(100, 100))
    array[:2, -2:] = 7
    assert edges(array, pick("", array.shape), 3).shape == (7, 7)
    file = io.StringIO()
    write_text(array, pick("", array.shape), file)
    assert file.getvalue().splitlines()[0] == "[[0. 0. 0. ... 0. 7. 7.]"


@pytest.mark.parametrize("shape", [(300, 700), (3, 70_001), (5, 7, 6000), (210_000,)])
def test_long_output_in_blocks_has_every_element(shape, monkeypatch):
    values = np.arange(np.prod(shape)).reshape(shape)
    array = oz.create_array({}, data=values)
    monkeypatch.setattr("omnizarr.tools.values.writing._AT_ONCE", 20_000)
    text, told = io.StringIO(), io.StringIO()
    write_text(array, pick("", shape), text, full=True)
    found = text.getvalue()
    assert [int(word) for word in found.replace("[", " ").replace("]", " ").split()] == values.reshape(-1).tolist()
    for depth in range(1, len(shape)):  # as many lists as there are
        assert found.count("[" * depth) >= np.prod(shape[: len(shape) - depth])
    assert (found.count("["), found.count("]")) == (sum(map(int, np.cumprod((1, *shape[:-1])))),) * 2
    write_json(array, pick("", shape), told)
    assert json.loads(told.getvalue())["values"] == values.tolist()


def test_memory_is_bounded():
    array = oz.create_array({}, shape=(4000, 4000), dtype="f8", chunks=(100, 4000))

    class Counter(io.RawIOBase):
        size = 0

        def write(self, data: bytes) -> int:
            self.size += len(data)
            return len(data)

    file = Counter()
    tracemalloc.start()
    write_npy(array, pick("", array.shape), file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert file.size == 128_000_128
    assert peak < 100_000_000
