"""Locks: who holds which while others open, append, replace and erase; nobody waits for ever, and nothing is lost."""

import os
import shutil
import threading

import numpy as np
import pytest

import omnizarr as oz
import omnizarr.store.folder_lock as folder_lock_module
from omnizarr.array.io import Access
from omnizarr.errors import ConflictError
from omnizarr.hierarchy import array as array_module
from omnizarr.hierarchy import grown, save
from omnizarr.hierarchy import resize as resizing
from omnizarr.hierarchy.changing import array_lock, seized
from omnizarr.hierarchy.unfinished import CUT, GROWTH
from omnizarr.native import FileStore as NativeFiles
from omnizarr.native import LockedFile

fcntl = pytest.importorskip("fcntl")
needs_put_in = pytest.mark.skipif(not hasattr(NativeFiles, "put_in"), reason="an older native extension")


def is_locked(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


@pytest.fixture
def group(tmp_path):
    return oz.create_group(tmp_path / "g")


@pytest.fixture
def cut(group, tmp_path):
    """An array with the note of a cut from 40 elements to 7, and what that has left."""
    array = group.create_array("a", data=np.full(40, 5), chunks=(4,))
    array.resize(7)
    (tmp_path / "g/a" / CUT).write_text('{"shape": [40]}')
    return tmp_path / "g/a"


@pytest.fixture
def growth(group, tmp_path):
    """Two arrays that were to get longer."""
    for name in "xy":
        group.create_array(name, data=np.arange(10), chunks=(4,))
    (tmp_path / "g" / GROWTH).write_text('{"x": [[10], [12]], "y": [[10], [12]]}')
    return tmp_path / "g"


def test_who_opens_leaves_a_cut_alone_that_somebody_works_on(cut, group):
    with array_lock(group._context, "a", "zarr3"):
        assert oz.open(cut, mode="r+").shape == (7,)
        assert (cut / CUT).exists()
    oz.open(cut, mode="r+")
    assert not (cut / CUT).exists()


@pytest.mark.parametrize("how", ["open", "repair"])
def test_a_cut_is_finished_with_the_array_locked(cut, monkeypatch, how):
    clear, seen = resizing._clear, []

    def look(*args):
        seen.append(is_locked(cut))
        clear(*args)

    monkeypatch.setattr(resizing, "_clear", look)
    oz.open(cut, mode="r+") if how == "open" else oz.validate(cut, repair=True)
    assert seen == [True]
    assert not (cut / CUT).exists()


def test_who_opens_leaves_a_growth_alone_that_somebody_works_on(growth, group):
    with array_lock(group._context, "y", "zarr3"):
        assert [one.shape for _, one in oz.open(growth, mode="r+").arrays()] == [(10,), (10,)]
        assert (growth / GROWTH).exists()
        assert not is_locked(growth / "x")
    assert [one.shape for _, one in oz.open(growth, mode="r+").arrays()] == [(12,), (12,)]
    assert not (growth / GROWTH).exists()


@pytest.mark.parametrize("how", ["open", "repair"])
def test_a_growth_is_finished_with_the_arrays_locked_and_as_they_are_by_then(growth, group, monkeypatch, how):
    replace, seen = grown.replace, []

    def look(context, path, *args):
        seen.append([is_locked(growth / name) for name in "xy"])
        return replace(context, path, *args)

    find, attributes = grown.find_note, group["x"].attrs

    def find_late(*args, **options):
        if "units" not in attributes:  # between the look and the lock
            note = growth / "x/zarr.json"
            note.write_text(note.read_text().replace('"attributes": {}', '"attributes": {"units": "K"}'))
        return find(*args, **options)

    monkeypatch.setattr(grown, "find_note", find_late)
    monkeypatch.setattr(grown, "replace", look)
    oz.open(growth, mode="r+") if how == "open" else oz.validate(growth, repair=True)
    assert seen == [[True, True]] * 2
    assert not (growth / GROWTH).exists()


class Lazy:
    """Values that are computed late; it is noted which locks are held then."""

    def __init__(self, values, array, folder):
        self.values, self.array, self.folder, self.seen = np.asarray(values), array, folder, []
        self.shape, self.dtype, self.ndim = self.values.shape, self.values.dtype, self.values.ndim

    def __array__(self, dtype=None, copy=None):
        self.seen.append((is_locked(self.folder), self.array._context.lock._is_owned()))
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self):
        return len(self.values)


