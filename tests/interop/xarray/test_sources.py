"""A dataset is not replaced by what is yet to be read from it."""

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError, UnsupportedError

xr = pytest.importorskip("xarray")

from omnizarr.interop.xarray import OmnizarrBackend  # noqa: E402 - only where xarray is

PACKED = {"v": {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -1}}


def made(where, form, **options):
    ds = xr.Dataset({"v": ("x", np.arange(4.0))})
    ds.oz.to_omnizarr(where, format=form, encoding=PACKED, **options)
    return ds


@pytest.mark.parametrize("form", ["zarr3", "nczarr"])
@pytest.mark.parametrize("lazy", [{}, {"chunks": {}}, {"chunks": {}, "inline_array": True}])
def test_a_dataset_does_not_replace_itself(tmp_path, form, lazy):
    where = tmp_path / "a.zarr"
    old = made(where, form)
    ds = xr.open_dataset(where, engine=OmnizarrBackend, **lazy)
    for changed in (ds, ds.isel(x=slice(1, 3)) if not lazy else ds + 1):
        with pytest.raises(ConflictError, match="they would replace"):
            changed.oz.to_omnizarr(str(where), mode="w", format=form)
    xr.testing.assert_equal(xr.open_dataset(where, engine=OmnizarrBackend).load(), old)
    ds.load().oz.to_omnizarr(where, mode="w", format=form)
    xr.testing.assert_equal(xr.open_dataset(where, engine=OmnizarrBackend).load(), old)


def test_groups_beside_each_other_are_apart(tmp_path):
    old = made(tmp_path, "zarr3", group="a")
    ds = xr.open_dataset(tmp_path, engine=OmnizarrBackend, group="a")
    ds.oz.to_omnizarr(tmp_path, mode="w", group="ab")
    xr.testing.assert_equal(xr.open_dataset(tmp_path, engine=OmnizarrBackend, group="ab").load(), old)
    for target, group in ((tmp_path, "a"), (oz.open(tmp_path, "r+"), "a"), (tmp_path, None)):
        with pytest.raises(ConflictError):
            ds.oz.to_omnizarr(target, mode="w", group=group)


def test_what_to_dask_reads_is_not_replaced_either():
    pytest.importorskip("dask")
    store = {}
    made(store, "zarr3")
    ds = xr.Dataset({"v": ("x", oz.open(store)["v"].to_dask() + 1)})
    with pytest.raises(ConflictError):
        ds.oz.to_omnizarr(store, mode="w")


@pytest.mark.parametrize("lazy", [{}, {"chunks": {}}])
def test_links_lead_to_the_same_place(tmp_path, lazy):
    pytest.importorskip("dask")
    old = made(tmp_path / "run.zarr", "zarr3")
    (tmp_path / "latest.zarr").symlink_to(tmp_path / "run.zarr")
    for source, target in (("latest.zarr", "run.zarr"), ("run.zarr", "latest.zarr")):
        ds = xr.open_dataset(tmp_path / source, engine=OmnizarrBackend, **lazy)
        with pytest.raises(ConflictError):
            ds.oz.to_omnizarr(tmp_path / target, mode="w")
    xr.testing.assert_equal(xr.open_dataset(tmp_path / "run.zarr", engine=OmnizarrBackend).load(), old)


@pytest.mark.parametrize("engine", ["zarr", "netcdf4", "h5netcdf", "scipy"])
@pytest.mark.parametrize("lazy", [{}, {"chunks": {}}])
def test_other_engines_are_known_as_sources(tmp_path, engine, lazy):
    pytest.importorskip({"zarr": "zarr", "netcdf4": "netCDF4"}.get(engine, engine))
    pytest.importorskip("dask")
    form = {"zarr": "zarr3", "scipy": "netcdf3"}.get(engine, "netcdf4")
    where = tmp_path / ("a.zarr" if engine == "zarr" else "a.nc")
    old = made(where, form)
    with xr.open_dataset(where, engine=engine, **lazy) as ds:
        for changed in (ds, ds.isel(x=slice(1, 3)) if not lazy else ds + 1):
            with pytest.raises(ConflictError):
                changed.oz.to_omnizarr(where, mode="w", format=form)
        xr.testing.assert_equal(ds.load(), old)
        ds.oz.to_omnizarr(where, mode="w", format=form)
    xr.testing.assert_equal(xr.open_dataset(where, engine=OmnizarrBackend).load(), old)


