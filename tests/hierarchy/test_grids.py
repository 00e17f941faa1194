"""Arrays whose chunks differ in length, through every way of reading, writing and changing them."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.model.grid import RectilinearGrid
from omnizarr.model.keys import Keys, affix_keys

VALUES = np.arange(60 * 10).reshape(60, 10)


def made(store: Any = None, **options: Any) -> oz.Array:
    options = {"shape": (60, 10), "dtype": "i4", "chunks": [[10, 20, 30], [5, 5]], **options}
    return oz.create_array({} if store is None else store, **options)


def test_the_tour():
    store: dict[str, bytes] = {}
    a = made(store)
    a[...] = VALUES
    assert a.chunks == ((10, 20, 30), (5, 5))
    assert a.shards is None
    assert (a.nchunks, a.nshards, a.nchunks_stored) == (6, 6, 6)
    b = oz.open_array(store)
    assert b.metadata == a.metadata
    assert np.array_equal(b[...], VALUES)
    assert np.array_equal(b[55:3:-7, [4, 4, 0]], VALUES[55:3:-7, [4, 4, 0]])
    assert np.array_equal(b.blocks[1:, 1], VALUES[10:, 5:])
    assert np.array_equal(np.stack(list(b)), VALUES)
    assert "chunks=((10, 20, 30), (2×5,))" in repr(b)
    assert "<svg" in b._repr_html_()
    grid = json.loads(store["zarr.json"])["chunk_grid"]
    assert grid == {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[10, 20, 30], [[5, 2]]]},
    }


def test_long_grids_are_shown_in_short():
    a = oz.create_array({}, shape=(1000,), dtype="i1", chunks=[[1, 2] * 334])
    assert "chunks=((1, 2, 1, 2, 1, 2, …),)" in repr(a)
    assert len(a._repr_html_()) < 10_000


def test_chunks_are_stored_at_their_declared_lengths():
    store: dict[str, bytes] = {}
    a = oz.create_array(store, shape=(7,), dtype="i1", chunks=[[2, 4, 9]], codecs=None, fill_value=3)
    a[...] = 1
    # The last chunk is not cut off at the end of the array, unless the grid is bounded.
    assert {key: bytes(value) for key, value in store.items() if key != "zarr.json"} == {
        "c/0": b"\1" * 2,
        "c/1": b"\1" * 4,
        "c/2": b"\1" + b"\3" * 8,
    }
    bounded: dict[str, bytes] = {}
    a = oz.create_array(bounded, shape=(7,), dtype="i1", chunks=RectilinearGrid((4,), clipped=True), codecs=None)
    a[...] = 1
    assert (bytes(bounded["c/0"]), bytes(bounded["c/1"])) == (b"\1" * 4, b"\1" * 3)
    assert np.array_equal(oz.open_array(bounded)[...], np.ones(7))


def test_chunks_of_a_length_that_is_not_theirs_are_corrupt():
    store: dict[str, bytes] = {}
    a = oz.create_array(store, shape=(7,), dtype="i1", chunks=[[2, 5]], codecs=None)
    a[...] = 1
    store["c/0"], store["c/1"] = store["c/1"], store["c/0"]
    for selection in (0, 6, slice(None)):
        with pytest.raises(oz.errors.CorruptError):
            oz.open_array(store)[selection]


def test_empty_chunks_are_not_stored():
    store: dict[str, bytes] = {}
    a = made(store)
    a[...] = VALUES
    a[5:35] = 0
    assert sorted(store) == ["c/0/0", "c/0/1", "c/2/0", "c/2/1", "zarr.json"]
    assert np.array_equal(oz.open_array(store)[0:40], np.concatenate([VALUES[:5], np.zeros((30, 10)), VALUES[35:40]]))
    a = made(store, overwrite=True, write_empty=True)
    a[0:11] = 0
    assert sorted(store) == ["c/0/0", "c/0/1", "c/1/0", "c/1/1", "zarr.json"]


@pytest.mark.parametrize("sharded", [False, True])
def test_resizing(sharded):
    store: dict[str, bytes] = {}
    layout: dict[str, Any] = {"shards": [[10, 20, 30], 10], "chunks": (5, 10)} if sharded else {}
    a = made(store, fill_value=-1, **layout)
    a[...] = VALUES
    a.resize((25, 10))
    assert (a.shards or a.chunks)[0] == (10, 20)
    assert not [key for key in store if key.startswith("c/2")]
    a.resize((60, 10))
    # What was cut off does not come back, and the declared chunks do.
    assert (a.shards or a.chunks)[0] == (10, 20, 30)
    assert np.array_equal(a[...], np.concatenate([VALUES[:25], np.full((35, 10), -1)]))
    a.resize((63, 10))
    assert (a.shards or a.chunks)[0] == (10, 20, 30, 5 if sharded else 3)
    a[60:] = 7
    assert np.array_equal(oz.open_array(store)[58:], np.concatenate([np.full((2, 10), -1), np.full((3, 10), 7)]))


def test_appending_makes_one_chunk_of_what_is_new():
    store: dict[str, bytes] = {}
    a = oz.create_array(store, shape=(31, 2), dtype="i4", chunks=[[31], 2])
    a[...] = 31
    for days in (28, 31, 30):
        a.append(np.full((days, 2), days))
    assert a.chunks == ((31, 28, 31, 30), 2)
    assert np.array_equal(oz.open_array(store)[:, 0], [31] * 31 + [28] * 28 + [31] * 31 + [30] * 30)
    a.append(np.zeros((0, 2)))
    assert a.chunks == ((31, 28, 31, 30), 2)
    with pytest.raises(oz.errors.ShapeError):
        a.append(np.zeros((3, 3)))


def test_chunks_that_end_with_the_array_keep_their_lengths():
    store: dict[str, bytes] = {}
    a = oz.create_array(store, shape=(10,), dtype="i4", chunks=RectilinearGrid((4,), clipped=True))
    a[...] = np.arange(10)
    for shape in (11, 12, 9):
        with pytest.raises(oz.errors.UnsupportedError, match="end with the array"):
            a.resize(shape)
    with pytest.raises(oz.errors.UnsupportedError, match="end with the array"):
        a.append([1])
    assert np.array_equal(oz.open_array(store)[...], np.arange(10))
    a.resize(8)
    a.append([8, 9, 10])
    assert np.array_equal(oz.open_array(store)[...], np.arange(11))


def test_version_2_has_chunks_of_one_shape():
    with pytest.raises(oz.errors.UnsupportedError, match="one shape"):
        made(format="zarr2")
    assert made(chunks=(30, 4), format="zarr2").chunks == (30, 4)


def test_refused_grids_leave_what_is_there_alone():
    store: dict[str, bytes] = {}
    a = made(store)
    a[...] = VALUES
    before = dict(store)
    for options in ({"chunks": [[10], 5]}, {"chunks": [[0, 60], 5]}, {"shards": [[10, 50], 10], "chunks": 20}):
        with pytest.raises(oz.errors.OmnizarrError):
            made(store, overwrite=True, **options)
    assert store == before


class Plain(dict[str, bytes]):
    """A mapping of the user's own, so that every key goes through Python."""


