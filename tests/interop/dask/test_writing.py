"""Dask arrays into stored arrays, by threads, processes and workers."""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.array.io import Access
from omnizarr.errors import ConflictError, ExistsError, SelectionError, ShapeError, StoreError
from omnizarr.interop.dask import to_zarr
from omnizarr.store.reach import Reach, reach_of

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

ROUNDS = int(os.environ.get("OMNIZARR_LONG", "3"))
VALUES = np.arange(64 * 24, dtype="i4").reshape(64 * 4, 6) + 1


def written(x, where, **options):
    return oz.from_dask(x, where, overwrite=True, **options)[...]


@pytest.fixture(scope="module")
def processes():
    # Dask would start new ones for each computation.
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("codecs", ["auto", None])
@pytest.mark.parametrize("how", ["threads", "processes", "cluster"])
def test_unaligned_blocks_lose_nothing(tmp_path, how, codecs, request):
    # 64 blocks of 4 rows into 8 shards of 33: most blocks share one with their neighbours.
    x = da.from_array(VALUES, chunks=(4, 6))
    client = request.getfixturevalue("client") if how == "cluster" else None
    pool = {"pool": request.getfixturevalue("processes")} if how == "processes" else {}
    for _ in range(ROUNDS):
        lazy = oz.from_dask(
            x, tmp_path / "a", chunks=(11, 3), shards=(33, 6), codecs=codecs, overwrite=True, compute=False
        )
        if client is None:
            lazy.compute(scheduler=how, num_workers=4, **pool)
        else:
            client.compute(lazy).result()
        array = oz.open_array(tmp_path / "a")
        assert array.nshards == 8
        np.testing.assert_array_equal(array[...], VALUES)
    assert not list((tmp_path / "a").rglob("*.partial"))


def test_arrays_and_blocks_travel_to_workers(tmp_path, client):
    array = oz.create_array(tmp_path / "a", data=VALUES, chunks=(50, 6))
    assert client.submit(lambda one: int(one[3, 3]), array).result() == VALUES[3, 3]
    x = array.to_dask()
    assert client.compute((x + 1).sum()).result() == (VALUES + 1).sum()
    total = client.compute(oz.from_dask(x.rechunk((30, 4)) * 2, tmp_path / "b", compute=False))
    total.result()
    np.testing.assert_array_equal(oz.open_array(tmp_path / "b")[...], VALUES * 2)


@pytest.mark.parametrize("where", ["dict", "memory", "zip"])
def test_stores_of_this_process_are_refused_by_others(tmp_path, where):
    x = da.from_array(VALUES, chunks=(4, 6))
    place = {"dict": {}, "memory": oz.MemoryStore(), "zip": oz.ZipStore(tmp_path / "z.zip")}[where]
    assert reach_of(oz.create_group(place).store) is Reach.PROCESS
    np.testing.assert_array_equal(written(x, place, path="t", chunks=(7, 6)), VALUES)
    with dask.config.set(scheduler="processes"), pytest.raises(StoreError, match="live"):
        oz.from_dask(x, place, path="u")
    if where == "zip":
        place.close()


class Plain:
    """A store by the names of its methods, of which nothing is known."""

    def __init__(self, inner):
        self.inner_store = inner

    def __getattr__(self, name):
        if name.startswith("__") or name in {"inner_store", "conditional", "see_through", "inner"}:
            raise AttributeError(name)
        return getattr(self.inner_store, name)

    native = None


def test_a_store_without_protection_takes_whole_units_only(tmp_path):
    x = da.from_array(VALUES, chunks=(8, 6))
    store = Plain(oz.FileStore(tmp_path / "a"))
    assert reach_of(store) is Reach.WHOLE_KEYS
    np.testing.assert_array_equal(written(x, store, chunks=(7, 6)), VALUES)  # threads keep out of each other's way
    from omnizarr.interop.dask.stored import Stored

    array = oz.open_array(store, "r+")
    with pytest.raises(StoreError, match="line up"):
        Stored(array, unaligned=True).__reduce__()
    Stored(array, unaligned=False).__reduce__()


