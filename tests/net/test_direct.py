"""Files that open as they are: scanned where they lie, read by the kernel."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest

import omnizarr as oz
from omnizarr import refs
from omnizarr.cli.main import main
from omnizarr.errors import NotFoundError, ReadOnlyError, StaleReferenceError, StoreError, UnsupportedError
from omnizarr.refs.scanners.dispatch import scan_place
from omnizarr.refs.scanners.source import SourceFile
from omnizarr.refset.model import Chunks, References
from omnizarr.refset.store import store_of
from tests.net.serving import Served

VALUES = np.arange(60, dtype="f4").reshape(6, 10)
FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4", "NETCDF4_CLASSIC"]


def make_netcdf(path: Path, kind: str = "NETCDF4") -> Path:
    with netCDF4.Dataset(path, "w", format=kind) as made:
        made.createDimension("t", None)
        made.createDimension("x", 10)
        made.title = "an example"
        options = {"zlib": True, "chunksizes": (2, 5)} if kind.startswith("NETCDF4") else {}
        variable = made.createVariable("v", "f4", ("t", "x"), **options)
        variable.units = "K"
        variable[:] = VALUES
        made.createVariable("n", "i2", ("x",))[:] = np.arange(10)
        made.createVariable("letters", "S1", ("x",))[:] = np.array(list("abcdefghij"), "S1")
    return path


@pytest.fixture(params=FORMATS)
def netcdf(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return make_netcdf(tmp_path / "x.nc", request.param)


def test_a_file_of_this_machine(netcdf):
    for where in (netcdf, str(netcdf), netcdf.as_uri(), f"{netcdf.as_uri()}#mode=bytes"):
        group = oz.open(where)
        np.testing.assert_array_equal(group["v"][1:5:2, ::3], VALUES[1:5:2, ::3])
    assert group["v"].attrs["units"] == "K"
    assert group.attrs["title"] == "an example"
    with pytest.raises((ReadOnlyError, UnsupportedError)):
        oz.open(netcdf, mode="a")
    assert netcdf.read_bytes()[:3] in (b"CDF", b"\x89HD")


@pytest.mark.parametrize("ending", ["", "#mode=bytes", "#bytes"])
def test_a_file_on_a_server(netcdf, server: Served, ending):
    server.files["/d/x.nc"] = netcdf.read_bytes()
    group = oz.open(f"{server.url}/d/x.nc{ending}")
    assert server.requests == 1
    np.testing.assert_array_equal(group["v"][...], VALUES)
    np.testing.assert_array_equal(group["n"][...], np.arange(10))
    assert {path for path, _ in server.asked} == {"/d/x.nc"}


def test_a_dataset_on_a_server(netcdf, server: Served):
    server.files["/d/x.nc"] = netcdf.read_bytes()
    with netCDF4.Dataset(netcdf) as other, oz.Dataset(f"{server.url}/d/x.nc#mode=bytes") as found:
        assert server.requests == 1
        assert found.data_model == other.data_model
        assert found.variables.keys() == other.variables.keys()
        for name, variable in other.variables.items():
            np.testing.assert_array_equal(found[name][...], variable[...])
            assert found[name].dtype == variable.dtype
        assert found.title == other.title
    with pytest.raises(UnsupportedError, match="cannot be changed"):
        oz.Dataset(f"{server.url}/d/x.nc", "a")


def test_what_is_on_the_server_can_be_strings_and_groups(server: Served, tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as made:
        inner = made.createGroup("a/b")
        made.createDimension("x", 3)
        inner.createVariable("words", str, ("x",))[:] = np.array(["one", "two", "three"], object)
        inner.createVariable("n", "i8", ("x",))[:] = [1, 2, 3]
        inner.createVariable("nothing", "f8", ("x",))
    server.files["/d/x.nc"] = (tmp_path / "x.nc").read_bytes()
    found = oz.Dataset(f"{server.url}/d/x.nc")["a/b"]
    assert list(found["words"][:]) == ["one", "two", "three"]
    assert list(found["n"][::2]) == [1, 3]
    assert found["nothing"][:].mask.all()


def test_commands(server: Served, tmp_path, capsys):
    server.files["/d/x.nc"] = make_netcdf(tmp_path / "x.nc").read_bytes()
    url = f"{server.url}/d/x.nc"
    for words in (["info", url], ["tree", url], ["ls", url], ["dump", "-h", url]):
        assert main(words) == 0
        printed = capsys.readouterr().out
        assert "v" in printed
    for place in (url, str(tmp_path / "x.nc")):
        assert main(["cat", f"{place}/n"]) == 0
        assert "9" in capsys.readouterr().out
    assert main(["copy", url, str(tmp_path / "copy.zarr")]) == 0
    np.testing.assert_array_equal(oz.open(tmp_path / "copy.zarr")["v"][...], VALUES)
    assert main(["diff", url, str(tmp_path / "copy.zarr")]) in (0, 1)
    assert main(["info", str(tmp_path / "x.nc")]) == 0


def test_a_file_that_changes_behind_its_back(server: Served, tmp_path):
    path = make_netcdf(tmp_path / "x.nc")
    server.files["/d/x.nc"] = path.read_bytes()
    here, there = oz.open(path)["v"], oz.open(f"{server.url}/d/x.nc")["v"]
    server.files["/d/x.nc"] = server.files["/d/x.nc"][:-8] + b"00000000"
    with pytest.raises(StaleReferenceError):
        there[...]
    path.write_bytes(path.read_bytes() + b"0")
    with pytest.raises(StaleReferenceError):
        here[...]


def test_what_is_no_such_file(server: Served):
    server.files["/d/page"] = b"<!doctype html><p>"
    server.files["/d/text"] = b"some words"
    with pytest.raises(NotFoundError, match="nothing there"):
        oz.open(server.url + "/d/none.nc")
    with pytest.raises(UnsupportedError, match="HTML page"):
        oz.open(server.url + "/d/page")
    with pytest.raises(UnsupportedError, match="text file"):
        oz.open(server.url + "/d/text")
    server.odd["/d/whole"] = lambda handler, _data, _asked: handler.reply(200, b"CDF\1" + bytes(100_000))
    with pytest.raises(StoreError, match="ignores Range"):
        oz.open(server.url + "/d/whole")


def large(path: Path, **options: object) -> Path:
    """Make a file of 256 chunks, large for its metadata."""
    with h5py.File(path, "w", **options) as made:
        made.attrs["title"] = "an example"
        array = made.create_dataset("v", (256, 16, 1024), "f4", chunks=(1, 16, 1024))
        for i in range(256):
            array[i] = i
    return path


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_few_requests_for_the_metadata_of_a_large_file(server: Served, tmp_path, libver):
    server.files["/d/x.h5"] = large(tmp_path / "x.h5", libver=libver).read_bytes()
    array = oz.open(server.url + "/d/x.h5")["v"]
    assert server.requests <= 8
    assert server.sent <= 1 << 20
    server.forget()
    np.testing.assert_array_equal(array[100:110], np.broadcast_to(np.arange(100, 110)[:, None, None], (10, 16, 1024)))
    assert server.requests <= 2


def test_a_hundred_neighbours_are_one_request(server: Served, tmp_path):
    (tmp_path / "x.bin").write_bytes(np.arange(100 * 256, dtype="<i4").tobytes())
    server.files["/d/x.bin"] = (tmp_path / "x.bin").read_bytes()
    document = {"zarr_format": 2, "shape": [100, 256], "chunks": [1, 256], "dtype": "<i4", "order": "C"}
    references = References(
        {"v/.zarray": json.dumps({**document, "fill_value": 0, "compressor": None, "filters": None}).encode(),
         ".zgroup": b'{"zarr_format": 2}'},
        {"v": Chunks.ranges((100, 1), 0, 1024 * np.arange(100), 1024)},
        [server.url + "/d/x.bin"],
    )  # fmt: skip
    store = store_of(references, uri="example", allow=[server.url + "/d/"])
    np.testing.assert_array_equal(oz.open(store)["v"][...].ravel(), np.arange(100 * 256))
    assert server.requests == 1


def test_stamps_of_files_on_servers(server: Served):
    server.files["/d/x"] = b"some bytes"
    stamp = SourceFile(server.url + "/d/x").stamp()
    assert (stamp.size, stamp.modified) == (10, 784_111_777 * 10**9)
    assert stamp.etag


def serve_folder(server: Served, folder: Path, at: str) -> None:
    files = (path for path in folder.rglob("*") if path.is_file())
    server.files |= {f"{at}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files}


@pytest.mark.parametrize("dialect", ["zarr2", "zarr3"])
def test_zarr_on_a_server(server: Served, tmp_path, dialect):
    group = oz.open_group(tmp_path / "x.zarr", mode="w", format=dialect)
    group.create_array("a/v", data=VALUES, chunks=(2, 5), attrs={"units": "K"})
    group.consolidate()
    serve_folder(server, tmp_path / "x.zarr", "/d/x.zarr")
    url = f"{server.url}/d/x.zarr"
    for where, path in ((url, "a/v"), (url + "/", "a/v"), (url + "/a/v", None)):
        np.testing.assert_array_equal(oz.open(where, path=path)[1:, ::2], VALUES[1:, ::2])
    assert list(oz.open(url)["a"]) == ["v"]
    assert oz.open(url)["a/v"].attrs["units"] == "K"
    with pytest.raises(NotFoundError):
        oz.open(url + "/none")
    with pytest.raises(ReadOnlyError):
        oz.open(url, mode="r+")


@pytest.mark.parametrize("form", ["set.json", "set.json.zst", "set.parq"])
def test_reference_sets_on_a_server(server: Served, tmp_path, form):
    (tmp_path / "d").mkdir()
    data = make_netcdf(tmp_path / "d" / "x.nc")
    found = scan_place(str(data))
    found.stamps, found.urls = {}, ["x.nc"]
    refs.write(found, tmp_path / "d" / form)
    serve_folder(server, tmp_path / "d", "/d")
    group = oz.open(f"{server.url}/d/{form}")
    np.testing.assert_array_equal(group["v"][...], VALUES)
    with pytest.raises(ReadOnlyError):
        oz.open(f"{server.url}/d/{form}", mode="r+")
