"""What a user may call a place."""

import os
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import pytest

from omnizarr.errors import NodeTypeError, ReadOnlyError, UnsafeError, UnsupportedError
from omnizarr.store.cloud.at import At
from omnizarr.store.file import FileStore
from omnizarr.store.mapping import DictStore
from omnizarr.store.memory import MemoryStore
from omnizarr.store.resolve import resolve
from omnizarr.store.wrap import ReadOnlyStore


def test_paths_and_uris(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = FileStore(tmp_path / "my data.zarr")
    for where in ("my data.zarr", "./my data.zarr", Path("my data.zarr"), expected.uri, str(expected.root)):
        assert resolve(where) == (expected, "")
        assert resolve(where, read_only=True) == (ReadOnlyStore(expected), "")


def test_mappings_and_stores():
    mapping = {"a": b"1"}
    store, path = resolve(mapping)
    assert path == ""
    assert store == DictStore(mapping)
    assert store.get("a") == b"1"
    memory = MemoryStore()
    assert resolve(memory) == (memory, "")
    guarded, _ = resolve(memory, read_only=True)
    assert guarded == ReadOnlyStore(memory)
    assert resolve(guarded, read_only=True)[0] is guarded
    assert resolve(guarded)[0] is guarded
    frozen, _ = resolve(MappingProxyType(mapping), read_only=True)
    assert isinstance(frozen, DictStore)
    assert frozen.read_only


@pytest.mark.parametrize("url", ["zarr://b/x", "nonsense::x"])
def test_places_that_cannot_be_opened_yet(url):
    with pytest.raises(UnsupportedError, match=url.split(":", maxsplit=1)[0] + ": URLs"):
        resolve(url)


@pytest.mark.parametrize(
    ("name", "head", "what"),
    [
        ("a.nc", b"CDF\x01", "netCDF classic file"),
        ("a.H5", b"\x89HDF\r\n\x1a\n", "HDF5 file"),
        ("refs.parq", b"PAR1", "parquet file"),
        ("a.tif", b"II*\0", "TIFF file"),
        ("a.grib", b"GRIB", "GRIB file"),
        ("a.zarr", b"", "empty file"),
    ],
)
def test_files_that_cannot_be_opened(name, head, what, tmp_path):
    place = tmp_path / name
    assert resolve(place)[0] == FileStore(place)  # Nothing there yet: a directory may have any name.
    place.write_bytes(head)
    with pytest.raises(UnsupportedError, match=f"this is an? {what}, not"):
        resolve(place)
    place.unlink()
    place.mkdir()
    assert resolve(place)[0] == FileStore(place)


class Half:
    uri = "half:"
    read_only = False
    native = None

    def get(self, key): ...
    def put(self, key, data): ...
    def erase(self, key): ...
    def list_dir(self, prefix): ...
    def exists(self, key): ...


def test_what_is_no_place():
    for thing in (5, None, b"bytes", ["list"], object()):
        with pytest.raises(NodeTypeError, match="cannot tell where to look"):
            resolve(thing)
    with pytest.raises(NodeTypeError, match="it lacks get_range, get_many, erase_prefix, list_prefix, size"):
        resolve(Half())
    for bad in ("", "file:///a?b"):
        with pytest.raises(UnsafeError):
            resolve(bad)


def test_a_missing_kernel_is_said_plainly():
    code = (
        "import sys\n"
        "sys.modules['omnizarr._native'] = None\n"
        "try: import omnizarr.native\n"
        "except ImportError as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.startswith("MissingDependencyError")
    assert "make build" in done.stdout


def test_zarr_on_a_server_by_its_modes():
    store, path = resolve("https://example.org/x.zarr#mode=zarr", read_only=True)
    assert (repr(store), path) == ("HttpStore('https://example.org/x.zarr')", "")
    with pytest.raises(ReadOnlyError):
        resolve("https://example.org/x.zarr#mode=nczarr")
    with pytest.raises(UnsupportedError, match="object stores"):
        resolve(At("https://example.org/x.zarr", {"key": "a"}), read_only=True)