def test_groups_that_other_engines_read_are_apart(tmp_path):
    pytest.importorskip("zarr")
    old = made(tmp_path, "zarr3", group="a")
    ds = xr.open_dataset(tmp_path, engine="zarr", group="a")
    with pytest.raises(ConflictError):
        ds.oz.to_omnizarr(tmp_path, mode="w", group="a")
    ds.oz.to_omnizarr(tmp_path, mode="w", group="b")
    xr.testing.assert_equal(xr.open_dataset(tmp_path, engine=OmnizarrBackend, group="b").load(), old)


def test_a_file_is_replaced_when_all_of_it_is_read(tmp_path):
    old = made(tmp_path / "a.nc", "netcdf4")
    ds = xr.open_dataset(tmp_path / "a.nc", engine=OmnizarrBackend)
    with pytest.raises(UnsupportedError):
        ds.oz.to_omnizarr(tmp_path / "a.nc", mode="w", format="zarr3")
    ds.oz.to_omnizarr(tmp_path / "a.nc", mode="w", format="netcdf4")
    xr.testing.assert_equal(xr.open_dataset(tmp_path / "a.nc", engine=OmnizarrBackend).load(), old)


def test_lazy_views_are_written_by_whoever_writes(tmp_path):
    """xarray takes whatever has chunks for an array that a chunk manager computes, and there is none for views."""
    old = np.arange(12.0).reshape(3, 4)
    a = oz.create_array(tmp_path / "a.zarr", data=old, chunks=(2, 2))
    packed = {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -1}
    ds = xr.Dataset({"a": xr.Variable(("y", "x"), a.lazy), "b": xr.Variable("x", a.lazy[1, ::-1], {}, packed)})
    assert not ds.chunks
    ds.oz.to_omnizarr(tmp_path / "b.zarr")
    ds.oz.to_omnizarr(tmp_path / "b.zarr", mode="a")
    ds.oz.to_omnizarr(tmp_path / "b.ncz", format="nczarr")
    ds.oz.to_omnizarr(tmp_path / "b.nc", format="netcdf4")
    pytest.importorskip("zarr")
    pytest.importorskip("netCDF4")
    ds.to_zarr(tmp_path / "c.zarr")
    ds.to_netcdf(tmp_path / "c.nc")
    for name in ("b.zarr", "b.ncz", "b.nc", "c.zarr", "c.nc"):
        with xr.open_dataset(tmp_path / name, engine=OmnizarrBackend) as found:
            np.testing.assert_array_equal(found["a"], old)
            np.testing.assert_array_equal(found["b"], old[1, ::-1])


def test_views_of_a_dataset_do_not_replace_it(tmp_path):
    old = made(tmp_path / "a.zarr", "zarr3")
    ds = xr.Dataset({"v": xr.Variable("x", oz.open(tmp_path / "a.zarr")["v"].lazy[::-1])})
    for target in (tmp_path / "a.zarr", oz.open(tmp_path / "a.zarr", "r+")):
        with pytest.raises(ConflictError):
            ds.oz.to_omnizarr(target, mode="w")
    xr.testing.assert_equal(xr.open_dataset(tmp_path / "a.zarr", engine=OmnizarrBackend).load(), old)


def both(where, **lazy):
    """Store a dataset, and return it with what reads it."""
    ds = xr.Dataset({"v": (("t", "x"), np.arange(32.0).reshape(4, 8)), "w": ("x", np.arange(8.0))})
    ds.oz.to_omnizarr(where, encoding={"v": {"chunks": (2, 4)}, "w": {"chunks": (4,)}})
    return ds, xr.open_dataset(where, engine=OmnizarrBackend, **lazy)


