"""Automatic chunks and shards, and what users may say of them."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnizarr.array import defaults
from omnizarr.array.defaults import default_chunks, default_shards, layout
from omnizarr.errors import ShapeError

EXAMPLES = settings(max_examples=max(500, settings().max_examples))
SHAPES = st.lists(st.integers(0, 2**40) | st.integers(0, 300), max_size=6).map(tuple)
ITEMSIZES = st.sampled_from([0, 1, 2, 4, 8, 16, 100, 1 << 21])


@EXAMPLES
@given(SHAPES, ITEMSIZES)
def test_a_chunk_is_never_empty_and_close_to_the_target(shape, itemsize):
    chunks = default_chunks(shape, itemsize)
    assert len(chunks) == len(shape)
    assert all(1 <= chunk <= (size or defaults.GROWING) for chunk, size in zip(chunks, shape, strict=True))
    nominal = [size or defaults.GROWING for size in shape]
    if prod(nominal) * max(1, itemsize) <= defaults.CHUNK_BYTES:
        assert chunks == tuple(nominal)
    else:
        assert prod(chunks) * itemsize <= defaults.CHUNK_BYTES or prod(chunks) == 1
        # Halving stops in time: one more doubling of some side would have been too much.
        assert not shape or any(
            prod(chunks) // chunk * min(2 * chunk, size) * max(1, itemsize) > defaults.CHUNK_BYTES
            for chunk, size in zip(chunks, nominal, strict=True)
        )


@EXAMPLES
@given(SHAPES, ITEMSIZES, st.data())
def test_a_shard_is_whole_chunks_and_bounded(shape, itemsize, data):
    automatic = default_chunks(shape, itemsize)
    chunks = tuple(data.draw(st.integers(1, chunk)) for chunk in automatic)
    shards = default_shards(shape, chunks, itemsize)
    number = prod(-(-size // chunk) for size, chunk in zip(shape, chunks, strict=True))
    if number <= defaults.SHARD_FROM_CHUNKS:
        assert shards is None
    elif shards is not None:
        assert all(shard % chunk == 0 for shard, chunk in zip(shards, chunks, strict=True))
        assert all(shard - chunk < size for shard, chunk, size in zip(shards, chunks, shape, strict=True))
        assert prod(shards) * itemsize <= defaults.SHARD_BYTES
        assert 1 < prod(shards) // prod(chunks) <= defaults.SHARD_CHUNKS


@pytest.mark.parametrize(
    ("shape", "itemsize", "expected"),
    [
        ((), 8, ()),
        ((10,), 8, (10,)),
        ((131072,), 8, (131072,)),
        ((131073,), 8, (65537,)),
        ((1000, 1000), 8, (250, 500)),
        ((0, 10), 4, (16384, 10)),
        ((0, 0), 8, (256, 512)),
        ((5, 5), 1 << 21, (1, 1)),
        ((7,), 0, (7,)),
    ],
)
def test_chunks_of_well_known_shapes(shape, itemsize, expected):
    assert default_chunks(shape, itemsize) == expected


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ("auto", (40, 0)),
        (None, (40, 0)),
        (True, (40, 0)),
        (False, (40, 0)),
        (7, (7, 7)),
        (np.int16(7), (7, 7)),
        ((7, 500), (7, 500)),
        ([7, -1], (7, 1)),
        ([None, 3], (40, 3)),
        (np.array([4, 5]).tolist(), (4, 5)),
    ],
)
def test_what_users_say_of_chunks(chunks, expected):
    shape = (40, 0)
    found, shards = layout(shape, 8, chunks)
    assert shards is None
    if chunks in ("auto", None, True):
        assert found == default_chunks(shape, 8)
    elif chunks is False:
        assert found == (40, 1)
    else:
        assert found == expected
    assert all(type(length) is int for length in found)


@pytest.mark.parametrize(
    "chunks", [0, -2, 1.5, "x", "AUTO", (1,), (1, 2, 3), (1, 0), (1, -3), (1, True), (1, "2"), b"ab", {}]
)
def test_what_is_not_a_chunk_shape_is_refused(chunks):
    with pytest.raises(ShapeError):
        layout((40, 50), 8, chunks)
    with pytest.raises(ShapeError):
        layout((40, 50), 8, "auto", chunks)


def test_shards():
    assert layout((100, 100), 8, (10, 10), (50, -1)) == ((10, 10), (50, 100))
    assert layout((95, 100), 8, (10, 10), (None, 20)) == ((10, 10), (100, 20))
    assert layout((95, 100), 8, (10, 10), 50) == ((10, 10), (50, 50))
    assert layout((95, 100), 8, (10, 10), "auto") == ((10, 10), None)
    assert layout((95, 100), 8, (10, 10), False) == ((10, 10), None)
    chunks, shards = layout((10**5, 10**5), 8, "auto", True)
    assert chunks == default_chunks((10**5, 10**5), 8)
    assert shards == default_shards((10**5, 10**5), chunks, 8)
    assert shards is not None
    with pytest.raises(ShapeError, match="do not divide"):
        layout((100, 100), 8, (10, 10), (55, 10))


def test_chunks_too_large_for_two_in_a_shard_get_none():
    assert default_shards((20_000 << 26,), (1 << 26,), 1) is None
    assert default_shards((20_000 << 25,), (1 << 25,), 1) == (1 << 26,)


def test_automatic_chunks_divide_given_shards():
    assert layout((4096, 4096), 4, "auto", (2048, 2048)) == ((512, 512), (2048, 2048))
    chunks, shards = layout((10**6,), 8, None, (999_983,))  # a prime: it has no divisors
    assert (chunks, shards) == ((999_983,), (999_983,))
    chunks, shards = layout((1000, 1000), 8, "auto", -1)
    assert shards == (1000, 1000)
    assert all(shard % chunk == 0 for shard, chunk in zip(shards, chunks, strict=True))


@pytest.mark.parametrize(("number", "factor"), [(2, 2), (9, 3), (35, 5), (49, 7), (13, 13), (1, 1)])
def test_the_smallest_factor_of_a_number(number, factor):
    assert defaults._smallest_factor(number) == factor
