"""Dask arrays that read stored arrays."""

import pickle

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.array.io import Access
from omnizarr.errors import NodeTypeError, ShapeError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.opening import Place
from omnizarr.interop.dask import from_zarr
from omnizarr.interop.dask.stored import Stored

da = pytest.importorskip("dask.array")
Callback = pytest.importorskip("dask.callbacks").Callback

VALUES = np.arange(40 * 30).reshape(40, 30)


@pytest.fixture
def array(tmp_path):
    return oz.create_array(tmp_path / "a", data=VALUES, chunks=(5, 5), shards=(10, 15), dims=("y", "x"))


class Counted(Callback):
    def __init__(self):
        super().__init__(pretask=lambda key, *_: self.keys.append(key))
        self.keys = []


def test_a_block_is_a_shard_or_else_a_chunk(array, tmp_path):
    assert array.to_dask().chunks == ((10,) * 4, (15, 15))
    plain = oz.create_array(tmp_path / "b", data=VALUES, chunks=(7, 30))
    assert plain.to_dask().chunks == ((7, 7, 7, 7, 7, 5), (30,))
    uneven = oz.create_array(tmp_path / "c", data=VALUES, chunks=[[10, 20, 10], 30])
    assert uneven.to_dask().chunks == ((10, 20, 10), (30,))
    np.testing.assert_array_equal(uneven.to_dask().compute(), VALUES)
    assert oz.create_array({}, shape=(), dtype="i4", fill_value=3).to_dask().compute() == 3
    assert oz.create_array({}, shape=(0, 3), dtype="i4").to_dask().compute().shape == (0, 3)


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ("auto", ((40,), (30,))),
        (20, ((20, 20), (20, 10))),
        ((20, -1), ((20, 20), (30,))),
        (((30, 10), (15, 15)), ((30, 10), (15, 15))),
        ({"y": 20}, ((20, 20), (15, 15))),
        ({1: -1}, ((10,) * 4, (30,))),
        ({"x": "auto", "y": None}, ((10,) * 4, (30,))),
        ("2400B", None),
    ],
)
def test_blocks_can_be_chosen(array, chunks, expected):
    x = oz.to_dask(array, chunks)
    assert x.chunks == expected or expected is None
    np.testing.assert_array_equal(x.compute(scheduler="sync"), VALUES)


def test_chunks_that_do_not_fit_are_refused(array):
    with pytest.raises(ShapeError, match="no dimension 'z'"):
        array.to_dask({"z": 3})
    with pytest.raises(ShapeError):
        array.to_dask((1, 2, 3))
    with pytest.raises(ShapeError, match="do not fit"):
        array.to_dask(0)


def test_nothing_is_read_before_it_is_computed(array, monkeypatch):
    seen = []
    real = Access.read
    monkeypatch.setattr(Access, "read", lambda self, found: (seen.append(found.counts), real(self, found))[1])
    x = oz.to_dask(array)
    part = x[0]
    assert not seen
    with Counted() as counted:
        np.testing.assert_array_equal(part.compute(scheduler="sync"), VALUES[0])
    assert sorted(seen) == [(1, 15), (1, 15)]  # of two shards, the one row
    assert len(counted.keys) <= 5


def test_the_graph_is_small(tmp_path):
    many = oz.create_array(tmp_path / "many", shape=(100_000, 10), chunks=(10, 10), dtype="u1")
    x = many.to_dask()
    assert x.npartitions == 10_000
    assert len(x.dask.layers) == 1
    assert len(pickle.dumps(x)) < 10_000 + 10 * x.npartitions  # Dask lists the lengths of blocks


def test_names_follow_place_and_state(array, tmp_path):
    here = tmp_path / "a"
    name = oz.to_dask(here).name
    assert name == oz.to_dask(str(here)).name == array.to_dask().name
    assert name != array.to_dask(20).name
    oz.open_array(here, "r+")[0, 0] = 99
    changed = oz.to_dask(here).name
    assert changed != name
    array.resize((50, 30))
    assert oz.to_dask(here).name not in {name, changed}
    other = oz.create_array(tmp_path / "b", data=VALUES, chunks=(5, 5), shards=(10, 15), dims=("y", "x"))
    assert other.to_dask().name not in {name, changed}
    assert array.to_dask(name="mine").name == "mine"


