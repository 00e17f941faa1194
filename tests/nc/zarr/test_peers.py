"""What others read of what we write: netcdf-c in the newest and in an old release, zarr-python, xarray."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from omnizarr.nc.filters import BIT_GROOM, BIT_ROUND, GRANULAR
from omnizarr.nc.opening import create_source
from omnizarr.nc.source import Source, everything
from omnizarr.nc.tree import Attr, Filter, Group, Storage
from omnizarr.nc.types import CHAR, DOUBLE, FLOAT, INT, STRING, Atomic, Enum
from tests.nc.zarr.datasets import bounded, fill, read_by_netcdf4, simple, some_values, with_types

pytestmark = pytest.mark.peers

FILTERS = {
    "zlib": Storage(deflate=3),
    "shuffle": Storage(shuffle=True, deflate=3),
    "fletcher32": Storage(fletcher32=True),
    "all": Storage(shuffle=True, deflate=1, fletcher32=True),
    "bz2": Storage(filters=(Filter(307, (9,)),)),
    "zstd": Storage(filters=(Filter(32015, (5,)),)),
    "blosc": Storage(filters=(Filter(32001, (0, 0, 4, 0, 5, 1, 1)),)),
}
METHODS = {"groom": (BIT_GROOM, 3), "granular": (GRANULAR, 3), "round": (BIT_ROUND, 9)}


def compressed() -> Group:
    root = Group()
    dims = (root.add_dim("y", 50), root.add_dim("x", 40))
    for name, storage in FILTERS.items():
        root.add_var(name, FLOAT, dims, storage)
    root.add_var("text", STRING, dims[:1], Storage(shuffle=True, deflate=2))
    return root


def empty() -> Group:
    root = Group()
    t = root.add_dim("t", 0, unlimited=True)
    root.add_var("none", INT, (t,))
    root.add_var("some", DOUBLE, (root.add_dim("x", 5), t))
    root.add_var("unwritten", DOUBLE, (root.dims["x"],))
    root.add_dim("unused", 7)
    return root


CASES: dict[str, Any] = {"simple": simple, "types": with_types, "compressed": compressed, "empty": empty}


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> dict[str, tuple[Path, Source]]:
    made: dict[str, tuple[Path, Source]] = {}
    rng = np.random.default_rng(1)
    for name, define in CASES.items():
        place = tmp_path_factory.mktemp("d") / f"{name}.zarr"
        source = create_source(place, define(), "nczarr")
        if name == "compressed":
            for var in source.root.vars.values():
                source.write(var, everything(var), some_values(var.type, var.shape, rng))
        elif name != "empty":
            fill(source)
        source.close()
        made[name] = place, source
    return made


@pytest.fixture(scope="module")
def seen(written) -> dict[str, Any]:
    pytest.importorskip("netCDF4")
    return read_by_netcdf4({name: place for name, (place, _) in written.items()})


@pytest.mark.parametrize("case", CASES)
def test_netcdf_c_reads_the_same(case, written, seen):
    _, source = written[case]
    same_group(source, source.root, seen[case])


def same_group(source: Source, group: Group, found: dict[str, Any]) -> None:
    assert found["dims"] == {dim.name: [dim.size, dim.unlimited] for dim in group.dims.values()}
    same_attrs(group.attrs, found["attrs"])
    known = {name: var for name, var in group.vars.items() if isinstance(var.type, (Atomic, Enum))}
    assert list(found["vars"]) == list(known)
    for name, var in known.items():
        one = found["vars"][name]
        assert one["dims"] == [dim.name for dim in var.dims]
        same_attrs(var.attrs, one["attrs"])
        values = source.read(var, everything(var))
        if var.type == STRING:
            assert one["values"][1] == values.tolist()
        else:
            np.testing.assert_array_equal(numbers(one["values"]), values)
        assert one["filters"]["zlib"] == bool(var.storage.deflate)
    assert list(found["groups"]) == list(group.groups)
    for name, inner in group.groups.items():
        same_group(source, inner, found["groups"][name])


def numbers(value: list[Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(value[2]), value[0]).reshape(value[1])


def same_attrs(attrs: dict[str, Attr], found: dict[str, Any]) -> None:
    assert set(found) >= {name for name, attr in attrs.items() if isinstance(attr.type, Atomic)}
    for name, attr in attrs.items():
        if attr.type == CHAR:
            assert found[name] == ["text", attr.value.decode()], name
        elif attr.type == STRING:
            assert found[name] == ["strings", attr.value.tolist()], name
        elif isinstance(attr.type, Atomic):
            np.testing.assert_array_equal(numbers(found[name]).reshape(-1), attr.value, name)
            assert np.dtype(found[name][0]) == attr.value.dtype, name


def test_netcdf_c_sees_the_filters(seen):
    filters = {name: var["filters"] for name, var in seen["compressed"]["vars"].items()}
    assert filters["all"]["fletcher32"]
    assert filters["all"]["shuffle"]
    assert filters["bz2"]["bzip2"]
    assert filters["zstd"]["zstd"]
    assert filters["blosc"]["blosc"]


@pytest.mark.parametrize("case", ["simple", "types", "empty"])
def test_zarr_python_reads_the_same(case, written):
    zarr = pytest.importorskip("zarr")
    place, source = written[case]
    group = zarr.open_group(place, mode="r")
    for name, var in source.root.vars.items():
        if isinstance(var.type, (Atomic, Enum)) and var.type != STRING:
            values = source.read(var, everything(var))
            np.testing.assert_array_equal(group[name][...], values.reshape(group[name].shape))
    assert group.attrs["t5"] == "é €" if case != "empty" else not group.attrs.get("t5")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ["simple", "types", "compressed", "empty"])
def test_xarray_opens_it_with_dimensions_and_attributes(case, written):
    xarray = pytest.importorskip("xarray")
    place, source = written[case]
    with xarray.open_zarr(place, decode_cf=False) as dataset:
        for name, var in source.root.vars.items():
            assert dataset[name].dims == (tuple(dim.name for dim in var.dims) or ("_scalar_",))
        if case != "empty":
            assert dataset["v_int"].attrs["range"] == [1, 2] if case != "compressed" else True
        dataset.load()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["zarr", "zarr3", "nczarr3"])
def test_other_kinds_open_in_zarr_python_and_xarray(kind, tmp_path):
    zarr, xarray = pytest.importorskip("zarr"), pytest.importorskip("xarray")
    source = create_source(tmp_path / "d.zarr", with_types() if kind == "nczarr3" else simple(), kind)
    fill(source)
    source.close()
    group = zarr.open_group(tmp_path / "d.zarr", mode="r")
    for name in ("v_int", "v_double", "c", "scalar"):
        var = source.root.vars[name]
        np.testing.assert_array_equal(group[name][...], source.read(var, everything(var)))
    with xarray.open_zarr(tmp_path / "d.zarr", consolidated=False) as dataset:
        assert dataset["v_int"].dims == ("t", "x")
        assert dataset["scalar"].dims == ()
        dataset.load()


def test_netcdf_c_reads_plain_zarr(tmp_path):
    pytest.importorskip("netCDF4")
    source = create_source(tmp_path / "d.zarr", simple(), "zarr")
    fill(source)
    source.close()
    found = read_by_netcdf4({"d": tmp_path / "d.zarr"}, "zarr,file")["d"]
    for name in ("v_int", "v_double", "filled"):
        var = source.root.vars[name]
        np.testing.assert_array_equal(numbers(found["vars"][name]["values"]), source.read(var, everything(var)))
        assert found["vars"][name]["dims"] == [dim.name for dim in var.dims]


QUANTIZE = """
import sys, netCDF4, numpy as np
values = np.load(sys.argv[1])
modes = {"groom": ("BitGroom", 3), "granular": ("GranularBitRound", 3), "round": ("BitRound", 9)}
made = {}
for kind in ("f4", "f8"):
    with netCDF4.Dataset(f"file://{sys.argv[2]}{kind}#mode=nczarr,file", "w") as dataset:
        dataset.createDimension("x", len(values))
        for name, (mode, digits) in modes.items():
            var = dataset.createVariable(name, kind, ("x",), zlib=True, quantize_mode=mode, significant_digits=digits)
            var.set_auto_maskandscale(False)
            var[:] = values.astype(kind)
    with netCDF4.Dataset(f"file://{sys.argv[2]}{kind}#mode=nczarr,file") as dataset:
        dataset.set_auto_maskandscale(False)
        made.update({name + kind: dataset[name][:] for name in modes})
