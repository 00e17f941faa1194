"""Copies from store to store: what arrives, what is refused, and going on after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zarr

import omnizarr as oz
from omnizarr.errors import ConflictError, ExistsError, NodeTypeError, NotFoundError, ReadOnlyError, UnsupportedError
from omnizarr.store import DictStore, MemoryStore, ReadOnlyStore
from omnizarr.tools.copy import note as journal
from omnizarr.tools.copy.batches import Mover
from omnizarr.tools.copy.choosing import chosen, in_order
from omnizarr.tools.copy.sweeping import sweep
from omnizarr.tools.editing.moving import move
from omnizarr.tools.patterns import matches

CORPUS = Path(__file__).parents[1] / "corpus"


def make(where, form="zarr3", **options):
    group = oz.create_group(where, format=form, attrs={"title": "test"}, **options)
    for i, name in enumerate(("t", "p", "model/run1/t", "model/run2/u")):
        array = group.create_array(name, shape=(6, 8), dtype="f4", chunks=(3, 4), attrs={"i": i})
        array[...] = np.arange(48).reshape(6, 8) + i
    return group


def keys_of(store) -> dict[str, bytes]:
    return {key: store.get(key) for key in store.list_prefix("")}


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("new", ["b.zarr", "b.zip", "memory", "dict"])
def test_every_key_arrives(tmp_path, form, new):
    make(tmp_path / "a.zarr", form)
    oz.consolidate(tmp_path / "a.zarr")
    old = files_of(tmp_path / "a.zarr")
    target = {"memory": MemoryStore(), "dict": {}}.get(new, str(tmp_path / new))
    told = []
    done = oz.copy(tmp_path / "a.zarr", target, verify=True, progress=lambda *at: told.append(at))
    assert done[2:] == (len(old), len(old), 0, sum(map(len, old.values())), (), True, (), False, None)
    assert told[-1][:2] == (2 * len(old), 2 * len(old))
    back = oz.copy(target, tmp_path / "c.zarr")
    assert back.copied == len(old)
    assert files_of(tmp_path / "c.zarr") == old


def test_one_array_out_of_a_hierarchy_and_into_another(tmp_path):
    make(tmp_path / "a.zarr")
    make(tmp_path / "b.zarr")
    oz.consolidate(tmp_path / "b.zarr")
    alone = oz.copy(tmp_path / "a.zarr", tmp_path / "alone.zarr", path="model/run1/t")
    assert alone.keys == 5
    assert oz.open_array(tmp_path / "alone.zarr")[0, 0] == 2
    oz.copy(tmp_path / "a.zarr" / "t", tmp_path / "b.zarr", target_path="deep/er/t")
    group = oz.open_group(tmp_path / "b.zarr", consolidated=True)
    assert group["deep/er/t"].attrs["i"] == 0
    held = json.loads((tmp_path / "b.zarr" / "zarr.json").read_bytes())["consolidated_metadata"]["metadata"]
    assert "deep/er/t" in held


def test_handles_are_taken(tmp_path):
    group = make(tmp_path / "a.zarr")
    target = {}
    oz.copy(group["model"], target)
    assert sorted(name for name, _ in oz.open_group(target).members(max_depth=None)) == [
        "run1", "run1/t", "run2", "run2/u",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("include", "exclude", "kept"),
    [
        (["t"], [], ["model", "model/run1", "model/run1/t", "t"]),
        (["/t"], [], ["model", "model/run1", "model/run1/t", "t"]),
        (["model/run*"], [], ["model", "model/run1", "model/run1/t", "model/run2", "model/run2/u"]),
        (["model"], ["run2"], ["model", "model/run1", "model/run1/t"]),
        ([], ["model"], ["p", "t"]),
        ([], ["*/t"], ["model", "model/run1", "model/run2", "model/run2/u", "p", "t"]),
    ],
)
@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_patterns(tmp_path, include, exclude, kept, form):
    make(tmp_path / "a.zarr", form)
    oz.consolidate(tmp_path / "a.zarr")
    done = oz.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", include=include, exclude=exclude, verify=True)
    for consolidated in (True, False):
        group = oz.open_group(tmp_path / "b.zarr", consolidated=consolidated)
        assert sorted(name for name, _ in group.members(max_depth=None)) == kept
    assert done.verified
    assert done.left_out
    name = "zarr.json" if form == "zarr3" else ".zmetadata"
    text = (tmp_path / "b.zarr" / name).read_text()
    assert all(one not in text for one in done.left_out if "/" in one)
    assert group.attrs["title"] == "test"


def test_a_pattern_without_a_match_is_an_error(tmp_path):
    make(tmp_path / "a.zarr")
    with pytest.raises(NotFoundError, match="tmep"):
        oz.copy(tmp_path / "a.zarr", {}, include=["tmep*"])


def test_nothing_is_written_by_a_dry_run(tmp_path):
    make(tmp_path / "a.zarr")
    for new in ("b.zarr", "b.zip"):
        done = oz.copy(tmp_path / "a.zarr", tmp_path / new, dry_run=True)
        assert done.dry_run
        assert (done.keys, done.copied) == (len(files_of(tmp_path / "a.zarr")), 0)
        assert done.nbytes == sum(map(len, files_of(tmp_path / "a.zarr").values()))
        assert not (tmp_path / new).exists()


def test_what_is_there_is_refused_or_replaced(tmp_path):
    make(tmp_path / "a.zarr")
    oz.create_array(tmp_path / "b.zarr", shape=(3,), dtype="i4", data=[1, 2, 3])
    for options in ({}, {"dry_run": True}, {"resume": False}):
        with pytest.raises(ExistsError, match="already"):
            oz.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", **options)
    assert oz.open_array(tmp_path / "b.zarr")[2] == 3
    oz.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", overwrite=True)
    assert files_of(tmp_path / "b.zarr") == files_of(tmp_path / "a.zarr")


def test_a_folder_of_other_things_is_never_replaced(tmp_path):
    make(tmp_path / "a.zarr")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("dear")
    with pytest.raises(ExistsError, match="no array or group"):
        oz.copy(tmp_path / "a.zarr", tmp_path / "home", overwrite=True)
    assert (tmp_path / "home" / "thesis.txt").exists()


def test_no_copy_into_itself(tmp_path):
    make(tmp_path / "a.zarr")
    for source, target in (("a.zarr", "a.zarr"), ("a.zarr", "a.zarr/model/copy"), ("a.zarr/model", "a.zarr")):
        with pytest.raises(ExistsError):
            oz.copy(tmp_path / source, tmp_path / target, overwrite=True)
    assert oz.open_array(tmp_path / "a.zarr" / "t")[0, 0] == 0


def test_a_store_that_cannot_be_written_is_refused(tmp_path):
    make(tmp_path / "a.zarr")
    with pytest.raises(ReadOnlyError):
        oz.copy(tmp_path / "a.zarr", ReadOnlyStore(MemoryStore()))


class Stopping:
    """A store that can be stopped: it refuses every put after some."""

    def __init__(self, inner, left):
        self.inner, self.left = inner, left
        self.native = None

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def put(self, key, data):
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.inner.put(key, data)


@pytest.fixture
def half(tmp_path):
    """A copy that was stopped half-way."""
    make(tmp_path / "a.zarr")
    target = DictStore({})
    with pytest.raises(KeyboardInterrupt):
        oz.copy(tmp_path / "a.zarr", Stopping(target, 10))
    assert target.exists(journal.NAME)
    assert not target.exists("zarr.json")
    return tmp_path / "a.zarr", target


def test_the_same_call_goes_on(half):
    source, target = half
    there = len(keys_of(target)) - 1
    done = oz.copy(source, target)
    assert (done.kept, done.copied) == (there, done.keys - there)
    assert keys_of(target) == files_of(source)


def test_bytes_are_compared_where_asked_for(half):
    source, target = half
    spoilt = next(key for key in keys_of(target) if "/c/" in key)
    target.put(spoilt, bytes(target.size(spoilt)))
    done = oz.copy(source, target, verify=True)
    assert done.verified
    assert keys_of(target) == files_of(source)


def test_a_source_that_changed_is_noticed(half):
    source, target = half
    oz.open_array(source / "t", "r+").attrs["units"] = "K"
    with pytest.raises(ConflictError, match="changed") as caught:
        oz.copy(source, target)
    assert "overwrite" in caught.value.hint
    oz.copy(source, target, overwrite=True)
    assert keys_of(target) == files_of(source)


def test_another_copy_does_not_take_over(half, tmp_path):
    source, target = half
    make(tmp_path / "other.zarr")
    with pytest.raises(ExistsError, match=r"a\.zarr"):
        oz.copy(tmp_path / "other.zarr", target)
    with pytest.raises(ExistsError, match="unfinished"):
        oz.copy(source, target, include=["t"])
    with pytest.raises(ExistsError, match="unfinished"):
        oz.copy(source, target, resume=False)
    target.put(journal.NAME, b"gibberish")
    with pytest.raises(ExistsError, match="cannot be told"):
        oz.copy(source, target)


def test_an_archive_is_not_there_before_it_is_whole(tmp_path, monkeypatch):
    make(tmp_path / "a.zarr")

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("omnizarr.tools.copy.copy._Work._record", fail)
    with pytest.raises(KeyboardInterrupt):
        oz.copy(tmp_path / "a.zarr", tmp_path / "b.zip")
    assert not list(tmp_path.glob("b.zip*"))
    monkeypatch.undo()
    oz.copy(tmp_path / "a.zarr", tmp_path / "b.zip")
    assert oz.open_array(tmp_path / "b.zip" / "t")[0, 1] == 1


def test_differences_are_reported(tmp_path, monkeypatch):
    make(tmp_path / "a.zarr")
    target = MemoryStore()

    def spoil(self, level, old=None):
        target.put("t/c/0/0", b"spoilt")
        return self.mover([key for key in level if key not in self.changed], "copy")

    monkeypatch.setattr("omnizarr.tools.copy.copy._Work._documents", spoil)
    done = oz.copy(tmp_path / "a.zarr", target, verify=True)
    assert (done.verified, done.different) == (False, ("t/c/0/0",))
    assert target.exists(journal.NAME), "not finished"


KILLED = """
import sys, time
import omnizarr as oz
def tell(done, total, nbytes):
    print(done, flush=True)
    time.sleep(0.2)
