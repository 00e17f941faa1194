"""Filters of HDF5 and codecs of Zarr."""

from __future__ import annotations

import json

import pytest

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.nc.tree import Filter, Storage
from omnizarr.nc.zarr.filters import Filters, codecs_text, from_codecs, split, to_codecs

BLOSC = {"id": "blosc", "clevel": 7, "blocksize": 0, "cname": "zstd", "shuffle": 2}
PAIRS = [
    (Storage(), []),
    (Storage(deflate=4), [{"id": "zlib", "level": 4}]),
    (Storage(shuffle=True, deflate=1), [{"id": "shuffle", "elementsize": 4}, {"id": "zlib", "level": 1}]),
    (Storage(fletcher32=True), [{"id": "fletcher32"}]),
    (Storage(filters=(Filter(307, (9,)),)), [{"id": "bz2", "level": 9}]),
    (Storage(filters=(Filter(32015, (5,)),)), [{"id": "zstd", "level": 5}]),
    (Storage(filters=(Filter(4, (32, 8)),)), [{"id": "szip", "mask": 32, "pixels-per-block": 8}]),
    (Storage(filters=(Filter(32001, (0, 0, 4, 0, 7, 2, 5)),)), [BLOSC]),
    (
        Storage(shuffle=True, deflate=2, filters=(Filter(32015, (1,)),), fletcher32=True),
        [
            {"id": "shuffle", "elementsize": 4},
            {"id": "zlib", "level": 2},
            {"id": "zstd", "level": 1},
            {"id": "fletcher32"},
        ],
    ),
]


@pytest.mark.parametrize(("storage", "codecs"), PAIRS, ids=[codecs_text(codecs) or "none" for _, codecs in PAIRS])
def test_there_and_back(storage, codecs):
    assert to_codecs(storage, 4) == codecs
    assert from_codecs(codecs, 4) == Filters(storage.shuffle, storage.deflate, storage.fletcher32, storage.filters)


def test_parameters_that_are_left_out_have_defaults():
    assert to_codecs(Storage(filters=(Filter(32001),)), 4) == [
        {"id": "blosc", "clevel": 5, "blocksize": 0, "cname": "blosclz", "shuffle": 1}
    ]
    assert to_codecs(Storage(filters=(Filter(32001, (2, 2, 4, 0, 9)),)), 4)[0]["clevel"] == 9
    assert to_codecs(Storage(filters=(Filter(2), Filter(3), Filter(1))), 8) == [
        {"id": "shuffle", "elementsize": 8},
        {"id": "fletcher32"},
        {"id": "zlib", "level": 1},
    ]


def test_text_is_never_shuffled():
    storage = Storage(shuffle=True, deflate=1)
    assert to_codecs(storage, 16, numbers=False) == [{"id": "zlib", "level": 1}]
    storage.codecs = json.dumps([{"id": "shuffle", "elementsize": 8}, {"id": "zlib", "level": 1}])
    assert to_codecs(storage, 16, numbers=False) == [{"id": "zlib", "level": 1}]


def test_codecs_that_hdf5_has_no_filter_for_are_kept_as_text():
    text = '[{"id": "lz4", "acceleration": 1}]'
    assert from_codecs(json.loads(text)) == Filters()
    assert to_codecs(Storage(codecs=text, deflate=3), 4) == json.loads(text)


@pytest.mark.parametrize("text", ["{", "5", '[{"name": "x"}]', '["zlib"]'])
def test_codecs_that_are_none(text):
    with pytest.raises(MetadataError, match="_Codecs"):
        to_codecs(Storage(codecs=text), 4)


def test_a_filter_without_a_codec():
    with pytest.raises(UnsupportedError, match="32008"):
        to_codecs(Storage(filters=(Filter(32008),)), 4)


def test_the_last_codec_is_the_compressor():
    assert split([]) == (None, None)
    assert split([{"id": "a"}]) == (None, {"id": "a"})
    assert split([{"id": "a"}, {"id": "b"}]) == ([{"id": "a"}], {"id": "b"})
