"""What an array says of itself."""

from __future__ import annotations

import pickle

import pytest

from omnizarr.model.array import ArrayMeta, with_order
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.grid import RegularGrid
from omnizarr.model.group import GroupMeta
from omnizarr.model.keys import default_keys


def meta(*codecs: Codec, chunks: tuple[int, ...] = (4, 6, 8)) -> ArrayMeta:
    dtype = DType.of("<i4")
    return ArrayMeta(chunks, dtype, RegularGrid(chunks), default_keys(), Fill.zero(dtype), codecs)


def sharding(*shape: int) -> Codec:
    return Codec("sharding_indexed", {"chunk_shape": list(shape), "codecs": [], "index_codecs": []})


def test_plain():
    plain = meta(Codec("bytes", {"endian": "little"}))
    assert (plain.ndim, plain.chunks, plain.shards, plain.order) == (3, (4, 6, 8), None, "C")


def test_order():
    assert meta(Codec("transpose", {"order": [2, 1, 0]})).order == "F"
    assert meta(Codec("transpose", {"order": [1, 2, 0]})).order == "C"
    assert meta(Codec("transpose", {"order": [0]}), chunks=(4,)).order == "C"
    assert meta().order == "C"


def test_chunks_of_shards():
    sharded = meta(sharding(2, 3, 4))
    assert (sharded.chunks, sharded.shards) == ((2, 3, 4), (4, 6, 8))
    assert meta(sharding(2, 3, 4), Codec("gzip", {"level": 1})).shards is None


def test_chunks_of_shards_are_given_in_the_axes_of_the_array():
    # Encoded axis i is axis order[i] of the array: (4, 6, 8) becomes (6, 8, 4).
    one = meta(Codec("transpose", {"order": [1, 2, 0]}), sharding(6, 4, 2))
    assert one.chunks == (2, 6, 4)
    two = meta(Codec("transpose", {"order": [1, 2, 0]}), Codec("transpose", {"order": [2, 1, 0]}), sharding(2, 4, 6))
    assert two.chunks == (2, 6, 4)


def test_metadata_are_frozen_values():
    array = meta(Codec("bytes"))
    with pytest.raises(AttributeError):
        array.shape = (1,)  # type: ignore[misc]
    assert array._replace(shape=(1, 1, 1)).shape == (1, 1, 1)
    assert pickle.loads(pickle.dumps(array)) == array
    assert GroupMeta({"a": 1}) == GroupMeta({"a": 1}, "zarr3", {})


def test_another_order_is_one_more_transpose_or_one_less():
    plain = meta(Codec("bytes"))
    turned = with_order(plain, "F")
    assert turned.codecs == (Codec("transpose", {"order": [2, 1, 0]}), Codec("bytes"))
    assert with_order(turned, "C") == plain
    assert with_order(turned, "F") is turned
    assert with_order(plain, "C") is plain
    assert with_order(plain, None) is plain
    line = meta(Codec("bytes"), chunks=(4,))
    assert with_order(line, "F") is line