def test_options_are_those_of_new_arrays(tmp_path):
    x = da.from_array(VALUES, chunks=(100, 6))
    array = oz.from_dask(
        x, tmp_path / "g", path="deep/t", format="zarr2", codecs=["zlib"], dims=("y", "x"), attrs={"units": "K"}
    )
    assert (array.format, array.chunks, array.path, array.attrs["units"]) == ("zarr2", (100, 6), "deep/t", "K")
    assert oz.from_dask(x, {}, chunks="auto").chunks == (256, 6)
    with pytest.raises(ExistsError):
        oz.from_dask(x, tmp_path / "g", path="deep/t", format="zarr2")
    with pytest.raises(TypeError, match="nonsense"):
        oz.from_dask(x, {}, nonsense=1)
    with pytest.raises(TypeError, match="Dask array"):
        oz.from_dask(VALUES, {})
    assert oz.from_dask(da.from_array(np.float32(3)), {})[()] == 3
    assert oz.from_dask(da.zeros((0, 3)), {}).shape == (0, 3)


def test_regions_are_written_into_what_is_there(tmp_path):
    array = oz.create_array(tmp_path / "a", shape=(300, 6), dtype="i4", chunks=(32, 4), dims=("y", "x"))
    x = da.from_array(VALUES, chunks=(30, 6))
    expected = np.zeros((300, 6), "i4")
    for region, key in [
        ((slice(10, 266),), np.s_[10:266]),
        ({"y": slice(44, 300), "x": slice(None, None, -1)}, np.s_[44:300, ::-1]),
        ((slice(255, None, -1), ...), np.s_[255::-1]),
    ]:
        oz.from_dask(x, tmp_path / "a", region=region)
        expected[key] = VALUES
        np.testing.assert_array_equal(array[...], expected)
    oz.from_dask(x[:, :2], oz.open_array(tmp_path / "a", "r+"), region=np.s_[:256, 1:3])
    with pytest.raises(ShapeError, match="region has shape"):
        oz.from_dask(x, array, region=(slice(0, 3),))
    for wrong in [(3,), {"z": slice(None)}, (slice(None),) * 3]:
        with pytest.raises(SelectionError):
            oz.from_dask(x, array, region=wrong)
    with pytest.raises(TypeError, match="codecs="):
        oz.from_dask(x, array, region=(slice(0, 256),), codecs=None)


def test_values_are_not_erased_before_they_are_read(tmp_path):
    array = oz.create_array(tmp_path / "g", path="t", data=VALUES, chunks=(64, 6))
    x = array.to_dask() + 1
    for path in ("t", None):
        with pytest.raises(ConflictError, match="would replace"):
            oz.from_dask(x, tmp_path / "g", path=path, overwrite=True)
    oz.from_dask(x, tmp_path / "g", path="u", overwrite=True)
    np.testing.assert_array_equal(array[...], VALUES)


def test_links_do_not_hide_where_values_are_read_from(tmp_path):
    array = oz.create_array(tmp_path / "r.zarr", data=VALUES, chunks=(64, 6))
    (tmp_path / "l.zarr").symlink_to("r.zarr")
    for source, target in (("l.zarr", "r.zarr"), ("r.zarr", "l.zarr")):
        with pytest.raises(ConflictError, match="would replace"):
            oz.from_dask(oz.to_dask(tmp_path / source) + 1, tmp_path / target, overwrite=True)
    np.testing.assert_array_equal(array[...], VALUES)


def test_blocks_do_not_read_what_others_overwrite(tmp_path):
    array = oz.create_array(tmp_path / "t", data=VALUES, chunks=(64, 6))
    x = oz.to_dask(tmp_path / "t")
    whole = (slice(None),)
    for moved in (x[::-1], x - x.mean(axis=0).astype(x.dtype), x.rechunk((50, 6))):
        for target, region in ((tmp_path / "t", whole), (oz.open_array(tmp_path / "t", "r+"), None)):
            with pytest.raises(ConflictError, match="may be overwritten before"):
                oz.from_dask(moved, target, region=region)
    np.testing.assert_array_equal(array[...], VALUES)
    oz.from_dask(x + 1, tmp_path / "t", region=whole)
    np.testing.assert_array_equal(array[...], VALUES + 1)
    oz.from_dask(oz.to_dask(tmp_path / "t")[10:70] - 1, tmp_path / "t", region=(slice(10, 70),))
    np.testing.assert_array_equal(array[10:70], VALUES[10:70])


