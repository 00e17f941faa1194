"""What is not Zarr: each is called what it is, and opening it says so and what to do."""

from __future__ import annotations

import gzip
import io
import os
import socket
import stat
import struct
import tarfile
import zipfile
from typing import Any

import numpy as np
import pytest

import omnizarr as oz


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


def zipped(**entries: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, value in entries.items():
            archive.writestr(name, value)
    return file.getvalue()


def tarred() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return file.getvalue()


FILES: dict[str, tuple[str, bytes]] = {
    "picture.png": ("PNG image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    "picture.zarr": ("PNG image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    "picture.jpg": ("JPEG image", b"\xff\xd8\xff\xe0\0\x10JFIF\0"),
    "picture.gif": ("GIF image", b"GIF89a\1\0\1\0"),
    "page.html": ("HTML page", b"<!DOCTYPE html>\n<html><title>404</title></html>"),
    "page.zarr": ("HTML page", b"\n  <HTML lang=en><body>Sign in</body></HTML>"),
    "list.xml": ("XML document", b"<?xml version='1.0'?><ListBucketResult/>"),
    "old.hdf": ("HDF4 file", b"\x0e\x03\x13\x01" + bytes(28)),
    "classic.nc": ("netCDF classic file", b"CDF\x01" + bytes(28)),
    "offset64.nc": ("netCDF classic file", b"CDF\x02" + bytes(28)),
    "data64.nc": ("netCDF classic file", b"CDF\x05" + bytes(28)),
    "netcdf4.nc": ("HDF5 file", b"\x89HDF\r\n\x1a\n" + bytes(88)),
    "user-block.h5": ("HDF5 file", bytes(512) + b"\x89HDF\r\n\x1a\n" + bytes(88)),
    "no-suffix": ("HDF5 file", b"\x89HDF\r\n\x1a\n" + bytes(88)),
    "little.tif": ("TIFF file", b"II*\0\x08\0\0\0\0\0"),
    "big.tif": ("TIFF file", b"MM\0*\0\0\0\x08\0\0"),
    "large.tif": ("TIFF file", b"II+\0\x08\0\0\0"),
    "forecast.grib2": ("GRIB file", b"GRIB\0\0\0\x02" + bytes(8)),
    "table.parquet": ("parquet file", b"PAR1" + bytes(12) + b"PAR1"),
    "array.npy": ("NumPy file", npy()),
    "archive.gz": ("gzip file", gzip.compress(b"abc")),
    "archive.tar": ("tar file", tarred()),
    "archive.zst": ("zstd file", b"\x28\xb5\x2f\xfd\x04\0\0"),
    "paper.pdf": ("PDF document", b"%PDF-1.7\n"),
    "settings.json": ("JSON document", b'{"a": [1, 2, 3]}'),
    "notes.txt": ("text file", "Zürich, 21 °C\n".encode()),
    "table.csv": ("text file", b"a,b\n1,2\n"),
    "empty.zarr": ("empty file", b""),
    "noise.bin": ("binary file", bytes(range(256))),
    "plain.zip": ("zip file", zipped(a=b"1", b=b"2")),
    "void.zip": ("zip file", zipped()),
    "arrays.npz": ("zip file", zipped(**{"a.npy": npy()})),
}
OPENED = ("netCDF", "HDF5", "TIFF", "GRIB", "reference")
"""What opens to be read, as far as it is whole."""
CURED = ("netCDF", "HDF5", "TIFF", "GRIB", "parquet", "NumPy", "gzip", "tar", "zstd", "HTML")


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path, name):
    what, content = FILES[name]
    where = tmp_path / name
    where.write_bytes(content)
    found = oz.detect(where)
    assert (found.what, found.format, found.kind) == (what, "", "")
    assert found.reason
    if what.startswith(OPENED):
        assert_not_written_to(where, what)
    else:
        assert_refused(where, what)


@pytest.mark.parametrize("name", [name for name, (what, _) in FILES.items() if what.startswith(CURED)])
def test_files_that_something_can_be_done_about(tmp_path, name):
    where = tmp_path / name
    where.write_bytes(FILES[name][1])
    what = FILES[name][0]
    refused = assert_not_written_to(where, what) if what.startswith(OPENED) else assert_refused(where, what)
    assert "\n" in str(refused)  # the hint follows the message


def assert_not_written_to(where: Any, what: str) -> oz.OmnizarrError:
    """Whoever wants to change it is told that it is something else."""
    content = where.read_bytes()
    with pytest.raises((oz.errors.ReadOnlyError, oz.errors.UnsupportedError)) as caught:
        oz.open(where, mode="a")
    assert isinstance(caught.value, oz.errors.ReadOnlyError) or what in str(caught.value)
    assert where.read_bytes() == content
    return caught.value


def test_damaged_files_are_called_so(tmp_path):
    for name in ("offset64.nc", "netcdf4.nc", "little.tif", "large.tif"):
        where = tmp_path / name
        whole = FILES[name][1]
        where.write_bytes(whole[: max(8, len(whole) - 9)])
        with pytest.raises(oz.errors.CorruptError, match=name):
            oz.open(where)


def assert_refused(where: Any, what: str) -> oz.OmnizarrError:
    """Opening a place fails, and the message says what it is."""
    with pytest.raises((oz.errors.NotFoundError, oz.errors.UnsupportedError)) as caught:
        oz.open(where)
    assert what in str(caught.value)
    with pytest.raises((oz.errors.NotFoundError, oz.errors.UnsupportedError)):
        oz.open_array(where)
    with pytest.raises((oz.errors.NotFoundError, oz.errors.UnsupportedError)):
        oz.open_group(where)
    return caught.value


def test_an_empty_directory(tmp_path):
    found = oz.detect(tmp_path)
    assert (found.what, found.format, found.kind, found.near) == ("empty directory", "", "", ())
    assert_refused(tmp_path, "empty directory")


def test_a_directory_of_pictures(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(FILES["picture.png"][1])
    found = oz.detect(tmp_path)
    assert (found.what, found.format, found.near) == ("directory", "", ())
    assert "0.png" in found.reason
    assert_refused(tmp_path, "directory")


def test_a_directory_of_empty_directories(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    assert oz.detect(tmp_path).what == "directory"
    assert_refused(tmp_path, "directory")


def test_nothing_at_all(tmp_path):
    found = oz.detect(tmp_path / "absent")
    assert (found.what, found.format, found.kind, found.store) == ("missing", "", "", "")
    with pytest.raises(oz.errors.NotFoundError):
        oz.open(tmp_path / "absent")


def test_an_empty_mapping():
    found = oz.detect({})
    assert (found.format, found.kind, found.store) == ("", "", "memory")
    with pytest.raises(oz.errors.NotFoundError):
        oz.open({})


def test_a_mapping_of_other_things():
    found = oz.detect({"a.txt": b"1", "b/c.png": FILES["picture.png"][1]})
    assert (found.format, found.kind) == ("", "")
    assert "a.txt" in found.reason


BROKEN: dict[str, dict[str, bytes]] = {
    "a page as zarr.json": {"zarr.json": FILES["page.html"][1]},
    "an empty zarr.json": {"zarr.json": b""},
    "noise as zarr.json": {"zarr.json": bytes(range(128, 256))},
    "half a zarr.json": {"zarr.json": b'{"zarr_format": 3, "node_type": "arr'},
    "a list as zarr.json": {"zarr.json": b"[1, 2]"},
    "version '2' in zarr.json": {"zarr.json": b'{"zarr_format": "2", "node_type": "group"}'},
    "version 2 in zarr.json": {"zarr.json": b'{"zarr_format": 2, "node_type": "group"}'},
    "version 4": {"zarr.json": b'{"zarr_format": 4, "node_type": "group"}'},
    "version true": {"zarr.json": b'{"zarr_format": true, "node_type": "group"}'},
    "no version": {"zarr.json": b'{"node_type": "group"}'},
    "no node type": {"zarr.json": b'{"zarr_format": 3}'},
    "version 3 in .zarray": {".zarray": b'{"zarr_format": 3}'},
    "an empty .zarray": {".zarray": b""},
    "an empty .zgroup": {".zgroup": b""},
    "noise as .zmetadata": {".zmetadata": b"\xff\xfe"},
    "a stub of v0": {"__zmeta__": b'{\n    "chunks": [\n        10\n    ],\n    "clevel": 5,\n    "fill_value": '},
    "an attack as v0": {"__zmeta__": b"cos\nsystem\n(Vfalse\ntR."},
    "half a meta of v1": {"meta": b'{"zarr_format": 1, "sha', "attrs": b"{}"},
    "half an attributes.json": {"attributes.json": b'{"dimensions": [1'},
}


@pytest.mark.parametrize("store", ["folder", "zip", "dict"])
@pytest.mark.parametrize("name", BROKEN)
def test_documents_that_cannot_be_read(lay_out, name, store):
    where = lay_out(store, BROKEN[name])
    found = oz.detect(where)
    assert found.kind == ""
    assert found.what
    assert found.reason
    with pytest.raises(oz.OmnizarrError) as caught:
        oz.open(where)
    assert next(iter(BROKEN[name])) in str(caught.value)


def test_a_page_in_place_of_a_document_is_called_one(lay_out):
    where = lay_out("folder", BROKEN["a page as zarr.json"])
    assert "HTML page" in oz.detect(where).what
    with pytest.raises(oz.OmnizarrError, match="HTML"):
        oz.open(where)


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither pipes nor devices among its files")
@pytest.mark.timeout(20)
def test_pipes_sockets_and_devices_do_not_hang(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    places = [tmp_path / "pipe", "/dev/zero", "/dev/null"]
    with socket.socket(socket.AF_UNIX) as bound:
        monkeypatch.chdir(tmp_path)  # the name of a socket may be no longer than a hundred bytes
        bound.bind("s")
        for where in [*places, tmp_path / "s"]:
            found = oz.detect(where)
            assert (found.format, found.kind) == ("", "")
            with pytest.raises(oz.OmnizarrError):
                oz.open(where)


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither pipes nor devices among its files")
@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["zarr.json", ".zarray", "meta", "__zmeta__", "attributes.json"])
def test_a_pipe_in_place_of_a_document_does_not_hang(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(oz.OmnizarrError):
        oz.open(tmp_path)
    assert oz.detect(tmp_path).kind == ""


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_links_that_lead_in_a_circle(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    found = oz.detect(tmp_path / "a")
    assert (found.format, found.kind) == ("", "")
    with pytest.raises(oz.OmnizarrError):
        oz.open(tmp_path / "a")
    (tmp_path / "up").mkdir()
    (tmp_path / "up/again").symlink_to(tmp_path / "up")
    assert oz.detect(tmp_path / "up").format == ""


def test_links_to_nothing(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "absent")
    assert oz.detect(tmp_path / "a").format == ""
    with pytest.raises(oz.OmnizarrError):
        oz.open(tmp_path / "a")


def test_a_folder_that_may_not_be_looked_into(tmp_path):
    place = tmp_path / "x.zarr"
    oz.create_array(place, shape=(2,))
    place.chmod(0)
    try:
        if os.access(place / "zarr.json", os.R_OK):  # the superuser may
            assert oz.detect(place).kind == "array"
            return
        found = oz.detect(place)
        assert (found.format, found.kind) == ("", "")
        with pytest.raises(oz.OmnizarrError):
            oz.open(place)
    finally:
        place.chmod(stat.S_IRWXU)


@pytest.mark.parametrize("where", ["", "\0", "a\0b", "x" * 5000, "no-such-scheme://x", 5, None, object(), [1]])
def test_places_that_are_none(where):
    found = oz.detect(where)
    assert (found.format, found.kind) == ("", "")
    with pytest.raises(oz.OmnizarrError):
        oz.open(where)


def test_huge_files_are_not_read(tmp_path):
    where = tmp_path / "huge.bin"
    with where.open("wb") as file:
        file.truncate(1 << 40)
    found = oz.detect(where)
    assert (found.what, found.format) == ("binary file", "")


def test_a_zip_that_is_cut_off(tmp_path):
    where = tmp_path / "x.zip"
    where.write_bytes(zipped(**{".zgroup": b'{"zarr_format": 2}'})[:-20])
    assert oz.detect(where).format == ""
    with pytest.raises(oz.OmnizarrError):
        oz.open(where)


def test_a_zip_whose_directory_lies(tmp_path):
    whole = bytearray(zipped(**{".zgroup": b'{"zarr_format": 2}'}))
    at = whole.rindex(b"PK\5\6")
    struct.pack_into("<HH", whole, at + 8, 9999, 9999)
    where = tmp_path / "x.zip"
    where.write_bytes(whole)
    try:
        assert oz.open(where).format == "zarr2"
    except oz.OmnizarrError:
        assert oz.detect(where).kind == ""
