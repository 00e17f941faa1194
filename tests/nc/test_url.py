"""What a URL asks of the netCDF model when a dataset is opened or created."""

from __future__ import annotations

import json

import numpy as np
import pytest

from omnizarr.errors import UnsafeError, UnsupportedError
from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.tree import Group
from omnizarr.nc.types import INT
from omnizarr.nc.url import created, opened
from omnizarr.store.file import FileStore


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("NCRCENV_IGNORE", "1")


@pytest.mark.parametrize(
    ("where", "kind", "options"),
    [
        ("/x", None, {}),
        ("x.nc", None, {}),
        ("file:///x", None, {}),
        ("file:///x#mode=nczarr,file", "nczarr", {}),
        ("file:///x#mode=zarr", "zarr", {}),
        ("file:///x#mode=nczarr,noxarray", "nczarr", {"xarray": False}),
        ("file:///x#mode=zarr,noxarray,consolidated", "zarr", {"xarray": False, "consolidated": True}),
        ("file:///x#mode=classic", "classic", {}),
        ("file:///x#mode=netcdf-4", "netCDF-4", {}),
        ("file:///x#mode=bytes", None, {}),
        ("/x#mode=xarray", "zarr", {}),
    ],
)
def test_created(where, kind, options):
    place, found, asked = created(where, None)
    assert (place, found, asked) == ("x.nc" if where == "x.nc" else "/x", kind, options)
    assert opened(where) == (place, {"pure": True} if kind == "zarr" else {})


def test_a_kind_beside_a_url():
    assert created("file:///x#mode=nczarr", "nczarr3")[1] == "nczarr3"
    assert created("file:///x#mode=zarr", "zarr3")[1] == "zarr3"
    assert created("file:///x", "classic")[1] == "classic"
    with pytest.raises(UnsupportedError, match="asks for nczarr"):
        created("file:///x#mode=nczarr", "netCDF-4")


def test_what_is_far_away_stays_as_it_was_written():
    assert opened("s3://b/k") == ("s3://b/k", {})
    assert opened("s3://b/k#mode=zarr") == ("s3://b/k#mode=zarr", {"pure": True})
    assert created("https://h/x#mode=nczarr,s3", None)[:2] == ("https://h/x#mode=nczarr,s3", "nczarr")


def test_what_cannot_be_opened():
    for action in (opened, lambda one: created(one, None)):
        with pytest.raises(UnsupportedError, match="no store"):
            action("dap4://h/x")
    with pytest.raises(UnsafeError):
        opened("file:///x#mode=zip,file")


def tree():
    root = Group()
    root.add_var("v", INT, (root.add_dim("x", 3),))
    return root


@pytest.mark.parametrize("mode", ["nczarr,file", "zarr,file", "nczarr,noxarray", "nczarr,consolidated", "nczarr,zip"])
def test_from_end_to_end(mode, tmp_path):
    url = f"file://{tmp_path}/data.any#mode={mode}"
    source = create_source(url, tree())
    source.write(source.root.vars["v"], (slice(0, 3, 1),), np.arange(3, dtype="i4"))
    source.close()
    place = tmp_path / "data.any"
    assert place.is_file() == mode.endswith("zip")
    again = open_source(url)
    assert list(again.read(again.root.vars["v"], (slice(0, 3, 1),))) == [0, 1, 2]
    assert "#" not in again.name
    again.close()
    if place.is_dir():
        store = FileStore(place)
        attributes = json.loads(store.get("v/.zattrs"))
        assert ("_nczarr_array" in attributes) == mode.startswith("nczarr")
        assert ("_ARRAY_DIMENSIONS" in attributes) == ("noxarray" not in mode)
        assert store.exists(".zmetadata") or "consolidated" not in mode


def test_pure_hides_nczarr(tmp_path):
    root = tree()
    root.dims["x"].unlimited = True
    create_source(tmp_path / "d", root, "nczarr").close()
    assert open_source(f"file://{tmp_path}/d#mode=nczarr").root.dims["x"].unlimited
    assert not open_source(f"file://{tmp_path}/d#mode=zarr").root.dims["x"].unlimited


def test_the_separator_of_a_file_of_settings(tmp_path, monkeypatch):
    monkeypatch.delenv("NCRCENV_IGNORE")
    (tmp_path / "rc").write_text("ZARR.DIMENSION_SEPARATOR=/\n")
    monkeypatch.setenv("NCRCENV_RC", str(tmp_path / "rc"))
    root = Group()
    root.add_var("v", INT, (root.add_dim("x", 3), root.add_dim("y", 3)))
    source = create_source(f"file://{tmp_path}/d#mode=nczarr,file", root)
    source.write(source.root.vars["v"], (slice(0, 3, 1), slice(0, 3, 1)), np.ones((3, 3), "i4"))
    source.close()
    assert (tmp_path / "d/v/0/0").is_file()