@pytest.mark.parametrize("how", ["append", "field", "fields of a list", "require"])
def test_values_are_computed_before_anything_is_locked(group, tmp_path, how):
    kind = [("a", "f8"), ("b", "i4")] if "field" in how else "f8"
    array = group.create_array("x", shape=(3,), dtype=kind)
    values = Lazy([1, 2, 3], array, tmp_path / "g/x")
    if how == "append":
        assert array.append(values) == (6,)
    elif how == "field":
        array["a"] = values
        assert array["a"].tolist() == [1, 2, 3]
    elif how == "require":
        assert group.require_array("y", shape=(3,), dtype="f8", data=values)[...].tolist() == [1, 2, 3]
    else:
        one = Lazy(1, array, tmp_path / "g/x")
        array["a"] = [one, 2, 3]
        values = one
    assert values.seen
    assert not any(map(any, values.seen))


class WithoutFolders:
    """A file system without locks for folders, which tells when somebody asks for a document."""

    def __init__(self, thread):
        self.thread, self.asked = thread, threading.Event()

    def hold(self, place, what, wait):
        if what == "file" and threading.current_thread() is not self.thread:
            self.asked.set()
        file = LockedFile.hold(place, what, wait)
        if file is None or what == "file":
            return file
        file.let_go()

        class Open:
            is_locked = False
            is_at = staticmethod(os.path.exists)
            let_go = staticmethod(lambda: None)

        return Open()


def test_who_replaces_does_not_wait_for_a_document_with_the_other_lock_in_hand(group, monkeypatch):
    group.create_array("x", shape=(3,), dtype="f8")
    context, places = group._context, WithoutFolders(threading.current_thread())
    monkeypatch.setattr(folder_lock_module, "LockedFile", places)
    done = threading.Event()

    def replace():
        with seized(context, "x"):
            done.set()

    thread = threading.Thread(target=replace, daemon=True)
    with array_lock(context, "x", "zarr3"):
        thread.start()
        assert places.asked.wait(60)
        assert context.lock.acquire(timeout=60), "each waits for the other"
        context.lock.release()
        assert not done.is_set()
    thread.join(60)
    assert done.is_set()


@pytest.mark.parametrize("what", ["append", "resize", "attrs"])
def test_an_array_that_was_away_for_a_moment_is_locked_before_it_is_changed(group, tmp_path, monkeypatch, what):
    array = group.create_array("x", data=[1, 2, 3])
    name, count, changed = "array_lock" if what == "attrs" else "alone", [], array_module.save.replace
    lock = getattr(array_module, name)

    def late(*args):
        held = lock(*args)
        count.append(held)
        if len(count) == 1:
            (tmp_path / "g/x").rename(tmp_path / "away")
            held.__enter__()
            (tmp_path / "away").rename(tmp_path / "g/x")
            held.__class__ = type("Entered", (type(held),), {"__slots__": (), "__enter__": lambda self: self})
        return held

    def look(*args):
        assert is_locked(tmp_path / "g/x")
        return changed(*args)

    monkeypatch.setattr(array_module, name, late)
    monkeypatch.setattr(resizing, "replace", look)
    if what == "append":
        assert array.append([4]) == (4,)
    elif what == "resize":
        array.resize(5)
    else:
        array.attrs["k"] = 1
    assert len(count) == 2


def meanwhile(monkeypatch, action):
    """Do something once a changed document has been made, before it is put."""
    made = save.checked_again

    def late(*args):
        found = made(*args)
        monkeypatch.setattr(save, "checked_again", made)
        action()
        return found

    monkeypatch.setattr(save, "checked_again", late)


CHANGES = {
    "append": lambda array: array.append([4]),
    "resize": lambda array: array.resize(9),
    "attributes": lambda array: array.attrs.update(k=1),
}


@needs_put_in
@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_has_taken_the_place_of_the_group_above_is_not_changed(tmp_path, monkeypatch, change, form):
    top = oz.create_group(tmp_path / "g", format=form)
    array = top.create_array("in/x", data=[1, 2, 3], chunks=(3,))

    def replaced():
        shutil.rmtree(tmp_path / "g/in")
        top.create_array("in/x", shape=(2,), dtype="f4", chunks=(2,))

    meanwhile(monkeypatch, replaced)
    with pytest.raises(ConflictError, match="erased, or replaced"):
        change(array)
    new = top["in/x"]
    assert (new.shape, new.dtype, dict(new.attrs)) == ((2,), np.dtype("f4"), {})