np.savez(sys.argv[3], **made)
"""


def test_rounding_is_netcdf_c_s_bit_for_bit(tmp_path, rng):
    pytest.importorskip("netCDF4")
    import sys

    values = np.concatenate([rng.normal(size=3000) * 10.0 ** rng.integers(-30, 30, 3000), [0.0, np.nan, 9.96921e36]])
    values = np.concatenate([values, 10.0 ** np.arange(-20, 20), 2.0 ** np.arange(-20, 20)])
    np.save(tmp_path / "in.npy", values)
    call = [sys.executable, "-c", QUANTIZE, str(tmp_path / "in.npy"), str(tmp_path / "q"), str(tmp_path / "out.npz")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, preexec_fn=bounded)
    assert done.returncode == 0, done.stderr[-2000:]
    with np.load(tmp_path / "out.npz") as expected:
        for kind in (FLOAT, DOUBLE):
            root = Group()
            x = root.add_dim("x", len(values))
            for name, method in METHODS.items():
                root.add_var(name, kind, (x,), Storage(deflate=1, quantize=method))
            source = create_source({}, root, "nczarr")
            for name, var in source.root.vars.items():
                source.write(var, everything(var), values.astype(kind.numpy))
                got, want = source.read(var, everything(var)), expected[name + kind.text]
                same = (got.view(f"u{got.itemsize}") == want.view(f"u{got.itemsize}")) | np.isnan(got)
                assert same.all(), (name, kind.name, values[~same][:5], got[~same][:5], want[~same][:5])


@pytest.mark.skipif(shutil.which("ncdump") is None, reason="needs the tools of netcdf-c")
def test_netcdf_c_4_9_0_reads_its_own_set_of_metadata(tmp_path):
    version = subprocess.run(["ncdump"], capture_output=True, text=True)
    if "4.9.0" not in version.stderr + version.stdout:
        pytest.skip("the tools of netcdf-c are of another version")
    root = Group()
    x = root.add_dim("x", 3)
    root.attrs["title"] = Attr.of_text("title", "text")
    var = root.add_var("v", INT, (x,))
    var.attrs["n"] = Attr.of_values("n", DOUBLE, [1.5])
    root.add_var("scalar", INT)
    root.add_var("c", CHAR, (x,))
    root.add_group("g").add_var("w", DOUBLE, (x,))
    place = tmp_path / "d.zarr"
    source = create_source(place, root, "nczarr", also="4.9.0")
    source.write(source.root.vars["v"], (slice(0, 3, 1),), np.arange(3, dtype="i4"))
    source.write(source.root.vars["scalar"], (), np.array(5, "i4"))
    source.close()
    call = ["ncdump", f"file://{place}#mode=nczarr,file"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60, preexec_fn=bounded)
    assert done.returncode == 0, done.stderr
    for line in ("int v(x) ;", "v:n = 1.5 ;", ':title = "text" ;', "v = 0, 1, 2 ;", "scalar = 5 ;", "double w(x) ;"):
        assert line in done.stdout
    pytest.importorskip("netCDF4")
    found = read_by_netcdf4({"d": place})["d"]
    assert list(found["vars"]) == ["v", "scalar", "c"]
    assert found["vars"]["v"]["dims"] == ["x"]
