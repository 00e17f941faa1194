"""Copies and moves that meet others, fail or are killed: one node is made, whole, and nothing is left in the way."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError, ExistsError, OmnizarrError, StoreError
from omnizarr.hierarchy import transfer
from omnizarr.store import DictStore, FileStore, MemoryStore
from omnizarr.tools.copy.copy import _Work

POSIX = pytest.mark.skipif(os.name == "nt", reason="kills and forks")
FORK = multiprocessing.get_context("fork") if os.name != "nt" else None
ROUNDS = 6


def sources(where, form="zarr3"):
    """A group with two arrays of different values."""
    group = oz.create_group(where, format=form)
    for name, value in (("a", 1), ("b", 2)):
        group.create_array(name, data=np.full(200, value), chunks=2)
    return group


def names(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


def struck(place: Path, what: str, barrier, told) -> None:
    group = oz.open_group(place, mode="r+")
    barrier.wait()
    try:
        if what == "create":
            group.create_array("c", data=np.full(200, 2), chunks=2)
        elif what.startswith("tool "):
            oz.copy(place / what[-1], place / "c")
        elif what.startswith("convert "):
            oz.convert(place / what[-1], place / "c", chunks=(4,))
        else:
            group.copy(what[-1], "c")
    except (ExistsError, ConflictError) as error:
        told.put(type(error).__name__)
    else:
        told.put("made")


@POSIX
@pytest.mark.parametrize(
    "both", [("a", "b"), ("a", "create"), ("tool a", "tool b"), ("convert a", "convert b")], ids=str
)
def test_of_two_who_make_a_node_one_does(tmp_path, both):
    for number in range(ROUNDS):
        place = tmp_path / f"{number}.zarr"
        sources(place)
        barrier, told = FORK.Barrier(2), FORK.Queue()
        work = [FORK.Process(target=struck, args=(place, what, barrier, told)) for what in both]
        for one in work:
            one.start()
        said = sorted(told.get(timeout=60) for _ in work)
        for one in work:
            one.join()
        assert said.count("made") == 1, said
        assert len(set(oz.open_array(place / "c")[...].tolist())) == 1
        assert oz.validate(place).findings == ()


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_a_copy_does_not_take_the_place_of_what_somebody_has_made(tmp_path, monkeypatch, form):
    group = sources(tmp_path / "d.zarr", form)
    real = FileStore.move_folder

    def meanwhile(store: FileStore, old: str, new: str) -> bool:
        if "c" not in group:
            group.create_array("c", data=[5])
        return real(store, old, new)

    monkeypatch.setattr(FileStore, "move_folder", meanwhile)
    with pytest.raises(ExistsError, match="at the same time"):
        group.copy("a", "c")
    assert group["c"][...].tolist() == [5]
    assert sorted(names(tmp_path / "d.zarr")) == sorted([*document(form), "a", "b", "c"])
    monkeypatch.undo()
    assert group.copy("a", "c", overwrite=True)[0] == 1


def document(form: str) -> list[str]:
    return ["zarr.json"] if form == "zarr3" else [".zgroup"]


class Own(FileStore):
    """A store of somebody's own, whose operations must not be passed by."""

    def put(self, key, data):
        super().put(key, data)


def failing(kind, monkeypatch) -> None:
    """Let a store have no room for what makes a path outside "a" and "b" a node."""
    real = kind.put

    def put(store, key, data):
        if key.endswith(("zarr.json", ".zarray")) and key.partition("/")[0] not in ("a", "b"):
            raise StoreError("no space left on device", key=key)
        real(store, key, data)

    monkeypatch.setattr(kind, "put", put)


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("kind", [FileStore, Own, MemoryStore, DictStore])
def test_a_copy_that_fails_leaves_nothing(tmp_path, monkeypatch, kind, form, moved):
    in_folder = issubclass(kind, FileStore)
    store = kind(tmp_path / "d") if in_folder else kind({}) if kind is DictStore else kind()
    group = sources(store, form)
    group.consolidate()
    before = {key: store.get(key) for key in store.list_prefix("")}
    with monkeypatch.context() as patch:
        failing(kind, patch)
        if in_folder:
            patch.setattr(FileStore, "move_folder", lambda *_: False)
        with pytest.raises(StoreError):
            (group.move if moved else group.copy)("a", "c")
    after = {key: store.get(key) for key in store.list_prefix("")}
    assert after.keys() == before.keys()
    assert oz.validate(store).findings == ()
    if in_folder:
        assert not [name for name in names(tmp_path / "d") if name.endswith(".partial")]
    array = oz.open_group(store, mode="r+").create_array("c", shape=(200,), dtype="i8", chunks=2)
    assert (array[...] == 0).all()


