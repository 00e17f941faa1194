"""Writing: what cannot be lost is not lost, and what fails leaves what was there."""

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError, ExistsError, StoreError, UnsupportedError

xr = pytest.importorskip("xarray")

from omnizarr.interop.xarray import OmnizarrBackend  # noqa: E402 - only where xarray is


def opened(where, **options):
    return xr.open_dataset(where, engine=OmnizarrBackend, **options)


def days(start, count):
    rng = np.random.default_rng(start)
    time = np.arange(start, start + count)
    names = {f"v{i}": (("time", "x"), rng.random((count, 4)) + i) for i in range(3)}
    return xr.Dataset(names, coords={"time": time, "x": np.arange(4.0)}, attrs={"start": start})


class Failing(dict):
    """A store that fails once, at the n-th put from now on."""

    left = None

    def __setitem__(self, key, value):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise OSError("the disk is full")
        super().__setitem__(key, value)


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_an_append_that_fails_leaves_the_old_dataset(form):
    old, new = days(0, 5), days(5, 4)
    encoding = {f"v{i}": {"chunks": (3, 2)} for i in range(3)}
    puts = 0
    while True:
        store = Failing()
        old.oz.to_omnizarr(store, format=form, encoding=encoding)
        store.left = puts
        try:
            new.oz.to_omnizarr(store, append_dim="time")
        except (OSError, StoreError):
            store.left = None
            found = opened(store, consolidated=False).load()
            if found.sizes["time"] == 5:
                xr.testing.assert_equal(found, old)
            else:  # all shapes were written; attributes of the group or the copy of documents were not
                xr.testing.assert_equal(found, xr.concat([old, new], "time"))
            puts += 1
            continue
        break
    xr.testing.assert_equal(opened(store).load(), xr.concat([old, new], "time"))
    assert puts > 10


def test_an_append_that_meets_another_is_refused():
    store = {}
    days(0, 5).oz.to_omnizarr(store)
    later = days(5, 2).chunk().oz.to_omnizarr(store, append_dim="time", compute=False)
    days(5, 3).oz.to_omnizarr(store, append_dim="time")
    with pytest.raises(ConflictError, match="meanwhile"):
        later.compute()
    assert opened(store).sizes["time"] == 8


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
def test_tasks_that_share_shards_lose_nothing(tmp_path, scheduler):
    dask = pytest.importorskip("dask")
    values = np.arange(64 * 12).reshape(64, 12)
    ds = xr.Dataset({"v": (("y", "x"), values)}).chunk(y=7, x=5)
    with dask.config.set(scheduler=scheduler):
        ds.oz.to_omnizarr(tmp_path / "a.zarr", encoding={"v": {"chunks": (4, 3), "shards": (32, 12)}})
        np.testing.assert_array_equal(opened(tmp_path / "a.zarr")["v"].values, values)
        ds.oz.to_omnizarr(tmp_path / "b.zarr", align_chunks=True, encoding={"v": {"chunks": (10, 4)}})
        np.testing.assert_array_equal(opened(tmp_path / "b.zarr")["v"].values, values)


def test_a_store_that_cannot_keep_tasks_apart_refuses_them():
    pytest.importorskip("dask")
    zarr = pytest.importorskip("zarr")
    ds = xr.Dataset({"v": ("x", np.arange(20))}).chunk(x=3)
    encoding = {"v": {"chunks": (5,)}}
    with pytest.raises(UnsupportedError, match="would overlap"):
        ds.oz.to_omnizarr(zarr.storage.MemoryStore(), encoding=encoding)
    store = zarr.storage.MemoryStore()
    ds.oz.to_omnizarr(store, encoding=encoding, align_chunks=True)
    np.testing.assert_array_equal(opened(store)["v"].values, np.arange(20))


@pytest.mark.parametrize("region", ["auto", {"time": "auto", "x": slice(1, 3)}])
def test_regions_are_found_by_coordinates(region):
    store = {}
    whole = days(0, 6)
    whole.oz.to_omnizarr(store)
    part = whole.isel(time=slice(2, 4), x=slice(1, 3)) + 10
    part.oz.to_omnizarr(store, region=region)
    whole["v1"][2:4, 1:3] += 10
    np.testing.assert_array_equal(opened(store)["v1"].values, whole["v1"].values)
    with pytest.raises(KeyError, match="Not all values"):
        days(90, 2).oz.to_omnizarr(store, region="auto")


def test_modes(tmp_path):
    where = tmp_path / "a.zarr"
    days(0, 3).oz.to_omnizarr(where)
    with pytest.raises(FileExistsError):
        days(0, 3).oz.to_omnizarr(where)
    days(0, 2).oz.to_omnizarr(where, mode="w")
    assert opened(where).sizes["time"] == 2
    with pytest.raises(ValueError, match="non-pre-existing"):
        days(0, 2).rename(v0="other").oz.to_omnizarr(where, mode="r+")
    days(0, 2)[["v0"]].rename(v0="more").oz.to_omnizarr(where, mode="a")
    assert "more" in opened(where)
    with pytest.raises(UnsupportedError, match="written whole"):
        days(0, 2).oz.to_omnizarr(where, mode="a", format="nczarr")


def test_archives_are_closed(tmp_path):
    days(0, 3).oz.to_omnizarr(tmp_path / "a.zip")
    with opened(tmp_path / "a.zip") as found:
        xr.testing.assert_identical(found.load(), days(0, 3))


