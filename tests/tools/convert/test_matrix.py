"""Each format to each: what comes out is equal, or nothing is written and the reason is given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import zarr

import omnizarr as oz
from omnizarr.errors import UnsupportedError
from omnizarr.tools.convert.verify import are_equal
from tests.tools.convert.conftest import TARGETS, n5_store, same_array

VALUES: dict[str, dict[str, Any]] = {
    "plain": {"data": np.arange(35, dtype="<i4").reshape(5, 7), "chunks": (2, 3), "attrs": {"a": [1, None], "ü": "ö"}},
    "big": {"data": np.linspace(-1, 1, 30).astype(">f8").reshape(5, 6), "chunks": (2, 4)},
    "fortran": {"data": np.arange(60, dtype="u2").reshape(3, 4, 5), "chunks": (2, 2, 2), "order": "F"},
    "nan": {"data": np.array([1.5, np.nan, -0.0, np.inf]), "chunks": (3,), "fill_value": np.nan},
    "missing": {"shape": (10, 10), "dtype": "i2", "chunks": (3, 3), "fill_value": -7, "dims": ("y", "x")},
    "empty": {"shape": (0, 4), "dtype": "f4", "chunks": (2, 2)},
    "zerod": {"data": np.array(42, "i8")},
    "bool": {"data": np.array([True, False, True]), "chunks": (2,), "fill_value": True},
    "time": {"data": np.array(["2001-01-01", "NaT"], "M8[s]"), "chunks": (1,)},
    "text": {"data": np.array([["ab", "ç"], ["", "xyz"]], "U3"), "chunks": (1, 2)},
    "fixed": {"data": np.array([b"ab", b"xyz"], "S3"), "chunks": (1,), "fill_value": b"no"},
    "complex": {"data": np.array([1 + 2j, 3 - 4j], "c8"), "chunks": (1,)},
    "struct": {"data": np.array([(1, 2.5), (3, -1.0)], [("a", "<i4"), ("b", "<f8")]), "chunks": (1,)},
    "string": {"data": ["a", "", "longer text", "ß"], "chunks": (3,)},
    "bytes": {"data": np.array([b"a", b"", b"123"], object), "dtype": "bytes", "chunks": (2,)},
    "zlib": {"data": np.arange(20, dtype="f4"), "chunks": (6,), "codecs": [{"id": "zlib", "level": 3}]},
    "filters": {
        "data": np.arange(24, dtype="<i4").reshape(4, 6),
        "chunks": (2, 6),
        "codecs": [{"id": "delta", "dtype": "<i4"}, {"id": "shuffle", "elementsize": 4}, {"id": "zstd", "level": 2}],
    },
    "lzma": {"data": np.arange(24, dtype="u1"), "chunks": (7,), "codecs": [{"id": "lzma", "preset": 1}]},
    "blocks": {
        "data": np.arange(4000, dtype="<i4"),
        "chunks": (1000,),
        "codecs": [{"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 1024}],
    },
    "sharded": {"data": np.arange(48, dtype="i4").reshape(6, 8), "chunks": (2, 2), "shards": (4, 4)},
    "odd-turn": {
        "data": np.arange(24, dtype="i4").reshape(2, 3, 4),
        "chunks": (2, 2, 2),
        "codecs": [{"name": "transpose", "configuration": {"order": [1, 2, 0]}}, "zstd"],
    },
}
ONLY_V3 = ("sharded", "odd-turn")
# What each of the older formats has no place for, with a word of the reason.
REFUSED: dict[tuple[str, str], str] = {
    **{(name, form): "length" for name in ("string", "bytes") for form in ("zarr1", "zarr0")},
    **{("zerod", form): "without dimensions" for form in ("zarr1", "zarr0")},
}


def made(name: str, form: str) -> dict[str, bytes] | None:
    """A source in a format, if that can hold it."""
    store: dict[str, bytes] = {}
    try:
        array = oz.create_array(store, format=form, **VALUES[name])
    except oz.OmnizarrError:
        return None
    if name == "missing":
        array[4:6, 1:8] = np.arange(14).reshape(2, 7)
    return store


SOURCES = [
    (name, form)
    for name in VALUES
    for form in TARGETS
    if not (name in ONLY_V3 and form != "zarr3") and made(name, form)
]


def test_there_are_sources_of_each_format():
    counts = {form: sum(one == form for _, one in SOURCES) for form in TARGETS}
    assert counts["zarr3"] == len(VALUES)
    assert counts["zarr2"] == len(VALUES) - len(ONLY_V3)
    assert counts["zarr1"] >= 10
    assert counts["zarr0"] >= 7


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "form"), SOURCES, ids=[f"{name}-{form}" for name, form in SOURCES])
def test_each_format_to_each(name, form, target):
    store = made(name, form)
    assert store is not None
    before = dict(store)
    elsewhere: dict[str, bytes] = {}
    reason = REFUSED.get((name, target))
    if reason is not None:
        for goal in (elsewhere, None):
            with pytest.raises(UnsupportedError, match=reason):
                oz.convert(store, goal, format=target)
        assert (elsewhere, store) == ({}, before)
        return
    oz.convert(store, elsewhere, format=target, verify=True)
    assert store == before
    source, found = oz.open_array(before), oz.open_array(elsewhere, format=target)
    same_array(source, found)
    assert are_equal(np.asarray(source.fill_value), np.asarray(found.fill_value)) or source.fill_value is None
    oz.convert(store, format=target, verify=True)
    assert not any("omnizarr" in key for key in store)
    in_place = oz.open_array(store)
    assert in_place.format == target
    same_array(source, in_place)
    if form != target:  # nothing of the old format is left
        assert not any(key.endswith((".zarray", ".zattrs")) for key in store) or target == "zarr2"
    if target in ("zarr3", "zarr2") and (name, form) != ("struct", "zarr3"):  # a name that few versions know
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for keys in (elsewhere, store):
                assert are_equal(np.asarray(peer(keys)[...]), np.asarray(source[...]))


def peer(keys: dict[str, bytes]) -> Any:
    """The array as zarr-python sees it."""
    buffers = {key: zarr.core.buffer.cpu.Buffer.from_bytes(data) for key, data in keys.items()}
    return zarr.open_array(zarr.storage.MemoryStore(buffers), mode="r")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["raw", "gzip", "bzip2"])
def test_n5_to_each(kind, target, rng):
    values = rng.integers(-5, 5, (7, 10)).astype("i4")
    values[:3, :4] = 0
    store = n5_store(values, (3, 4), {"type": kind})
    before = dict(store)
    goal: dict[str, bytes] = {}
    oz.convert(store, goal, format=target, verify=True)
    assert store == before
    oz.convert(store, format=target, verify=True)
    for found in (goal, store):
        array = oz.open_array(found)
        assert array.format == target
        assert np.array_equal(array[...], values)
        assert dict(array.attrs) == {"units": "m", "n": [1, None]}
        if target in ("zarr3", "zarr2"):
            assert np.array_equal(peer(found)[...], values)
    assert "attributes.json" not in store