def killed(place: Path, how: str) -> None:
    def put(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    if how == "tool":
        _Work._documents = put
        oz.copy(place / "a", place / "c")
    else:
        FileStore.move_folder = put
        oz.open_group(place, mode="r+").copy("a", "c")


@POSIX
def test_what_a_killed_copy_leaves_is_seen_by_nobody_and_goes_with_the_next(tmp_path):
    place = tmp_path / "d.zarr"
    group = sources(place)
    process = FORK.Process(target=killed, args=(place, "group"))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert sorted(group) == ["a", "b"]
    assert (group.create_array("c", shape=(200,), dtype="i8", chunks=2)[...] == 0).all()
    assert [name for name in names(place) if name.endswith(".partial")]
    group.copy("a", "d")
    assert sorted(names(place)) == ["a", "b", "c", "d", "zarr.json"]


@POSIX
def test_nothing_is_made_over_a_copy_that_is_not_whole(tmp_path):
    place = tmp_path / "d.zarr"
    group = sources(place)
    process = FORK.Process(target=killed, args=(place, "tool"))
    process.start()
    process.join()
    for make in (group.create_group, group.require_group, lambda path: group.create_array(path, data=[1])):
        with pytest.raises(ConflictError, match="unfinished copy"):
            make("c")
    with pytest.raises(ExistsError, match="unfinished copy"):
        group.copy("b", "c")
    assert oz.copy(place / "a", place / "c").kept
    assert group["c"][0] == 1
    assert group.copy("b", "c", overwrite=True)[0] == 2


@pytest.mark.parametrize("path", ["c", ""])
@pytest.mark.parametrize(("form", "chunk"), [("zarr3", "c/0"), ("zarr2", "0"), ("zarr2", "5")])
@pytest.mark.parametrize("kind", [FileStore, MemoryStore])
def test_a_new_array_shows_no_chunks_that_were_left(tmp_path, kind, form, chunk, path):
    store = kind(tmp_path / "d") if kind is FileStore else kind()
    key = f"{path}/{chunk}".strip("/")
    store.put(key, np.full(2, 7, "i8").tobytes())
    store.put(f"{path}/README".strip("/"), b"somebody's own")
    asked = {"path": path or None, "shape": (12,), "dtype": "i8", "chunks": 2, "format": form}
    with pytest.raises(ConflictError, match="chunks of no array") as caught:
        oz.create_array(store, **asked)
    assert caught.value.hint is not None
    assert key in str(caught.value)
    assert store.get(key) is not None
    assert (oz.create_array(store, **asked, overwrite=True)[...] == 0).all()
    assert path or store.get("README") is not None


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_nodes_and_files_where_an_array_is_made_are_in_nobody_s_way(tmp_path, form):
    """What belongs to nodes below, or to nobody, is no chunk of the new one."""
    for name in ("0", "1", "c"):
        oz.create_array(tmp_path / "d" / name, data=np.arange(4).reshape(2, 2), chunks=1, format=form)
    (tmp_path / "d" / "README").write_bytes(b"somebody's own")
    made = oz.create_array(tmp_path / "d", shape=(2, 2), dtype="i8", chunks=1, format=form)
    assert (made[...] == 0).all()
    assert oz.open_array(tmp_path / "d" / "c")[1, 1] == 3


def test_a_folder_that_is_no_node_is_not_copied_into(tmp_path):
    group = sources(tmp_path / "d")
    (tmp_path / "d/c/deep").mkdir(parents=True)
    (tmp_path / "d/c/deep/README").write_bytes(b"somebody's own")
    with pytest.raises(ExistsError, match="no array or group") as caught:
        group.copy("a", "c")
    assert caught.value.key == "c/deep/README"
    (tmp_path / "d/c/deep/README").unlink()
    assert group.copy("a", "c")[0] == 1  # empty folders are nothing


def test_a_move_that_fails_leaves_the_node_in_consolidated_metadata(tmp_path, monkeypatch):
    group = sources(tmp_path / "d")
    group.consolidate()
    real = transfer.make_room

    def meanwhile(context, path, form):
        real(context, path, form)
        if path == "c" and "c" not in group:
            oz.open_group(tmp_path / "d", mode="r+").create_array("c", data=[5])

    monkeypatch.setattr(transfer, "make_room", meanwhile)
    with pytest.raises(ExistsError):
        group.move("a", "c")
    block = json.loads((tmp_path / "d/zarr.json").read_bytes())["consolidated_metadata"]["metadata"]
    assert sorted(block) == ["a", "b", "c"]
    assert oz.validate(tmp_path / "d").findings == ()


def test_the_cause_of_a_move_that_fails_is_told_where_nothing_can_be_recorded(tmp_path, monkeypatch):
    group = sources(tmp_path / "d")
    group.consolidate()

    def fail(*_, **__):
        raise StoreError("it broke")

    monkeypatch.setattr(FileStore, "move_folder", fail)
    monkeypatch.setattr(transfer, "record", fail)
    with pytest.raises(OmnizarrError, match="it broke"):
        group.move("a", "c")