@pytest.mark.parametrize("codec", ["zstd", {"id": "zlib", "level": 3}, {"name": "gzip", "configuration": {"level": 2}}])
@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_codecs_are_understood_in_every_spelling(codec, form):
    store = {}
    ds = xr.Dataset({"v": ("x", np.arange(2000))})
    ds.oz.to_omnizarr(store, format=form, encoding={"v": {"compressors": codec}})
    name = codec if isinstance(codec, str) else codec.get("name") or codec["id"]
    assert oz.open(store)["v"].codecs[-1].name in (name, f"numcodecs.{name}")
    xr.testing.assert_identical(opened(store).load(), ds)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("form", ["zarr2", "zarr3", "nczarr"])
def test_the_engine_zarr_reads_it(tmp_path, form):
    pytest.importorskip("zarr")
    ds = days(0, 3)
    if form != "nczarr":  # which gives a variable without dimensions one of length 1
        ds["height"] = ((), 2.0)
    ds.oz.to_omnizarr(tmp_path / "a.zarr", format=form)
    xr.testing.assert_equal(xr.open_dataset(tmp_path / "a.zarr", engine="zarr").load(), ds)


@pytest.mark.parametrize("lazy", [{}, {"chunks": {}}])
def test_shards_that_came_with_other_dimensions_or_formats_are_left(tmp_path, lazy):
    pytest.importorskip("dask")
    ds = xr.Dataset({"v": (("t", "y", "x"), np.arange(256.0).reshape(4, 8, 8))})
    ds.oz.to_omnizarr(tmp_path / "a", encoding={"v": {"chunks": (1, 2, 2), "shards": (2, 4, 4)}})
    found = xr.open_dataset(tmp_path / "a", engine=OmnizarrBackend, **lazy)
    kept = found.oz.to_omnizarr(tmp_path / "same")
    assert kept["v"].shards == (2, 4, 4)
    for n, change in enumerate((lambda d: d.isel(t=0), lambda d: d.expand_dims("e"), lambda d: d.isel(t=0, y=0, x=0))):
        made = change(found).oz.to_omnizarr(tmp_path / f"changed{n}")
        assert made["v"].shards is None
        np.testing.assert_array_equal(made["v"][...], change(ds)["v"])
    old = found.oz.to_omnizarr(tmp_path / "old", zarr_format=2)
    assert old["v"].chunks == (1, 2, 2)
    np.testing.assert_array_equal(old["v"][...], ds["v"])


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (2, {"chunks": (2, 2), "shards": (4, 4)}),
        (3, {"chunks": (2, 2), "shards": (4,)}),
        (3, {"chunks": (2, 2), "shards": (3, 3)}),
    ],
)
def test_shards_that_are_asked_for_and_do_not_fit_are_an_error_with_a_name(tmp_path, form, words):
    ds = xr.Dataset({"v": (("y", "x"), np.zeros((8, 8)))})
    with pytest.raises(ValueError, match="shard") as error:
        ds.oz.to_omnizarr(tmp_path / "a", zarr_format=form, encoding={"v": words})
    assert "'/v'" in str(error.value)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(("name", "start"), [("out.nc", b"\x89HDF"), ("out.h5", b"\x89HDF"), ("out.cdf", b"CDF\x01")])
def test_names_of_files_make_files(tmp_path, monkeypatch, name, start):
    monkeypatch.chdir(tmp_path)
    ds = xr.Dataset({"v": ("x", np.arange(3.0))})
    ds.oz.to_omnizarr(name)
    assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(ExistsError):
        ds.oz.to_omnizarr(name)
    with pytest.raises(UnsupportedError, match="written whole"):
        ds.oz.to_omnizarr(name, append_dim="x")
    for where in (tmp_path / name, (tmp_path / name).as_uri()):
        (ds + 1).oz.to_omnizarr(where, mode="w")
    xr.testing.assert_equal(xr.open_dataset(name, engine=OmnizarrBackend).load(), ds + 1)


def test_folders_with_the_names_of_files_are_zarr(tmp_path):
    ds = xr.Dataset({"v": ("x", np.arange(3.0))})
    ds.oz.to_omnizarr(tmp_path / "a.nc", zarr_format=3)
    ds.oz.to_omnizarr(tmp_path / "a.nc", append_dim="x")
    assert oz.open(tmp_path / "a.nc")["v"].shape == (6,)
    ds.oz.to_omnizarr(f"file://{tmp_path}/b.nc#mode=zarr,file")
    assert (tmp_path / "b.nc").is_dir()


@pytest.mark.parametrize("form", ["zarr3", "zarr2", "nczarr", "netcdf4"])
@pytest.mark.parametrize("group", [None, "g"])
def test_what_is_there_is_kept_with_a_hint_that_can_be_followed(tmp_path, form, group):
    ds = xr.Dataset({"v": ("x", np.arange(3.0))})
    tree = xr.DataTree.from_dict({"/": ds})
    where = tmp_path / ("a.nc" if form == "netcdf4" else "a.zarr")
    ds.oz.to_omnizarr(where, format=form, group=group)
    targets = [where, oz.open(where, "r+")] if form.startswith("zarr") else [where]
    for target in targets:
        for one in (ds, ds["v"], tree):
            with pytest.raises(ExistsError, match='mode="w"') as error:
                one.oz.to_omnizarr(target, format=form, group=group)
            assert "overwrite=" not in str(error.value)
            assert ('mode="a"' in str(error.value)) == form.startswith("zarr")