import omnizarr.tools.copy.batches as moving
moving._FIRST = moving._MOST = 60
oz.copy(sys.argv[1], sys.argv[2], progress=tell)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_killed_copy_goes_on_without_copying_again(tmp_path):
    array = oz.create_array(tmp_path / "a.zarr", shape=(400, 1000), dtype="f4", chunks=(1, 1000))
    array[...] = np.random.default_rng(0).random((400, 1000), "f4")
    target = tmp_path / "b.zarr"
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path / "a.zarr", target], stdout=subprocess.PIPE, env={**os.environ}
    )
    assert child.stdout is not None
    for _ in range(3):
        child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert (target / journal.NAME).exists()
    assert not (target / "zarr.json").exists()
    (target / "c" / "0" / ".fffffff0-1.partial").write_bytes(b"begun")
    before = {one: (one.stat().st_ino, one.stat().st_mtime_ns) for one in target.rglob("c/*/*") if one.name == "0"}
    assert 180 <= len(before) < 400
    done = oz.copy(tmp_path / "a.zarr", target)
    assert done.kept == len(before)
    assert all((one.stat().st_ino, one.stat().st_mtime_ns) == then for one, then in before.items())
    assert files_of(target) == files_of(tmp_path / "a.zarr")


def test_files_of_living_processes_stay(tmp_path):
    mine = tmp_path / f".{os.getpid():x}-1.partial"
    mine.write_bytes(b"")
    (tmp_path / ".fffffff0-1.partial").write_bytes(b"")
    (tmp_path / "a.partial").write_bytes(b"")
    assert sweep(oz.FileStore(tmp_path), "") == (1 if os.name == "posix" else 0)
    assert mine.exists()
    assert (tmp_path / "a.partial").exists()
    assert sweep(MemoryStore(), "") == 0