CODECS: list[Any] = [
    None,
    "auto",
    [oz.codec.zstd(), oz.codec.crc32c()],
    [oz.codec.transpose([1, 0]), oz.codec.gzip(1)],
    [oz.codec.delta(), oz.codec.shuffle()],
    [
        {
            "name": "numcodecs.fixedscaleoffset",
            "configuration": {"scale": 2, "offset": 1, "dtype": "<i4", "astype": "<i4"},
        }
    ],
    [{"name": "numcodecs.adler32", "configuration": {}}],
]


@pytest.mark.parametrize("codecs", CODECS, ids=str)
@pytest.mark.parametrize("layout", ["uneven", "bounded", "shards", "python store", "cached"])
def test_codecs(codecs, layout):
    pytest.importorskip("numcodecs")
    options: dict[str, Any] = {"codecs": codecs}
    if layout == "bounded":
        options["chunks"] = RectilinearGrid((25, 4), clipped=True)
    elif layout == "shards":
        options |= {"shards": [[10, 20, 30], [8, 4]], "chunks": (5, 2)}
    elif layout == "cached":
        options["cache_bytes"] = 1 << 20
    store = Plain() if layout == "python store" else {}
    a = made(store, **options)
    values = VALUES % 13
    a[...] = values
    a[7:44, 3:9:2] = -5
    values[7:44, 3:9:2] = -5
    points = np.random.default_rng(0).integers(0, 10, (2, 40))
    a.vindex[points[0] * 6, points[1]] = 99
    values[points[0] * 6, points[1]] = 99
    a[values == 3] = 8
    values[values == 3] = 8
    for b in (a, oz.open_array(store)):
        assert np.array_equal(b[...], values)
        assert np.array_equal(b.oindex[[59, 0, 30], 1:], values[[59, 0, 30], 1:])
        assert np.array_equal(b.vindex[points[0] * 6, points[1]], values[points[0] * 6, points[1]])
        assert np.array_equal(b[values > 5], values[values > 5])
        assert b[33, 7] == values[33, 7]


