"""Handles of arrays: what they show, and how they read and write."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NotFoundError, ReadOnlyError, SelectionError, ShapeError, UnsupportedError


@pytest.fixture(params=["zarr3", "zarr2"])
def fmt(request):
    return request.param


def filled(fmt="zarr3", shape=(6, 8), **options):
    values = np.arange(int(np.prod(shape)), dtype="i4").reshape(shape)
    return oz.create_array({}, data=values, chunks=2, format=fmt, **options), values


def test_facts_of_an_array(fmt, tmp_path):
    array = oz.create_array(
        tmp_path, path="g/x", shape=(5, 4), dtype="<f4", chunks=(2, 3), codecs="zstd", fill_value=-1, dims=("t", "x"),
        attrs={"unit": "K"}, format=fmt,
    )  # fmt: skip
    for a in (array, oz.open_array(tmp_path, path="g/x"), oz.open(tmp_path)["g"]["x"]):
        assert (a.shape, a.dtype, a.ndim, a.size, a.itemsize, a.nbytes) == ((5, 4), np.dtype("f4"), 2, 20, 4, 80)
        assert (a.chunks, a.shards, a.nchunks, a.nshards, a.order) == ((2, 3), None, 6, 6, "C")
        assert (a.path, a.name, a.basename, a.format) == ("g/x", "/g/x", "x", fmt)
        assert a.fill_value == np.float32(-1)
        assert type(a.fill_value) is np.float32
        assert a.dims == ("t", "x")
        assert a.attrs["unit"] == "K"
        assert [codec.name for codec in a.codecs] == ["bytes", "zstd"]
        assert (a.nchunks_stored, a.nbytes_stored) == (0, 0)
        assert len(a) == 5
    assert array.store.uri == tmp_path.as_uri()
    array[0, 0] = 1
    assert array.nchunks_stored == 1
    assert array.nbytes_stored > 0


def test_facts_of_a_sharded_array():
    array = oz.create_array({}, shape=(10, 10), dtype="i2", chunks=(2, 5), shards=(4, 10), order="F", codecs="gzip")
    assert (array.chunks, array.shards, array.nchunks, array.nshards) == ((2, 5), (4, 10), 10, 3)
    assert [codec.name for codec in array.codecs] == ["transpose", "bytes", "gzip"]
    array[...] = 1
    assert array.nchunks_stored == 3


def test_integers_give_scalars_and_an_ellipsis_keeps_the_array():
    array, values = filled()
    assert type(array[1, 2]) is np.int32
    assert array[1, 2] == values[1, 2]
    assert isinstance(array[1, 2, ...], np.ndarray)
    assert array[1, 2, ...].shape == ()
    scalar = oz.create_array({}, data=np.float64(3.5))
    assert scalar[()] == 3.5
    assert type(scalar[()]) is np.float64
    assert scalar[...].shape == ()
    assert isinstance(scalar[...], np.ndarray)


def test_every_kind_of_index(fmt):
    array, values = filled(fmt, order="F")
    np.testing.assert_array_equal(array[::-2, None, 3:], values[::-2, None, 3:])
    np.testing.assert_array_equal(array[[4, 1, 1]], values[[4, 1, 1]])
    np.testing.assert_array_equal(array[values % 3 == 0], values[values % 3 == 0])
    np.testing.assert_array_equal(array[np.array([True, False] * 3)], values[::2])
    np.testing.assert_array_equal(array.oindex[[5, 0], [1, 1, 7]], values[np.ix_([5, 0], [1, 1, 7])])
    np.testing.assert_array_equal(array.vindex[[5, 0], [1, 7]], values[[5, 0], [1, 7]])
    np.testing.assert_array_equal(array.blocks[1, -1], values[2:4, 6:8])
    assert array[2:2].shape == (0, 8)


def test_every_kind_of_assignment(fmt):
    array, values = filled(fmt)
    array[::-2, 3:] = values[::-2, 3:] = [[1], [2], [3]]
    array.oindex[[5, 0], [1, 7]] = values[np.ix_([5, 0], [1, 7])] = [[10, 11], [12, 13]]
    array.vindex[[1, 2], [3, 4]] = values[[1, 2], [3, 4]] = [21, 22]
    array[values > 40] = values[values > 40] = -1
    array.blocks[0, 0] = values[:2, :2] = 99
    array[5] = values[5] = np.float64(2.9)
    np.testing.assert_array_equal(array[...], values)


def test_values_are_cast_as_numpy_casts():
    array = oz.create_array({}, shape=(3,), dtype="i1")
    array[...] = np.array([1.9, -128.9, -1])
    np.testing.assert_array_equal(array[...], [1, -128, -1])
    array[...] = np.array([1, 300, -1])
    np.testing.assert_array_equal(array[...], [1, 44, -1])
    array[...] = np.arange(3, dtype=">i8")
    np.testing.assert_array_equal(array[...], [0, 1, 2])
    for value in (300, [1, 2, 1000], 1j, "x", [[1, 2], [3]]):
        with pytest.raises(ShapeError, match="cannot be stored as int8"):
            array[...] = value


def test_values_of_a_wrong_shape_are_refused():
    array, _ = filled()
    with pytest.raises(ShapeError, match=r"\(3,\) do not broadcast to \(6, 8\)"):
        array[...] = [1, 2, 3]
    array[0] = np.ones((1, 1, 8))
    assert array[0].sum() == 8


def test_reading_into_a_buffer():
    array, values = filled()
    out = np.zeros((6, 3), "i4")
    assert array.read((slice(None), slice(0, 6, 2)), out=out) is out
    np.testing.assert_array_equal(out, values[:, :6:2])
    whole = np.empty((8, 6), "i4").T
    np.testing.assert_array_equal(array.read(out=whole), values)
    np.testing.assert_array_equal(array.read(slice(0, 1)), values[:1])
    masked = np.empty(24, "i4")[::-1]
    np.testing.assert_array_equal(array.read(values % 2 == 0, out=masked), values[values % 2 == 0])
    for wrong in (np.zeros((6, 8), "i8"), np.zeros((6, 7), "i4")):
        with pytest.raises(ShapeError, match="out has shape"):
            array.read(out=wrong)
    out.flags.writeable = False
    with pytest.raises(ShapeError, match="cannot be written"):
        array.read(np.s_[:, :3], out=out)


def test_text_and_bytes(fmt):
    texts = oz.create_array({}, shape=(2, 3), dtype=str, chunks=(1, 2), fill_value="none", format=fmt)
    texts[0] = ["a", "", "long " * 20]
    assert texts[...].tolist() == [["a", "", "long " * 20], ["none"] * 3]
    assert texts[0, 2] == "long " * 20
    texts[1, 1:] = np.array(["x", "y\0"], object)
    assert texts[1].tolist() == ["none", "x", "y\0"]
    texts[:, 0] = "same"
    assert texts[:, 0].tolist() == ["same", "same"]
    out = np.empty((2, 3), texts.dtype)
    assert texts.read(out=out).tolist() == texts[...].tolist()
    raw = oz.create_array({}, data=[b"a", b"\0\0", b""], dtype=bytes, format=fmt)
    assert raw[...].tolist() == [b"a", b"\0\0", b""]
    raw[0] = np.bytes_(b"z")
    assert raw[0] == b"z"
    with pytest.raises(ShapeError):
        raw[0] = "text"


def test_conversion_to_numpy():
    array, values = filled()
    np.testing.assert_array_equal(np.asarray(array), values)
    assert np.asarray(array, dtype="f8").dtype == np.float64
    assert np.array_equal(np.add(array, 1), values + 1)
    with pytest.raises(ValueError, match="copy"):
        np.array(array, copy=False)


def test_iteration_reads_each_chunk_once():
    store = oz.MemoryStore()
    values = np.arange(20).reshape(10, 2)
    array = oz.create_array(store, data=values, chunks=(3, 2))
    np.testing.assert_array_equal(list(array), values)
    scalar = oz.create_array({}, data=5)
    for use in (iter, len):
        with pytest.raises(TypeError):
            use(scalar)
    assert scalar
    with pytest.raises(ValueError, match="truth"):
        bool(array)


def test_pickling_keeps_place_and_mode(tmp_path, fmt):
    oz.create_array(tmp_path, path="x", data=[1, 2, 3], format=fmt)
    for mode in ("r", "r+"):
        array = pickle.loads(pickle.dumps(oz.open_array(tmp_path, mode, path="x")))
        assert array[...].tolist() == [1, 2, 3]
        assert (array.path, array.read_only, array.format) == ("x", mode == "r", fmt)
    group = pickle.loads(pickle.dumps(oz.open_group(tmp_path)))
    assert group["x"][0] == 1
    pickled = pickle.dumps(array)
    (tmp_path / "x" / ("zarr.json" if fmt == "zarr3" else ".zarray")).unlink()
    with pytest.raises(NotFoundError):
        pickle.loads(pickled)


def test_dask_token_follows_place_and_metadata(tmp_path):
    first = oz.create_array(tmp_path / "a", shape=(3,), dtype="i4")
    second = oz.create_array(tmp_path / "b", shape=(3,), dtype="i4")
    assert first.__dask_tokenize__() == oz.open_array(tmp_path / "a").__dask_tokenize__()
    assert first.__dask_tokenize__() != second.__dask_tokenize__()
    before = first.__dask_tokenize__()
    first.resize(4)
    assert before != first.__dask_tokenize__()


def test_a_read_only_array_refuses_changes(tmp_path):
    oz.create_array(tmp_path, data=[1, 2])
    array = oz.open_array(tmp_path)
    for change in (
        lambda: array.__setitem__(0, 1),
        lambda: array.oindex.__setitem__(0, 1),
        lambda: array.resize(3),
        lambda: array.append([1]),
        lambda: array.attrs.update(a=1),
        lambda: array.store.put("x", b""),
    ):
        with pytest.raises(ReadOnlyError, match="r\\+"):
            change()
    assert array[...].tolist() == [1, 2]


def test_refresh_shows_what_others_changed(tmp_path):
    array = oz.create_array(tmp_path, data=[1, 2])
    other = oz.open_array(tmp_path, "r+")
    other.append([3])
    assert array.shape == (2,)
    array.refresh()
    assert array[...].tolist() == [1, 2, 3]
    (tmp_path / "zarr.json").unlink()
    with pytest.raises(NotFoundError):
        array.refresh()


def test_wrong_indices_name_the_trouble():
    array, _ = filled()
    for index in (6, (0, 8), (0, 0, 0), "x", 1.5, np.ones((6, 7), bool)):
        with pytest.raises(SelectionError):
            array[index]
    with pytest.raises(SelectionError):
        array.blocks[9, 0]


def test_an_undefined_fill_value_reads_as_zero():
    array = oz.create_array({}, shape=(2,), dtype="i4", fill_value=None, format="zarr2")
    assert array.fill_value is None
    assert array[...].tolist() == [0, 0]
    array[0] = 0
    assert array.nchunks_stored == 1
    with pytest.raises(UnsupportedError, match="undefined"):
        oz.create_array({}, shape=(2,), fill_value=None)


def test_empty_chunks_are_not_stored_unless_asked():
    array = oz.create_array({}, shape=(4,), dtype="f4", chunks=2, fill_value=np.nan)
    array[...] = np.nan
    assert array.nchunks_stored == 0
    array[...] = [1, 2, np.nan, np.nan]
    assert array.nchunks_stored == 1
    array[:2] = np.nan
    assert array.nchunks_stored == 0
    array = oz.create_array({}, shape=(4,), dtype="f4", chunks=2, write_empty=True)
    array[...] = 0
    assert array.nchunks_stored == 2
    array = oz.create_array({}, shape=(1,), dtype="f4", fill_value=0.0)
    array[0] = -0.0
    assert array.nchunks_stored == 1
    assert np.signbit(array[0])
