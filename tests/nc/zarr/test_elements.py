"""Stored elements and values of netCDF, both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnizarr.errors import CorruptError, OmnizarrWarning
from omnizarr.nc.tree import same_values
from omnizarr.nc.types import CHAR, DOUBLE, INT, NUMERIC, SHORT, STRING, UBYTE, Compound, Enum, Field, Opaque, Vlen
from omnizarr.nc.zarr.elements import cut, longest, to_stored, to_values
from omnizarr.nc.zarr.packed import little_endian, pack, unpack
from tests.nc.zarr.datasets import some_values

TRACK = Vlen("track", SHORT)
POINT = Compound("point", (Field("x", DOUBLE), Field("c", CHAR, (3,)), Field("k", Opaque("k", 3))))
PERSON = Compound("person", (Field("name", STRING), Field("t", TRACK, (2,)), Field("p", POINT)))
KINDS: list[Any] = [
    *NUMERIC,
    CHAR,
    Enum("e", UBYTE, (("a", 0), ("b", 1))),
    Opaque("o", 4),
    POINT,
    PERSON,
    TRACK,
    Vlen("v", STRING),
    Vlen("v", PERSON),
    Vlen("v", Vlen("w", TRACK)),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_there_and_back(kind, shape, rng):
    values = some_values(kind, shape, rng)
    packed = isinstance(kind, Vlen) or kind is PERSON
    dtype = np.dtype(object) if packed else little_endian(kind)
    stored = to_stored(values, kind, dtype)
    assert stored.dtype == dtype
    assert same_values(to_values(stored, kind), values)


def test_big_endian_numbers_come_in_native_order():
    values = to_values(np.array([1, 2], ">i4"), INT)
    assert values.dtype == np.dtype("i4")
    assert values.tolist() == [1, 2]


def test_a_compound_may_lie_in_plain_bytes(rng):
    values = some_values(POINT, (3,), rng)
    stored = to_stored(values, POINT, np.dtype("V14"))
    assert same_values(to_values(stored, POINT), values)


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))), max_size=6))
def test_text_of_fixed_length(texts):
    values = np.array([*texts, None], object)[:-1]
    size = max(1, longest(values))
    assert to_values(to_stored(values, STRING, np.dtype(f"S{size}")), STRING).tolist() == texts


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=10), st.integers(0, 30))
def test_text_is_cut_between_characters(text, size):
    data = text.encode()
    made = cut(data, size)
    assert len(made) <= size
    assert text.startswith(made.decode())
    assert size - len(made) < 4 or made == data


def test_bytes_that_are_no_text_survive_where_they_can():
    values = np.array([b"a\xff".decode("utf-8", "surrogateescape"), None], object)
    assert to_values(to_stored(values, STRING, np.dtype("S4")), STRING).tolist() == [values[0], None]
    with pytest.warns(OmnizarrWarning, match="no UTF-8"):
        assert to_stored(values, STRING, np.dtype(object)).tolist() == ["a\ufffd", "\0\1"]


@given(st.binary(max_size=40))
def test_bytes_that_are_no_element_raise(data):
    for kind in (PERSON, Vlen("v", STRING), Vlen("v", TRACK), TRACK):
        try:
            value = unpack(data, kind)
        except (CorruptError, UnicodeDecodeError):
            continue
        assert pack(value, kind) == data


def test_missing_strings_in_packed_elements_are_not_empty_ones():
    kind = Vlen("v", STRING)
    value = unpack(pack(np.array(["", None], object), kind), kind)
    assert value.tolist() == ["", None]
