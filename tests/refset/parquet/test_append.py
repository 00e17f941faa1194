"""Sets that grow in place: all that is there stays, whenever the growing stops."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from omnizarr.errors import ConflictError, MetadataError, StoreError, UnsupportedError
from omnizarr.refset.model import Chunks, References, Stamp
from omnizarr.refset.parquet_append import append_parquet
from omnizarr.refset.parquet_reading import open_parquet, read_parquet
from omnizarr.refset.parquet_writing import write_parquet
from omnizarr.store.fault import Fault, FaultStore
from omnizarr.store.memory import MemoryStore
from tests.refset.parquet.sets import FASTPARQUET, GROUP, bytes_of, random_chunks, read_by_fsspec, source, zarray

pytestmark = FASTPARQUET

WIDTH = 3  # chunks along the second dimension


def rows_of(first, n, url=0):
    numbers = np.arange(first * WIDTH, (first + n) * WIDTH)
    return Chunks.ranges((n, WIDTH), url, numbers + 1, 5)


def grown(n):
    return {"a/.zarray": zarray([2 * n, WIDTH], [2, 1])}


def start(place, path, n, size):
    documents = {".zgroup": GROUP, **grown(n), "b/.zarray": zarray([1], [1])}
    arrays = {"a": rows_of(0, n), "b": Chunks.of_bytes((1,), {0: b"b"})}
    write_parquet(References(documents, arrays, [path], {path: Stamp(4000)}), place, record_size=size)


def state(place):
    """Return all that a set says."""
    found = read_parquet(place)
    return {
        path: [
            (int(i), found.urls[url] if url < len(found.urls) else chunks.inline, int(offset), int(length))
            for i, url, offset, length in zip(
                range(len(chunks)) if chunks.numbers is None else chunks.numbers,
                chunks.urls,
                chunks.offsets,
                chunks.lengths,
                strict=True,
            )
        ]
        for path, chunks in found.arrays.items()
    }


@pytest.mark.parametrize("size", [1, 4, 6, 10, 100])
@pytest.mark.parametrize("before", [0, 1, 2, 5])
def test_appended_is_as_written_at_once(tmp_path, before, size):
    first, second = source(tmp_path, 1), source(tmp_path, 2)
    start(tmp_path / "s", first, before, size)
    for n in (2, 1):
        append_parquet(tmp_path / "s", References(grown(before + n), {"a": rows_of(before, n, 1)}, ["unused", second]))
        before += n
    documents = {".zgroup": GROUP, **grown(before), "b/.zarray": zarray([1], [1])}
    whole = rows_of(0, before)
    whole.urls[(before - 3) * WIDTH :] = 1
    arrays = {"a": whole, "b": Chunks.of_bytes((1,), {0: b"b"})}
    write_parquet(References(documents, arrays, [first, second]), tmp_path / "t", record_size=size)
    assert state(tmp_path / "s") == state(tmp_path / "t")
    expected = bytes_of(read_parquet(tmp_path / "t"))
    assert read_by_fsspec(tmp_path / "s", expected) == expected
    store = open_parquet(tmp_path / "s", allow=[str(tmp_path)])
    assert {key: store.get(key) for key in expected} == expected


def test_only_the_last_record_is_touched(tmp_path):
    start(tmp_path / "s", source(tmp_path), 100, 30)
    before = {path: path.stat().st_ino for path in (tmp_path / "s").rglob("*")}
    append_parquet(tmp_path / "s", References(grown(101), {"a": rows_of(100, 1)}, [source(tmp_path)]))
    after = {path: path.stat().st_ino for path in (tmp_path / "s").rglob("*")}
    changed = {path.name for path in after if after[path] != before.get(path)}
    assert changed == {".zmetadata", "refs.10.parq"}


def test_inline_and_missing_rows_move_along(tmp_path):
    rng = random.Random(4)
    url = source(tmp_path)
    old, new = random_chunks(rng, (7,), 1), random_chunks(rng, (6,), 1)
    write_parquet(References({"a/.zarray": zarray([7], [1])}, {"a": old}, [url]), tmp_path / "s", record_size=5)
    append_parquet(tmp_path / "s", References({"a/.zarray": zarray([13], [1])}, {"a": new}, [url]))
    shift = {f"a/{int(key[2:]) + 7}": data for key, data in bytes_of(References({}, {"a": new}, [url])).items()}
    expected = bytes_of(References({}, {"a": old}, [url])) | shift
    assert bytes_of(read_parquet(tmp_path / "s")) == expected


def test_stamps_and_new_arrays_come_along(tmp_path):
    first, second = source(tmp_path, 1), source(tmp_path, 2)
    start(tmp_path / "s", first, 2, 4)
    added = References(
        {**grown(3), "c/.zarray": zarray([2], [1]), "b/.zarray": zarray([2], [2])},
        {"a": rows_of(2, 1), "c": Chunks.ranges((2,), 0, [1, 2], 3), "b": Chunks.of_bytes((1,), {0: b"bb"})},
        [second],
        {second: Stamp(4000, 7)},
    )
    append_parquet(tmp_path / "s", added, rewrite=["b"])
    found = read_parquet(tmp_path / "s")
    assert found.stamps == {first: Stamp(4000), second: Stamp(4000, 7)}
    assert len(found.arrays["c"]) == 2
    assert found.arrays["b"].inline == b"bb"


@pytest.mark.parametrize("size", [4, 7, 100])
def test_stopped_anywhere_the_old_set_is_there(tmp_path, size):
    """Let each operation on the store fail in turn; what is left is the old set, and the next append makes it new."""
    path = source(tmp_path)
    added = References(grown(9), {"a": rows_of(3, 6)}, [path], {path: Stamp(4000)})
    sparse = References(
        grown(5), {"a": Chunks.ranges((2, WIDTH), 0, [9], 5, numbers=[WIDTH])}, [path], {path: Stamp(4000)}
    )
    start(tmp_path / "s", path, 3, size)
    old = state(tmp_path / "s")
    append_parquet(tmp_path / "s", added)
    new = state(tmp_path / "s")
    reached = False
    for at in range(1, 60):
        place = MemoryStore()
        start(place, path, 3, size)
        opened = open_parquet(place, allow=["*"])
        keys = [f"a/{i}.{j}" for i in range(3) for j in range(WIDTH)]
        before = [opened.get(key) for key in keys]
        failing = FaultStore(place, Fault(kind="write", at=at, times=None))
        try:
            append_parquet(failing, added)
        except StoreError:
            assert state(place) == old
            assert [open_parquet(place, allow=["*"]).get(key) for key in keys] == before
            append_parquet(place, sparse)
            assert state(place)["a"] == [*old["a"], (4 * WIDTH, path, 9, 5)]
        else:
            reached = True
            assert state(place) == new
            break
    assert reached
    assert at > 2


def test_a_reader_of_the_old_set_is_not_disturbed(tmp_path):
    path = source(tmp_path)
    start(tmp_path / "s", path, 3, 4)
    opened = open_parquet(tmp_path / "s", allow=[str(tmp_path)])
    listed = opened.list_prefix("a/")
    append_parquet(tmp_path / "s", References(grown(9), {"a": rows_of(3, 6)}, [path]))
    late = open_parquet(tmp_path / "s", allow=[str(tmp_path)])
    assert opened.list_prefix("a/") == listed
    assert opened.get("a/2.2") == late.get("a/2.2")
    assert opened.get("a/3.0") is None
    assert late.get("a/3.0") is not None


def test_what_does_not_fit_is_refused(tmp_path):
    path = source(tmp_path)
    start(tmp_path / "s", path, 3, 4)
    before = state(tmp_path / "s")
    wider = {"a/.zarray": zarray([6, WIDTH + 1], [2, 1])}
    with pytest.raises(UnsupportedError, match="first dimension"):
        append_parquet(tmp_path / "s", References(wider, {"a": rows_of(0, 4)}, [path]))
    with pytest.raises(MetadataError, match="do not make"):
        append_parquet(tmp_path / "s", References(grown(9), {"a": rows_of(3, 2)}, [path]))
    with pytest.raises(MetadataError, match="no references"):
        append_parquet(tmp_path / "s", References(grown(9), {}, [path]))
    with pytest.raises(MetadataError, match="no document"):
        append_parquet(tmp_path / "s", References({}, {"z": rows_of(0, 2)}, [path]))
    assert state(tmp_path / "s") == before
    partial = References({"a/.zarray": zarray([5], [2])}, {"a": Chunks.ranges((3,), 0, [1, 2, 3], 1)}, [path])
    write_parquet(partial, tmp_path / "t")
    more = References({"a/.zarray": zarray([7], [2])}, {"a": Chunks.ranges((1,), 0, [1], 1)}, [path])
    with pytest.raises(MetadataError, match="last chunk"):
        append_parquet(tmp_path / "t", more)


def test_another_writer_is_noticed(tmp_path):
    path = source(tmp_path)
    place = MemoryStore()
    start(place, path, 3, 4)

    class Meddled(FaultStore):
        def put(self, key, data):
            place.put(".zmetadata", json.dumps({"metadata": {}, "record_size": 4}).encode())
            super().put(key, data)

    with pytest.raises(ConflictError):
        append_parquet(Meddled(place), References(grown(9), {"a": rows_of(3, 6)}, [path]))