def test_keys_that_vanish_are_an_error(tmp_path, monkeypatch):
    make(tmp_path / "a.zarr")
    real = Mover.__call__

    def vanish(self, keys, task):
        (tmp_path / "a.zarr/t/c/0/0").unlink(missing_ok=True)
        return real(self, keys, task)

    monkeypatch.setattr(Mover, "__call__", vanish)
    with pytest.raises(ConflictError, match="vanished"):
        oz.copy(tmp_path / "a.zarr", {})


def test_what_only_consolidated_metadata_knows_is_copied_with_them():
    store = {}
    make(store, "zarr2")
    oz.consolidate(store)
    bare = {key: data for key, data in store.items() if not key.endswith((".zarray", ".zgroup", ".zattrs"))}
    target = {}
    oz.copy(bare, target)
    assert target == bare
    with pytest.raises(UnsupportedError, match="documents of its own"):
        oz.copy(bare, {}, path="t")


def test_paths_above_a_match_count():
    assert matches("a/b", ["a"])
    assert not matches("ab", ["a"])
    assert chosen(["a", "a/b", "c"], [], ["a"]) == ({"c"}, set())


def test_documents_come_after_what_they_describe():
    levels = in_order(["zarr.json", "a/zarr.json", "a/b/zarr.json"])
    assert levels == [["a/b/zarr.json"], ["a/zarr.json"], ["zarr.json"]]


