"""Reference sets open wherever a path does, and are told from what they are not."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, NotFoundError, ReadOnlyError, UnsafeError, UnsupportedError
from omnizarr.native import packed
from omnizarr.refset.opening import open_set

VALUES = np.arange(100, dtype="<f4").reshape(10, 10)
DOCUMENT = {"zarr_format": 2, "shape": [10, 10], "chunks": [2, 10], "dtype": "<f4", "order": "C", "fill_value": -1}
REFS = {
    **{f"v/{i}.0": ["a.bin", 4 + 80 * i, 80] for i in range(5)},
    "v/.zarray": json.dumps({**DOCUMENT, "compressor": None, "filters": None}),
    ".zgroup": '{"zarr_format": 2}',
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"head" + VALUES.tobytes())
    return tmp_path


@pytest.mark.parametrize("name", ["set.json", "set.json.gz", "set.json.zst", "no name"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda text: packed(text, "zstd")])
@pytest.mark.parametrize("form", [{"version": 1, "refs": REFS}, REFS])
def test_sets_are_known_by_what_is_in_them(folder, name, pack, form):
    (folder / name).write_bytes(pack(json.dumps(form).encode()))
    group = oz.open(folder / name)
    np.testing.assert_array_equal(group["v"][...], VALUES)
    found = oz.detect(folder / name)
    assert (found.what, found.store) == ("Zarr v2 group", "references")
    assert oz.open(folder / name, path="v").shape == (10, 10)


@pytest.mark.parametrize("form", [{"version": 1, "refs": REFS}, REFS, {"refs": REFS}])
def test_mappings_open_as_sets(folder, form):
    where = json.loads(json.dumps(form).replace("a.bin", f"{folder}/a.bin"))
    np.testing.assert_array_equal(oz.open(where, allow=[str(folder)])["v"][...], VALUES)
    with pytest.raises(UnsafeError):
        oz.open(where)["v"][...]


def test_mappings_of_bytes_stay_what_they_are():
    store: dict[str, bytes] = {}
    oz.create_array(store, shape=(2,), dtype="i2")
    assert oz.open(store).shape == (2,)


@pytest.mark.parametrize("start", ["reference::", "reference://"])
def test_places_as_users_of_fsspec_write_them(folder, start):
    (folder / "set.json").write_text(json.dumps(REFS))
    np.testing.assert_array_equal(oz.open(f"{start}{folder}/set.json")["v"][3], VALUES[3])
    with pytest.raises(UnsupportedError, match="where the set is"):
        oz.open("reference://")


def test_only_what_is_allowed_is_reached(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    where = elsewhere / "set.json"
    where.write_text(json.dumps(REFS).replace("a.bin", f"{folder}/a.bin"))
    with pytest.raises(UnsafeError):
        oz.open(where)["v"][...]
    np.testing.assert_array_equal(oz.open(where, allow=[str(folder)])["v"][...], VALUES)


def test_sets_are_only_read(folder):
    (folder / "set.json").write_text(json.dumps(REFS))
    with pytest.raises(ReadOnlyError):
        oz.open(folder / "set.json", "r+")


def test_stores_travel_to_other_processes(folder):
    (folder / "set.json").write_text(json.dumps(REFS))
    store = open_set(folder / "set.json")
    assert pickle.loads(pickle.dumps(store)).get("v/1.0") == VALUES[2:4].tobytes()


def test_keys_that_are_no_chunks_are_reached(folder):
    refs = {**REFS, "extra": ["a.bin", 0, 4], "whole": ["a.bin"], "v/99.0": ["a.bin", 1, 3], "other/5": ["a.bin", 2, 2]}
    (folder / "set.json").write_text(json.dumps(refs))
    store = open_set(folder / "set.json")
    assert [store.get(key) for key in ("extra", "v/99.0", "other/5")] == [b"head", b"ead", b"ad"]
    assert store.get("whole") == (folder / "a.bin").read_bytes()
    assert store.list_dir("") == ([".zgroup", "extra", "whole"], ["other/", "v/"])
    assert set(store.list_prefix("")) == set(refs)


def test_what_is_missing_or_something_else(folder):
    with pytest.raises(NotFoundError):
        open_set(folder / "nothing.json")
    for text in ('{"type": "FeatureCollection", "bbox": [1, 2]}', "[1, 2]"):
        (folder / "other.json").write_text(text)
        with pytest.raises(UnsupportedError, match="JSON document"):
            oz.open(folder / "other.json")
    (folder / "text.gz").write_bytes(gzip.compress(b"some text"))
    with pytest.raises(UnsupportedError, match="gzip file"):
        oz.open(folder / "text.gz")
    (folder / "bad.json").write_text('{"version": 1, "refs": {"a/0": 5}}')
    with pytest.raises(MetadataError, match="a/0"):
        oz.open(folder / "bad.json")


@pytest.mark.filterwarnings("ignore:The 'fastparquet' engine is deprecated")
def test_a_set_in_parquet_is_a_folder_without_documents(folder):
    kerchunk = pytest.importorskip("kerchunk.df")
    pytest.importorskip("omnizarr.refset.parquet_reading")
    refs = {key: [f"{folder}/a.bin", *value[1:]] if isinstance(value, list) else value for key, value in REFS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, on how it writes parquet
        kerchunk.refs_to_dataframe({"version": 1, "refs": refs}, str(folder / "set.parq"), record_size=2)
    np.testing.assert_array_equal(oz.open(folder / "set.parq")["v"][...], VALUES)
    assert oz.detect(folder / "set.parq").store == "references"


def test_what_kerchunk_scans_opens(folder):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("kerchunk.hdf")
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("g/v", data=VALUES, chunks=(3, 10), compression="gzip", shuffle=True)
        file.create_dataset("s", data=5)
    # In a process of its own: kerchunk holds h5py's lock while it waits for zarr's thread, which waits for that
    # lock for ever once the collector runs there and finds an old file of another test.
    scan = "print(json.dumps(kerchunk.hdf.SingleHdf5ToZarr(sys.argv[1], inline_threshold=0).translate()))"
    command = [sys.executable, "-c", f"import json, sys, kerchunk.hdf; {scan}", folder / "x.h5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    (folder / "set.json").write_text(done.stdout)
    group = oz.open(folder / "set.json")
    np.testing.assert_array_equal(group["g/v"][...], VALUES)
    assert group["s"][...] == 5