def test_a_file_that_another_program_changed_has_another_name(tmp_path):
    store = {}
    held = oz.create_array(store, data=VALUES, format="zarr2")  # as long as it lives, the mapping has a name
    first = held.to_dask().name
    assert first == oz.to_dask(store).name
    assert first != oz.to_dask(dict(store)).name
    oz.create_array(tmp_path / "z.zip", data=VALUES).close()
    packed = oz.to_dask(tmp_path / "z.zip").name
    assert packed == oz.to_dask(tmp_path / "z.zip").name
    (tmp_path / "z.zip").unlink()
    oz.create_array(tmp_path / "z.zip", data=VALUES + 1).close()
    assert packed != oz.to_dask(tmp_path / "z.zip").name


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("M8[ns]", np.array(["2020-01-01", "NaT", "1970-01-01"], "M8[ns]")),
        ("m8[s]", np.array([1, 2, 3], "m8[s]")),
        ("?", np.array([True, False, True])),
        ("c8", np.array([1 + 2j, 0, 3])),
        ("S3", np.array([b"a", b"abc", b""])),
        ("U3", np.array(["ä", "abc", ""])),
        (str, np.array(["", "long" * 9, "ä"], dtype=np.dtypes.StringDType())),
        ([("a", "i4"), ("b", "f8")], np.array([(1, 2.5), (3, 4.5), (5, 6.5)], [("a", "i4"), ("b", "f8")])),
    ],
)
def test_types_stay(dtype, values):
    array = oz.create_array({}, shape=3, dtype=dtype, chunks=2)
    array[...] = values
    x = array.to_dask()
    assert x.dtype == x._meta.dtype == array.dtype
    for part in (x, x[::-1], x[1:]):
        assert part.compute(scheduler="sync").dtype == array.dtype
    assert (x.compute(scheduler="sync") == values)[[0, 2]].all()
    back = oz.from_dask(x, {}, dtype=dtype)
    assert back.dtype == array.dtype
    assert (back[...] == values)[[0, 2]].all()


def test_many_selections_agree_with_numpy(array):
    x = array.to_dask()
    for key in [np.s_[3:17, ::-2], np.s_[-1], np.s_[[3, 1, 1], 4:], np.s_[:, [7, 0]], np.s_[None, ..., 3]]:
        np.testing.assert_array_equal(x[key].compute(scheduler="sync"), VALUES[key])
    np.testing.assert_array_equal(x.vindex[[1, 30], [2, 3]].compute(scheduler="sync"), VALUES[[1, 30], [2, 3]])


def test_dask_signatures(array, tmp_path):
    oz.create_group(tmp_path / "g").create_array("t", data=VALUES)
    x = from_zarr(str(tmp_path / "g"), component="t", chunks=(20, -1), inline_array=True)
    assert x.chunks == ((20, 20), (30,))
    with pytest.raises(NodeTypeError):
        oz.to_dask(tmp_path / "g")
    with pytest.raises(TypeError, match="nonsense"):
        from_zarr(array, nonsense=1)
    with pytest.raises(TypeError, match="storage_options"):
        oz.to_dask({}, storage_options={"anon": True})


def test_consolidated_metadata_is_checked_before_it_travels(tmp_path):
    group = oz.create_group(tmp_path / "g")
    group.create_array("t", data=VALUES, chunks=(5, 30))
    group.consolidate()
    oz.open_array(tmp_path / "g" / "t", "r+").append(VALUES)
    assert oz.open_group(tmp_path / "g")["t"].to_dask().shape == (80, 30)


def test_workers_take_new_credentials(tmp_path):
    meta = oz.create_array(tmp_path / "a", data=VALUES).metadata

    def sent(secret):
        place = Place(oz.at("s3://bucket/a", key="me", secret=secret, region="eu"), "r", None)
        return pickle.loads(pickle.dumps(Stored(Array(place.context, "", meta)))).array

    old = sent("old-words")
    assert sent("old-words") is old
    assert b"new-words" in pickle.dumps(sent("new-words")._context)