def test_the_root_is_the_last_to_show_up(tmp_path):
    make(tmp_path / "a.zarr")
    put = []

    class Watching(DictStore):
        native = None

        def put(self, key, data):
            put.append(key)
            super().put(key, data)

    oz.copy(tmp_path / "a.zarr", Watching({}))
    assert put[0] == journal.NAME
    assert put[-1] == "zarr.json"
    assert max(put.index(key) for key in put if "/c/" in key) < put.index("t/zarr.json")


def test_time_is_not_wasted_on_small_batches():
    source, target = MemoryStore(), MemoryStore()
    for i in range(5000):
        source.put(f"c/{i}", b"x")
    told = []
    mover = Mover(source, "", target, "a/", lambda *at: told.append(at))
    began = time.monotonic()
    assert mover([f"c/{i}" for i in range(5000)], "copy").done == 5000
    if time.monotonic() - began < 0.5:
        assert len(told) < 10
    assert target.get("a/c/77") == b"x"


def test_a_copy_named_by_its_own_folder_shows_up_in_the_group_above(tmp_path):
    make(tmp_path / "a.zarr")
    oz.consolidate(tmp_path / "a.zarr")
    oz.copy(tmp_path / "a.zarr/t", tmp_path / "a.zarr/new/u")
    seen = zarr.open_group(tmp_path / "a.zarr", mode="r", use_consolidated=True)
    assert seen["new/u"].shape == (6, 8)
    assert oz.validate(tmp_path / "a.zarr").findings == ()


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_folder_of_another_format_or_of_an_array_takes_no_copy(tmp_path, dry_run):
    make(tmp_path / "a.zarr")
    make(tmp_path / "b.zarr", "zarr2")
    with pytest.raises(UnsupportedError, match="zarr2"):
        oz.copy(tmp_path / "b.zarr/t", tmp_path / "a.zarr/u", dry_run=dry_run)
    with pytest.raises(NodeTypeError, match="cannot hold"):
        oz.copy(tmp_path / "a.zarr/t", tmp_path / "a.zarr/p/u", dry_run=dry_run)
    with pytest.raises(NodeTypeError, match="cannot hold"):
        move(tmp_path / "a.zarr/t", tmp_path / "a.zarr/p/u", dry_run=dry_run)
    with pytest.raises(NodeTypeError, match="cannot hold"):
        oz.convert(tmp_path / "a.zarr/t", tmp_path / "a.zarr/p/u", chunks=1)
    assert "u" not in oz.open_group(tmp_path / "a.zarr")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_a_folder_that_is_a_link_is_not_left_out_silently(tmp_path):
    group = oz.create_group(tmp_path / "a")
    group.create_array("t", data=np.arange(1, 9), chunks=(2,))
    (tmp_path / "a/t/c").rename(tmp_path / "a/moved")
    (tmp_path / "a/t/c").symlink_to("../moved")
    with pytest.raises(oz.errors.UnsupportedError, match="link"):
        oz.copy(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()