def test_codecs_whose_output_depends_on_the_number_of_elements():
    pytest.importorskip("numcodecs")
    values = np.random.default_rng(0).integers(0, 2, 100).astype(bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = oz.create_array(
            {}, shape=(100,), dtype=bool, chunks=[[3, 50, 13, 40]], codecs=[{"name": "numcodecs.packbits"}]
        )
    a[...] = values
    assert np.array_equal(a[...], values)
    assert np.array_equal(a[2:90:9], values[2:90:9])


@pytest.mark.parametrize("sharded", [False, True])
def test_strings(sharded):
    layout: dict[str, Any] = {"shards": [[4, 8], 4], "chunks": (2, 2)} if sharded else {"chunks": [[1, 5, 6], [4]]}
    a = oz.create_array({}, shape=(10, 4), dtype=str, **layout)
    values = np.array([["x" * (i * j) for j in range(4)] for i in range(10)], object)
    a[...] = values
    a[3:8, ::3] = "é"
    values[3:8, ::3] = "é"
    assert a[...].tolist() == values.tolist()
    assert a[8, 2] == values[8, 2]


def test_huge_runs_cost_nothing():
    a = oz.create_array({}, shape=(1 << 62,), dtype="i1", chunks=[[[1, 1 << 61], [1 << 20, 1 << 60]]])
    places = [0, 5, (1 << 61) - 1, 1 << 61, (1 << 61) + (1 << 20), (1 << 62) - 1]
    a.oindex[places] = np.arange(1, 7)
    assert np.array_equal(a.oindex[places], np.arange(1, 7))
    assert a.nchunks_stored == 6
    assert a.nchunks == (1 << 61) + (1 << 41)
    assert a.blocks[-1].size == 1 << 20
    assert "2305843009213693952×1" in repr(a)
    assert a._repr_html_()
    with pytest.raises(oz.errors.LimitError):
        a.chunks  # noqa: B018 - a property


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"chunk_keys": "v2"}, "1.0"),
        ({"chunk_keys": "v2", "separator": "/"}, "1/0"),
        ({"chunk_keys": "default", "separator": "."}, "c.1.0"),
        ({"chunk_keys": {"name": "zarrs.default_suffix", "configuration": {"suffix": ".t"}}}, "c/1/0.t"),
        ({"chunk_keys": {"name": "omnizarr.affix", "configuration": {"prefix": "p", "separator": "_"}}}, "p_1_0"),
        ({"chunk_keys": affix_keys("p", "/", "raw")}, "p/1/0/raw"),
        ({"chunk_keys": affix_keys("", "/"), "format": "zarr2"}, "1/0"),
        ({"chunk_keys": "v2", "format": "zarr2"}, "1.0"),
    ],
)
def test_names_of_chunks(tmp_path, options, key):
    a = oz.create_array(tmp_path / "x", shape=(4, 4), chunks=(2, 4), dtype="i4", **options)
    a[...] = 1
    assert (tmp_path / "x" / key).is_file()
    b = oz.open_array(tmp_path / "x")
    assert b.nchunks_stored == 2
    assert b[...].sum() == 16
    group = oz.create_group({}, format=options.get("format", "zarr3"))
    kept = {name: value for name, value in options.items() if name != "format"}
    assert group.create_array("x", shape=(4, 4), chunks=(2, 4), dtype="i4", **kept).metadata.keys == a.metadata.keys