MOVED = {
    "reversed": (lambda ds: ds.isel(x=slice(None, None, -1)), {"mode": "a"}),
    "rolled": (lambda ds: ds.roll(x=1), {"region": {"x": slice(0, 8)}}),
    "less its mean": (lambda ds: ds[["v"]] - ds[["v"]].mean(), {"mode": "a"}),
    "from another": (lambda ds: ds.assign(w=ds["w"] + ds["v"].isel(t=0)), {"mode": "r+"}),
    "cut anew": (lambda ds: ds.chunk(x=3), {"mode": "a"}),
}
KEPT = {
    "itself": (lambda ds: ds, {"mode": "a"}),
    "changed": (lambda ds: ds + 1, {"mode": "a"}),
    "turned": (lambda ds: ds.transpose("x", "t") * 2, {"mode": "a"}),
    "a part": (lambda ds: ds.isel(x=slice(3, 6)) + 1, {"region": {"x": slice(3, 6)}}),
    "from elsewhere": (lambda ds: ds[["v"]].isel(t=slice(2)) + 9, {"region": {"t": slice(2, 4)}}),
    "what is not written": (lambda ds: ds[["w"]] + ds["v"].isel(t=0), {"mode": "a"}),
    "in one block": (lambda ds: ds.chunk(t=-1, x=-1).isel(x=slice(None, None, -1)), {"mode": "a"}),
}


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("case", MOVED)
def test_no_task_reads_what_another_overwrites(tmp_path, case, inline):
    pytest.importorskip("dask")
    change, options = MOVED[case]
    old, ds = both(tmp_path / "s.zarr", chunks={}, inline_array=inline)
    with pytest.raises(ConflictError, match="may be overwritten before"):
        change(ds).oz.to_omnizarr(tmp_path / "s.zarr", **options)
    xr.testing.assert_equal(xr.open_dataset(tmp_path / "s.zarr", engine=OmnizarrBackend).load(), old)
    change(ds.load()).oz.to_omnizarr(tmp_path / "s.zarr", **options)


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("case", KEPT)
def test_tasks_may_overwrite_what_they_read_alone(tmp_path, case, inline):
    pytest.importorskip("dask")
    change, options = KEPT[case]
    old, ds = both(tmp_path / "s.zarr", chunks={}, inline_array=inline)
    change(ds).oz.to_omnizarr(tmp_path / "s.zarr", **options)
    found = xr.open_dataset(tmp_path / "s.zarr", engine=OmnizarrBackend).isel(options.get("region", {}))
    wanted = change(old)
    for name in wanted:
        np.testing.assert_array_equal(found[name].transpose(*wanted[name].dims), wanted[name])


@pytest.mark.parametrize("kind", ["f8", "i4", "O"])
def test_lazy_variables_change_places(tmp_path, kind):
    """Without Dask, all of them are read before one is written."""
    a, b = np.array([1, 2, 3]), np.array([4, 5, 6])
    if kind == "O":
        a, b = a.astype(str), b.astype(str)
    xr.Dataset({"a": ("x", a.astype(kind)), "b": ("x", b.astype(kind))}).oz.to_omnizarr(tmp_path / "s.zarr")
    ds = xr.open_dataset(tmp_path / "s.zarr", engine=OmnizarrBackend)
    ds.rename(a="b", b="a").isel(x=slice(None, None, -1)).oz.to_omnizarr(tmp_path / "s.zarr", mode="a")
    found = xr.open_dataset(tmp_path / "s.zarr", engine=OmnizarrBackend)
    assert found["a"].values.tolist() == b[::-1].astype(kind).tolist()
    assert found["b"].values.tolist() == a[::-1].astype(kind).tolist()


def test_what_was_turned_before_it_was_cut_is_known_as_turned(tmp_path):
    pytest.importorskip("dask")
    old, ds = both(tmp_path / "s.zarr")
    turned = ds.isel(x=slice(None, None, -1)).chunk(x=4, t=2)
    with pytest.raises(ConflictError):
        turned.oz.to_omnizarr(tmp_path / "s.zarr", mode="a")
    (ds.chunk(x=4, t=2) + 1).oz.to_omnizarr(tmp_path / "s.zarr", mode="a")
    xr.testing.assert_equal(xr.open_dataset(tmp_path / "s.zarr", engine=OmnizarrBackend).load(), old + 1)
