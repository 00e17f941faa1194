"""What a user may call a place."""

import json
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
from omnizarr.store.resolve import _parquet_above, is_parquet_set, resolve
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
    for bad in ("", "file:///a?b", "s3://b/\ud800", "https://h/\udcff", "reference:/\ud800"):
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
    with pytest.raises(UnsupportedError, match="no option 'key'"):
        resolve(At("https://example.org/x.zarr", {"key": "a"}), read_only=True)


def test_a_file_on_a_server_is_only_read():
    with pytest.raises(ReadOnlyError, match="can only be read") as caught:
        resolve("https://example.org/x.nc")
    assert (caught.value.path, caught.value.hint) == ("https://example.org/x.nc", 'open it with mode="r"')


REFERENCES = {"version": 1, "refs": {".zgroup": '{"zarr_format": 2}'}}


def test_reference_sets_by_every_name(tmp_path):
    place = tmp_path / "set.json"
    place.write_text(json.dumps(REFERENCES))
    for where in (place, str(place), f"reference::{place}", At(str(place), {"anon": True}), REFERENCES):
        store, path = resolve(where, read_only=True)
        assert (store.get(".zgroup"), path) == (b'{"zarr_format": 2}', "")
        assert store.read_only
    odd = tmp_path / "set"  # known by what it holds
    odd.write_text(json.dumps(REFERENCES))
    assert resolve(At(str(odd), {"anon": True}), read_only=True)[0].get(".zgroup") is not None
    store, path = resolve(place / "a" / "b", read_only=True)
    assert (store.get(".zgroup"), path) == (b'{"zarr_format": 2}', "a/b")


def test_options_for_folders_are_not_needed(tmp_path):
    assert resolve(At(str(tmp_path), {"anon": True})) == (FileStore(tmp_path), "")
    (tmp_path / ".zmetadata").write_text('{"metadata": {}, "record_size": 5}')
    assert is_parquet_set(str(tmp_path))
    (tmp_path / ".zgroup").write_text("{}")
    assert not is_parquet_set(str(tmp_path))
    assert not is_parquet_set("/not there")


def test_folders_below_a_set_in_parquet_are_of_it_unless_they_are_nodes_themselves(tmp_path):
    place = tmp_path / "set"
    (place / "a" / "b").mkdir(parents=True)
    (place / "c" / "d").mkdir(parents=True)
    assert _parquet_above(str(place / "a" / "b")) is None
    (place / ".zmetadata").write_text('{"metadata": {}, "record_size": 10}')
    assert _parquet_above(str(place)) == (str(place), "")
    assert _parquet_above(str(place / "a")) == (str(place), "a")
    assert _parquet_above(str(place / "a" / "b")) == (str(place), "a/b")
    (place / "c" / "zarr.json").write_text("{}")
    for inside in ("c", "c/d"):
        assert _parquet_above(str(place / inside)) is None