def test_separators_have_a_place_of_their_own_in_each_format():
    three: dict[str, bytes] = {}
    oz.create_array(three, shape=(4,), chunks=2, dtype="i4", separator=".")[...] = 1
    document = json.loads(three.pop("zarr.json"))
    assert document["chunk_key_encoding"] == {"name": "default", "configuration": {"separator": "."}}
    assert "dimension_separator" not in document
    two: dict[str, bytes] = {}
    oz.create_array(two, shape=(4, 4), chunks=2, dtype="i4", separator="/", format="zarr2")[0, 0] = 1
    document = json.loads(two.pop(".zarray"))
    assert document["dimension_separator"] == "/"
    assert "chunk_key_encoding" not in document
    assert (sorted(three), sorted(two)) == (["c.0", "c.1"], ["0/0"])


@pytest.mark.parametrize("name", ["regular", "zarrs.regular_bounded"])
def test_a_length_of_zero_makes_no_chunks(name):
    store: dict[str, bytes] = {}
    a = oz.create_array(store, shape=(0, 4), chunks=(1, 2), dtype="i4")
    document = json.loads(store["zarr.json"])
    # As zarr-python writes it where the dimension has no length.
    document["chunk_grid"] = {"name": name, "configuration": {"chunk_shape": [0, 2]}}
    store["zarr.json"] = json.dumps(document).encode()
    a = oz.open_array(store, "r+")
    assert (a.nchunks, a.nchunks_stored, a[...].shape) == (0, 0, (0, 4))
    a[...] = 1
    assert list(a) == []
    assert sorted(store) == ["zarr.json"]
    a.append(np.ones((2, 4)))
    assert a.chunks == (1, 2)
    assert np.array_equal(oz.open_array(store)[...], np.ones((2, 4)))


def test_the_one_chunk_of_an_array_without_dimensions():
    for keys, key in ((affix_keys("p", ".", "s"), "p.s"), (affix_keys(suffix="s"), "s"), (affix_keys("p", "/"), "p")):
        store: dict[str, bytes] = {}
        oz.create_array(store, shape=(), dtype="i4", chunk_keys=keys)[...] = 5
        assert sorted(store) == sorted([key, "zarr.json"])
        assert oz.open_array(store)[()] == 5


@pytest.mark.parametrize(
    "options",
    [
        {"chunk_keys": affix_keys(separator="")},
        {"chunk_keys": affix_keys("zarr.json", "/")},
        {"chunk_keys": affix_keys("..", "/")},
        {"chunk_keys": {"name": "omnizarr.affix", "configuration": {"separator": "7"}}},
        {"chunk_keys": {"name": 3}},
        {"chunk_keys": "fanout"},
        {"chunk_keys": affix_keys("p"), "separator": "."},
        {"chunk_keys": affix_keys("p"), "format": "zarr2"},
        {"chunk_keys": "default", "format": "zarr2"},
        {"chunk_keys": Keys("c", "/", "", "c")},
        {"chunk_keys": 5},
    ],
)
def test_names_of_chunks_that_are_refused(options):
    store: dict[str, bytes] = {}
    with pytest.raises((oz.errors.MetadataError, oz.errors.UnsupportedError)):
        oz.create_array(store, shape=(4, 4), chunks=(2, 4), dtype="i4", **options)
    assert not store
