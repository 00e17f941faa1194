"""Random bits of every type: an array is the same as itself, and with `bits` differs where its bits do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.model.dtype import DType
from omnizarr.model.small import PAIRS, SMALL
from omnizarr.model.structs import fields_of

pytest.importorskip("ml_dtypes")

PLAIN = [
    "?", "i1", "u1", "i2", ">u2", "i4", ">i8", "u8", "f2", ">f4", "f8", "c8", ">c16", "S3", "U2", ">U1", "V3", "M8[ns]",
    ">M8[D]", "m8[10us]", "M8", "g", "G", *SMALL, *PAIRS,
]  # fmt: skip
LONG = (np.longdouble, np.clongdouble)
IN_STRUCTS = [name for name in PLAIN if name not in ("g", "G", *PAIRS)]


@st.composite
def types(draw):
    """A type, and a format that has it."""
    if draw(st.booleans()):
        dtype = DType.of(draw(st.sampled_from(PLAIN)))
        return dtype, "zarr3" if dtype.family in ("small", "pair") else "zarr2"
    # Only v2 has fields that are arrays, and only v3 the types of ml_dtypes.
    shapes = draw(st.sampled_from((((),), ((), (2,), (1, 2)))))
    names = IN_STRUCTS if len(shapes) == 1 else [name for name in IN_STRUCTS if name not in SMALL]
    leaf = st.sampled_from(names).map(lambda name: DType.of(name).numpy)
    inner = st.lists(leaf, min_size=1, max_size=2).map(
        lambda many: np.dtype([(f"i{n}", t) for n, t in enumerate(many)])
    )
    fields = draw(st.lists(st.tuples(leaf | inner, st.sampled_from(shapes)), min_size=1, max_size=3))
    made = [(f"f{n}", kind, shape) for n, (kind, shape) in enumerate(fields)]
    return DType.of(np.dtype(made, align=draw(st.booleans()))), "zarr3" if len(shapes) == 1 else "zarr2"


def legal(values):
    """Change the bits that are not free: of booleans, letters, small numbers, and those that nobody looks at."""
    dtype = values.dtype
    if dtype.names is not None:
        for name in dtype.names:
            legal(values[name])
    elif dtype.kind == "b" or SMALL.get(dtype.name, 8) < 8:
        values.view("u1")[...] &= (1 << (1 if dtype.kind == "b" else SMALL[dtype.name])) - 1
    elif dtype.kind == "U":
        values[...] = np.resize(np.array(["a", "é", "", "b"], dtype), values.shape)
    elif dtype.type in LONG:
        values[...] = np.nan_to_num(values.astype("c16" if dtype.kind == "c" else "f8"))


def bits_of(element, dtype):
    """The bytes of an element, without padding."""
    if dtype.names is None:
        raw = element.tobytes()
        if dtype.type in LONG and np.finfo(np.longdouble).nmant == 63:
            return b"".join(raw[at : at + 10] for at in range(0, len(raw), 16))
        return raw
    return b"".join(
        bits_of(part, field.numpy) for field in fields_of(dtype) for part in np.asarray(element[field.name]).reshape(-1)
    )


@settings(max_examples=150, deadline=None)
@given(st.data(), types(), st.integers(1, 5))
def test_random_bits(data, kind, count):
    dtype, form = kind

    def draw(many):
        size = many * dtype.itemsize
        values = np.frombuffer(data.draw(st.binary(min_size=size, max_size=size)), dtype.numpy).copy()
        with np.errstate(all="ignore"):
            legal(values)
        return values

    one, other = draw(count), draw(1)
    at = data.draw(st.integers(0, count - 1))
    arrays = []
    for changed in (False, True):
        array = oz.create_array({}, shape=(count,), dtype=dtype, chunks=(2,), format=form)
        values = one.copy()
        if changed:
            values[at] = other[0]
        array[...] = values
        arrays.append(array)
    assert oz.diff(arrays[0], arrays[0], bits=True).same
    assert oz.diff(arrays[0], arrays[0]).same
    differs = bits_of(arrays[0][...][at], dtype.numpy) != bits_of(arrays[1][...][at], dtype.numpy)
    found = oz.diff(*arrays, bits=True)
    assert found.same is not differs
    if differs:
        assert [pair.at for pair in found.nodes[0].values.first] == [(at,)]
    else:
        assert oz.diff(*arrays).same


def test_differences_beyond_what_a_double_holds():
    huge = np.array([2], "G") ** 16000 * (1 + 1j)
    one, other = (oz.create_array({}, data=values, format="zarr2") for values in (huge, huge * 2))
    assert not oz.diff(one, other).same
