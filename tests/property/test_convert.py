"""Arrays of v2, to v3 and back: values, attributes and what the documents mean stay as they were."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.tools.convert.verify import are_equal

TYPES = st.sampled_from(
    ["?", "i1", "<i4", ">i4", ">u2", "<f2", "<f4", ">f8", "<c8", "S3", "<U2", ">U2", "<M8[s]", "V5"]
)
COMPRESSORS: list[Any] = [
    None,
    {"id": "zlib", "level": 2},
    {"id": "gzip", "level": -1},
    {"id": "bz2", "level": 9},
    {"id": "lz4", "acceleration": 3},
    {"id": "zstd", "level": -3},
    {"id": "lzma", "preset": 1},
    {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
    {"id": "blosc", "cname": "zstd", "clevel": 1, "shuffle": 2, "blocksize": 256},
    {"id": "blosc", "cname": "blosclz", "clevel": 9, "shuffle": 0, "blocksize": 0},
]
TEXT = st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def arrays(draw) -> dict[str, bytes]:
    dtype = np.dtype(draw(TYPES))
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
    store: dict[str, bytes] = {}
    names = draw(st.sampled_from([None, tuple("abc"[: len(shape)])]))
    codec = draw(st.sampled_from(COMPRESSORS))
    array = oz.create_array(
        store,
        format="zarr2",
        shape=shape,
        dtype=dtype,
        chunks=tuple(draw(st.integers(1, 4)) for _ in shape),
        codecs=None if codec is None else [codec],
        order=draw(st.sampled_from("CF")),
        separator=draw(st.sampled_from("./")),
        dims=names,
        attrs=draw(st.dictionaries(TEXT.filter(lambda name: name != "_ARRAY_DIMENSIONS"), JSON, max_size=3)),
    )
    size = int(np.prod(shape))
    raw = draw(st.binary(min_size=size * dtype.itemsize, max_size=size * dtype.itemsize))
    values = np.frombuffer(raw, "u1").reshape(-1)
    if dtype.kind == "U":
        made = np.array([chr(97 + int(one) % 26) for one in values[:size]], dtype).reshape(shape)
    elif dtype.kind == "b":
        made = (values[:size] % 2).astype("?").reshape(shape)
    else:
        made = np.frombuffer(raw, dtype).reshape(shape)
    if size and draw(st.booleans()):
        array[...] = made
    return store


# Each example writes and opens many arrays, so that 2,000 of them would take minutes.
@settings(max_examples=200)
@given(arrays())
def test_there_and_back(store):
    before = dict(store)
    source = oz.open_array(before)
    oz.convert(store, format="v3")
    chunks = {key: data for key, data in before.items() if not key.startswith(".z")}
    assert {key: data for key, data in store.items() if key != "zarr.json"} == chunks
    between = oz.open_array(dict(store))
    assert are_equal(np.asarray(between[...]), np.asarray(source[...]))
    assert (between.dims, between.shape, between.order) == (source.dims, source.shape, source.order)
    oz.convert(store, format="v2")
    if not source.shape:
        # The names of no dimensions are said in v2, as xarray does not open such an array without them.
        before[".zattrs"] = json.dumps({**json.loads(before.get(".zattrs", "{}")), "_ARRAY_DIMENSIONS": []}).encode()
    assert set(store) == set(before)
    for key, data in before.items():
        if key == ".zarray":
            now, then = meaning(store[key]), meaning(data)
            if source.dims is not None and source.dtype.kind in "SU" and not source.fill_value:
                then["fill_value"] = None  # v3 has no mask of text, so that v2 has none again; it reads as the same
            assert now == then
        elif key == ".zattrs":
            now, then = json.loads(store[key]), json.loads(data)
            if "_FillValue" not in then:
                now.pop("_FillValue", None)  # the mask, which the fill value alone was before
            assert now == then
        else:
            assert store[key] == data


def meaning(document: bytes) -> dict[str, Any]:
    """A `.zarray` without what only writers need, or what zlib takes for a level that is not said."""
    found = json.loads(document)
    codec = found["compressor"]
    if codec is not None:
        codec.pop("checksum", None)
        if codec["id"] == "gzip" and codec["level"] == -1:
            codec["level"] = 6
    return found