def test_what_was_stored_comes_back(tmp_path):
    x = da.from_array(VALUES, chunks=(50, 6))
    back = oz.from_dask(x, tmp_path / "a", return_stored=True)
    assert back.chunks == x.chunks
    np.testing.assert_array_equal(back.compute(), VALUES)
    later = oz.from_dask(x, tmp_path / "b", return_stored=True, compute=False)
    assert not oz.open_array(tmp_path / "b")[...].any()
    np.testing.assert_array_equal(later.compute(), VALUES)
    np.testing.assert_array_equal(oz.open_array(tmp_path / "b")[...], VALUES)


def test_lengths_that_are_not_known_are_refused(tmp_path):
    x = da.from_array(VALUES[:, 0], chunks=50)
    with pytest.raises(ShapeError, match="not known"):
        oz.from_dask(x[x > 5], tmp_path / "a")


def test_names_change_with_what_was_written(tmp_path):
    array = oz.from_dask(da.from_array(VALUES, chunks=(50, 6)), tmp_path / "a")
    name = array.to_dask().name
    lazy = oz.from_dask(da.from_array(VALUES + 1, chunks=(50, 6)), array, compute=False)
    # Nobody knows when it is written, so that no two names are the same.
    assert len({name, array.to_dask().name, array.to_dask().name}) == 3
    lazy.compute()
    assert array.to_dask().name != name


@pytest.mark.parametrize("how", ["delayed", "xarray", "xarray, delayed"])
def test_what_workers_have_written_has_another_name(tmp_path, client, how):
    group = oz.create_group(tmp_path / "g")
    array = group.create_array("a", data=VALUES, chunks=(64, 6), dims=("y", "x"))
    kept = client.persist(oz.to_dask(tmp_path / "g" / "a"))
    new = da.from_array(VALUES + 1, chunks=(64, 6))
    with client.as_current():
        if how == "delayed":
            oz.from_dask(new, array, compute=False).compute()
        else:
            xarray = pytest.importorskip("xarray")
            pytest.importorskip("omnizarr.interop.xarray")
            dataset = xarray.Dataset({"a": (("y", "x"), new)})
            region = {"y": slice(0, len(VALUES)), "x": slice(0, 6)}
            lazy = dataset.oz.to_omnizarr(tmp_path / "g", region=region, compute="delayed" not in how)
            if how != "xarray":
                lazy.compute()
        read = oz.to_dask(tmp_path / "g" / "a")
        assert read.name != kept.name
        np.testing.assert_array_equal(client.persist(read).compute(), VALUES + 1)


@pytest.mark.parametrize("tool", [oz.copy, oz.convert])
def test_what_a_tool_has_replaced_has_another_name(tool):
    old, new = {}, {}
    held = oz.create_array(old, data=VALUES, path="a")
    kept = held.to_dask().name
    oz.create_array(new, data=VALUES + 1, path="a")
    tool(new, old, overwrite=True)
    read = oz.open(old)["a"].to_dask()
    assert read.name == oz.open(old)["a"].to_dask().name != kept
    np.testing.assert_array_equal(read.compute(), VALUES + 1)


def test_a_name_made_while_values_are_written_is_not_kept(monkeypatch):
    array = oz.create_array({}, data=VALUES)
    seen = []
    put = Access._put

    def slow(self, *given):
        seen.append(array.to_dask().name)
        put(self, *given)

    monkeypatch.setattr(Access, "_put", slow)
    array[...] = VALUES + 1
    assert array.to_dask().name not in seen


def test_dask_signatures(tmp_path):
    x = da.from_array(VALUES, chunks=(50, 6))
    assert to_zarr(x, str(tmp_path / "g"), component="t", zarr_format=2) is None
    assert oz.open_array(tmp_path / "g", path="t").format == "zarr2"
    assert (
        to_zarr(x + 1, str(tmp_path / "g"), "t", mode="w", zarr_format=2, return_stored=True).sum().compute()
        == VALUES.sum() + VALUES.size
    )
    with pytest.raises(ExistsError):
        to_zarr(x, str(tmp_path / "g"), "t", zarr_format=2)
