"""Sources that are not what they were: an error that says so, never other bytes."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, OmnizarrError, StaleReferenceError
from omnizarr.refset.model import WHOLE, Chunks, References, Stamp
from omnizarr.refset.store import store_of

VALUES = np.arange(1000, dtype="<f8")
ARRAY = {"zarr_format": 2, "shape": [1000], "chunks": [100], "dtype": "<f8", "order": "C", "fill_value": 0}


def _set(folder, offsets=None, lengths=800, *, stamped=True, compressor=None):
    path = folder / "a.bin"
    if not path.exists():
        path.write_bytes(VALUES.tobytes())
    document = json.dumps({**ARRAY, "compressor": compressor, "filters": None}).encode()
    starts = 800 * np.arange(10, dtype=np.uint64) if offsets is None else offsets
    state = path.stat()
    stamps = {"a.bin": Stamp(state.st_size, state.st_mtime_ns)} if stamped else {}
    return References({"v/.zarray": document}, {"v": Chunks.ranges((10,), 0, starts, lengths)}, ["a.bin"], stamps)


def _open(made, folder):
    return oz.open(store_of(made, uri="example", base=f"{folder}/", allow=[str(folder)]), path="v")


def test_another_size(tmp_path):
    array = _open(_set(tmp_path), tmp_path)
    with (tmp_path / "a.bin").open("ab") as file:
        file.write(b"more")
    with pytest.raises(StaleReferenceError, match="8000 bytes") as caught:
        array[...]
    assert caught.value.key == "v/0"
    assert "a.bin" in str(caught.value)
    assert caught.value.hint is not None
    assert caught.value.kind == "stale-reference"


def test_another_time(tmp_path):
    array = _open(_set(tmp_path), tmp_path)
    os.utime(tmp_path / "a.bin", ns=(0, 1_000_000_000))
    with pytest.raises(StaleReferenceError, match="changed"):
        array[:10]


@pytest.mark.parametrize("replace", [True, False], ids=["replaced", "rewritten"])
def test_a_change_while_the_source_is_open(tmp_path, replace):
    array = _open(_set(tmp_path), tmp_path)
    np.testing.assert_array_equal(array[...], VALUES)
    if replace:
        (tmp_path / "b.bin").write_bytes((-VALUES).tobytes())
        (tmp_path / "b.bin").replace(tmp_path / "a.bin")
    else:
        (tmp_path / "a.bin").write_bytes((-VALUES).tobytes())
        os.utime(tmp_path / "a.bin", ns=(0, 1_000_000_000))
    with pytest.raises(StaleReferenceError):
        array[...]


def test_without_a_stamp_the_new_bytes_are_read(tmp_path):
    array = _open(_set(tmp_path, stamped=False), tmp_path)
    np.testing.assert_array_equal(array[...], VALUES)
    (tmp_path / "b.bin").write_bytes((-VALUES).tobytes())
    (tmp_path / "b.bin").replace(tmp_path / "a.bin")
    np.testing.assert_array_equal(array[...], -VALUES)


def test_the_cache_does_not_outlive_a_change(tmp_path):
    made = store_of(_set(tmp_path, stamped=False), uri="example", base=f"{tmp_path}/", allow=[str(tmp_path)])
    array = oz.open(made, path="v", cache_bytes=1 << 20)
    np.testing.assert_array_equal(array[...], VALUES)
    (tmp_path / "b.bin").write_bytes((-VALUES).tobytes())
    (tmp_path / "b.bin").replace(tmp_path / "a.bin")
    np.testing.assert_array_equal(array[...], -VALUES)


@pytest.mark.parametrize(
    ("offset", "length"),
    [(7201, 800), (8000, 800), (1 << 62, 800), ((1 << 64) - 801, 800), ((1 << 64) - 1, 800)],
)
def test_a_range_past_the_end(tmp_path, offset, length):
    offsets = np.full(10, offset, np.uint64)
    array = _open(_set(tmp_path, offsets, length, stamped=False), tmp_path)
    with pytest.raises(StaleReferenceError, match=r"a\.bin") as caught:
        array[...]
    assert caught.value.key is not None
    with pytest.raises(StaleReferenceError):
        array[3]


@pytest.mark.parametrize("compressor", [None, {"id": "zlib", "level": 1}], ids=["raw", "zlib"])
@pytest.mark.parametrize("length", [0, 799, 801, 1 << 40, 1 << 62, (1 << 64) - 2])
def test_a_length_that_cannot_be(tmp_path, length, compressor):
    made = _set(tmp_path, np.zeros(10, np.uint64), length, stamped=False, compressor=compressor)
    store = store_of(made, uri="example", base=f"{tmp_path}/", allow=[str(tmp_path)])
    array = oz.open(store, path="v")
    for chosen in (np.s_[...], np.s_[5], np.s_[:50]):
        with pytest.raises(CorruptError):
            array[chosen]
    if length > 8000:
        with pytest.raises(StaleReferenceError):
            store.get("v/0")
        with pytest.raises(OmnizarrError):
            store.get_range("v/0", 0)


def test_a_source_that_is_gone(tmp_path):
    array = _open(_set(tmp_path, stamped=False), tmp_path)
    (tmp_path / "a.bin").unlink()
    with pytest.raises(StaleReferenceError, match="no such file"):
        array[...]


@pytest.mark.parametrize("size", [0, 799, 801])
def test_a_whole_file_of_another_size(tmp_path, size):
    (tmp_path / "a.bin").write_bytes(bytes(size))
    array = _open(_set(tmp_path, np.zeros(10, np.uint64), WHOLE, stamped=False), tmp_path)
    with pytest.raises(CorruptError):
        array[...]
