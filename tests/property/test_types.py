"""Every type of fixed size: random bits go in and come out, in both formats, and so does any fill value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import omnizarr as oz
from omnizarr.errors import UnsupportedError
from omnizarr.model.dtype import DType
from omnizarr.model.small import PAIRS, SMALL

pytest.importorskip("ml_dtypes")

PLAIN = [
    "bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "S1", "S5", "U1", "U3", "V3",
    "r24", "M8[ns]", "M8[D]", "m8[10us]", "M8", ">i2", ">u4", ">f8", ">c16", ">U2", ">m8[s]", "g", "G",
]  # fmt: skip
NAMED = [*SMALL, *PAIRS]


@st.composite
def structures(draw: st.DrawFn) -> np.dtype[Any]:
    """Structures of every kind of field, nested, with and without padding, and arrays in them."""
    leaf = st.sampled_from([kind for kind in PLAIN if kind not in ("r24", "g", "G")]).map(np.dtype) | st.sampled_from(
        list(SMALL)
    ).map(lambda name: DType.of(name).numpy)
    names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4)

    def build(inner: st.SearchStrategy[np.dtype[Any]]) -> st.SearchStrategy[np.dtype[Any]]:
        field = st.tuples(names, inner, st.sampled_from([(), (), (), (2,), (1, 3)]))
        fields = st.lists(field, min_size=1, max_size=4, unique_by=lambda one: one[0])
        return st.tuples(fields, st.booleans()).map(lambda made: np.dtype(made[0], align=made[1]))

    return draw(build(st.recursive(leaf, build, max_leaves=4)).filter(lambda dtype: dtype.itemsize < 500))


def bits_of(values: Any) -> bytes:
    return np.ascontiguousarray(values).tobytes()


def random_bits(draw: st.DrawFn, dtype: DType, count: int) -> Any:
    raw = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    values = np.frombuffer(raw, dtype.numpy).copy()
    make_legal(values)
    return values


def make_legal(values: Any) -> None:
    """Change the few bits that are not free: those of booleans, of letters, and above those of small numbers."""
    bits = 1 if values.dtype.kind == "b" else SMALL.get(values.dtype.name, 8)
    if bits < 8:
        values.view("u1")[...] &= (1 << bits) - 1
    if values.dtype.kind == "U":
        values[...] = np.resize(np.array(["aé", "\U0001f600", "", "x\0y", "\ud800"], values.dtype), values.shape)
    for name in values.dtype.names or ():
        make_legal(values[name])


@st.composite
def arrays(draw: st.DrawFn) -> tuple[str, DType, Any, int]:
    what: Any = draw(st.sampled_from(PLAIN) | st.sampled_from(NAMED) | structures())
    dtype = DType.of(what)
    fmt = draw(st.sampled_from(["zarr3", "zarr2"]))
    return fmt, dtype, random_bits(draw, dtype, 5), draw(st.integers(1, 6))


def cleared(values: Any, dtype: np.dtype[Any]) -> Any:
    """The same in a type without padding, and without what long doubles have behind them."""
    return values if values.dtype == dtype else values.astype(dtype)


@given(arrays())
def test_random_bits_survive(drawn):
    fmt, dtype, values, chunk = drawn
    store: dict[str, bytes] = {}
    try:
        a = oz.create_array(store, shape=5, chunks=chunk, dtype=dtype, format=fmt)
    except UnsupportedError:
        assume(False)
    a[...] = values
    expected = cleared(values, a.dtype)
    again = oz.open(store)
    assert again.dtype == a.dtype
    assert again.metadata.dtype.name == dtype.name or {fmt, dtype.name} == {"zarr2", "r24"}
    assert bits_of(again[...]) == bits_of(expected)
    assert bits_of(again[1:4:2]) == bits_of(expected[1:4:2])
    assert again[3].tobytes() == expected[3].tobytes()


@given(arrays())
def test_fill_values_survive_bit_by_bit(drawn):
    fmt, dtype, values, _ = drawn
    assume(dtype.name not in (np.dtype("g").name, np.dtype("G").name) or np.dtype("g").itemsize == 8)
    store: dict[str, bytes] = {}
    try:
        a = oz.create_array(store, shape=5, dtype=dtype, fill_value=values[0], format=fmt)
    except UnsupportedError:
        assume(False)
    expected = bits_of(cleared(values, a.dtype)[:1])
    again = oz.open(store)
    assert again.metadata.fill.bits == expected
    assert bits_of(again[...]) == expected * 5


@given(st.sampled_from([*SMALL]), hn.arrays("f8", 6, elements=st.floats(-8, 7)))
def test_numbers_are_cast_as_ml_dtypes_casts_them(name, values):
    numpy = DType.of(name).numpy
    if "int" in name:
        values = np.abs(np.round(values)) % 2 if name in ("int2", "uint2") else np.abs(np.round(values)) % 8
    a = oz.create_array({}, shape=6, dtype=name)
    with np.errstate(all="ignore"):
        a[...] = values
        assert bits_of(a[...]) == bits_of(values.astype(numpy))