@needs_put_in
@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_group_that_was_erased_does_not_come_back(tmp_path, monkeypatch, change, form):
    top = oz.create_group(tmp_path / "g", format=form)
    array = top.create_array("in/x", data=[1, 2, 3], chunks=(3,))
    meanwhile(monkeypatch, lambda: shutil.rmtree(tmp_path / "g/in"))
    with pytest.raises(ConflictError, match="erased, or replaced"):
        change(array)
    assert not (tmp_path / "g/in").exists()


@needs_put_in
def test_what_is_set_in_a_group_that_moves_goes_with_it(group, tmp_path, monkeypatch):
    array = group.create_array("in/x", data=[1, 2, 3])
    meanwhile(monkeypatch, lambda: (tmp_path / "g/in").rename(tmp_path / "g/out"))
    array.attrs["k"] = 1
    assert dict(group["out/x"].attrs) == {"k": 1}
    assert list(group) == ["out"]


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("path", ["x", "y/z/x"])
def test_a_new_node_does_not_bring_an_erased_group_back(tmp_path, monkeypatch, path, form):
    top = oz.create_group(tmp_path / "g", format=form)
    group = top.create_group("in")
    put, done = save.put_first, []

    def late(*args, **options):
        if not done:
            done.append(shutil.rmtree(tmp_path / "g/in"))
        return put(*args, **options)

    monkeypatch.setattr(save, "put_first", late)
    with pytest.raises(ConflictError, match="erased by somebody else"):
        group.create_array(path, shape=(3,), dtype="f4")
    assert [name for _, _, names in os.walk(tmp_path / "g/in") for name in names] == []
    group = top.create_group("in")
    assert group.create_array(path, shape=(3,), dtype="f4").shape == (3,)


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("kind", ["folder", "memory"])
@pytest.mark.parametrize(
    "write",
    [
        lambda array: array.__setitem__(15, 7),
        lambda array: array.__setitem__(..., 7),
        lambda array: array.__setitem__(np.arange(20) > 14, 7),
        lambda array: array.oindex.__setitem__(([1, 15],), 7),
        lambda array: array.vindex.__setitem__([1, 15], 7),
    ],
)
def test_a_handle_from_before_a_cut_writes_nothing_outside(tmp_path, kind, form, write):
    where = tmp_path / "a" if kind == "folder" else oz.MemoryStore()
    oz.create_array(where, data=np.ones(20, "i4"), chunks=(10,), format=form)
    old, other = oz.open_array(where, mode="r+"), oz.open_array(where, mode="r+")
    old[0] = 2
    other.resize(5)
    old[3] = 4  # what is still there can be written
    for _ in range(2):
        with pytest.raises(ConflictError, match=r"cut the array from \(20,\) to \(5,\)") as caught:
            write(old)
        assert "refresh()" in caught.value.hint
    old[5:5] = 1  # nothing
    other.resize(20)
    assert other[...].tolist() == [2, 1, 1, 4, 1] + [0] * 15
    old[15] = 7
    assert other[15] == 7


@pytest.mark.parametrize("how", ["append", "create"])
def test_ctrl_c_leaves_nothing_that_could_come_back(group, tmp_path, monkeypatch, how):
    array, write = group.create_array("x", data=[1, 2], chunks=(1,)), Access.write

    def stop(self, *args):
        monkeypatch.undo()
        write(self, *args)
        raise KeyboardInterrupt

    monkeypatch.setattr(Access, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        array.append([3, 4]) if how == "append" else group.create_array("y", data=[3, 4])
    assert sorted(os.listdir(tmp_path / "g/x/c")) == ["0", "1"]  # noqa: PTH208 - names are wanted
    assert list(group) == ["x"]
    array.resize(4)
    assert array[...].tolist() == [1, 2, 0, 0]


def test_a_group_that_cannot_be_consolidated_is_named(group, tmp_path):
    group.create_group("in")
    inner = oz.open_group(tmp_path / "g/in", mode="r+")
    shutil.rmtree(tmp_path / "g/in/zarr.json", ignore_errors=True)
    (tmp_path / "g/in/zarr.json").unlink()
    (tmp_path / "g/in/zarr.json").symlink_to("/etc/hosts")
    with pytest.raises(oz.OmnizarrError) as caught:
        inner.consolidate()
    assert "g/in" in str(caught.value.path)
