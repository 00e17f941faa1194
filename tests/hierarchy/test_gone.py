"""Handles of arrays that somebody else has erased: no fill values in place of what is gone, nothing left behind."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError, NotFoundError

FORMATS = ["zarr2", "zarr3"]
PLACES = ["", "a", "g/a"]


def _made(where, path, form, **options):
    array = oz.create_array(where, path=path, shape=(4, 4), chunks=(2, 2), dtype="i4", format=form, **options)
    array[:2] = 1
    return oz.open_array(where, "r+", path=path)


READS = {
    "all": lambda a: a[...],
    "element": lambda a: a[3, 3],
    "out": lambda a: a.read(out=np.empty((4, 4), "i4")),
    "points": lambda a: a.vindex[[0, 3], [0, 3]],
    "mask": lambda a: a[np.ones((4, 4), bool)],
}
WRITES = {
    "all": lambda a: a.__setitem__(..., 2),
    "part": lambda a: a.__setitem__((0, 0), 2),
    "points": lambda a: a.vindex.__setitem__(([0, 3], [0, 3]), 2),
    "append": lambda a: a.append(np.ones((1, 4), "i4")),
    "resize": lambda a: a.resize((8, 8)),
    "attributes": lambda a: a.attrs.update(x=1),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("does", READS)
def test_what_is_gone_is_not_read_as_fill(does, path, form, tmp_path):
    array = _made(tmp_path / "s", path, form)
    assert array[...].sum() == 8
    shutil.rmtree(tmp_path / "s" / path)
    with pytest.raises(NotFoundError, match="the array is gone"):
        READS[does](array)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("does", WRITES)
def test_nothing_is_written_where_an_array_was(does, path, form, tmp_path):
    array = _made(tmp_path / "s", path, form)
    shutil.rmtree(tmp_path / "s" / path)
    with pytest.raises((NotFoundError, ConflictError)):
        WRITES[does](array)
    assert not (tmp_path / "s" / path).exists()


@pytest.mark.parametrize("form", FORMATS)
def test_in_memory(form):
    store = oz.MemoryStore()
    array, strings = _made(store, "a", form), oz.create_array(store, path="s", shape=(2,), dtype="str", format=form)
    store.erase_prefix("a/")
    store.erase_prefix("s/")
    for one in READS.values():
        with pytest.raises(NotFoundError, match="the array is gone"):
            one(array)
    with pytest.raises(NotFoundError, match="the array is gone"):
        strings[...]
    for one in WRITES.values():
        with pytest.raises(NotFoundError):
            one(array)
    assert not [key for key in store.list_prefix("") if key.startswith(("a/", "s/"))]


def test_shards_and_rows_of_new_folders(tmp_path):
    array = oz.create_array(tmp_path / "a", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="i4")
    array[0, 0] = 1
    assert array[...].sum() == 1
    array[4:] = 1
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(NotFoundError, match="the array is gone"):
        array[0, 0] = 2
    with pytest.raises(NotFoundError, match="the array is gone"):
        array[...]
    assert not (tmp_path / "a").exists()


def test_moved_and_deleted_by_another_handle(tmp_path):
    group = oz.open_group(tmp_path, "w")
    array = group.create_array("a", shape=4, chunks=2, dtype="i4")
    array[:2] = 1
    group.move("a", "b")
    with pytest.raises(NotFoundError, match="the array is gone") as caught:
        array[...]
    assert str(tmp_path / "a") in str(caught.value)
    assert group["b"][...].tolist() == [1, 1, 0, 0]
    other = group["b"]
    del group["b"]
    with pytest.raises(NotFoundError, match="open it again, or create it anew"):
        other[2:] = 1
    # It is a new array that has nothing of the old one.
    assert group.create_array("b", shape=4, chunks=2, dtype="i4")[...].tolist() == [0, 0, 0, 0]


def test_where_nothing_but_a_copy_tells_of_an_array_it_is_there(tmp_path):
    group = oz.open_group(tmp_path, "w", format="zarr2")
    group.create_array("a", shape=4, chunks=2, dtype="i4", fill_value=7)[:2] = 1
    oz.consolidate(tmp_path)
    copies = json.loads((tmp_path / ".zmetadata").read_text())["metadata"]
    for key in copies:
        (tmp_path / key).unlink(missing_ok=True)
    for array in (oz.open_group(tmp_path)["a"], oz.open_array(tmp_path, path="a")):
        assert array[...].tolist() == [1, 1, 7, 7]
        assert array[3] == 7


def test_documents_that_are_replaced_meanwhile_are_there(tmp_path):
    array = oz.create_array(tmp_path / "a", shape=4, chunks=2, dtype="i4")
    other = oz.open_array(tmp_path / "a", "r+")
    other.attrs["x"] = 1
    other.append([1])
    assert array[...].tolist() == [0, 0, 0, 0]


def _replaced(where, **options):
    oz.create_array(where, path="a", overwrite=True, **{"shape": (20,), "chunks": (10,), "dtype": "i4", **options})


@pytest.mark.parametrize("where", ["folder", "memory"])
@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "f4"},
        {"chunks": (5,)},
        {"fill_value": 7},
        {"codecs": [{"name": "gzip", "configuration": {"level": 1}}]},
        {"shape": (20, 3), "chunks": (10, 3)},
        {"shards": (20,)},
    ],
    ids=lambda options: next(reversed(options)),
)
def test_what_took_an_array_s_place_is_not_damaged_by_old_handles(where, options, tmp_path):
    place = tmp_path if where == "folder" else oz.MemoryStore()
    group = oz.open_group(place, "w")
    array = group.create_array("a", data=np.arange(20, dtype="i4"), chunks=(10,))
    other = oz.open_group(place, "r+")["a"]
    other[3] = 3
    _replaced(place, **options)
    before = oz.open(place)["a"][...]
    for handle in (array, other):
        for write in (
            lambda a: a.__setitem__(0, 9),
            lambda a: a.__setitem__(..., 9),
            lambda a: a.vindex.__setitem__(([0, 3],), 2),
        ):
            with pytest.raises(ConflictError, match="replaced by another"):
                write(handle)
    assert (oz.open(place)["a"][...] == before).all()


@pytest.mark.parametrize("form", FORMATS)
def test_a_group_or_another_format_in_an_array_s_place(form, tmp_path):
    group = oz.open_group(tmp_path / "s", "w", format=form)
    array = group.create_array("a", data=np.arange(20), chunks=(10,))
    group.create_group("a", overwrite=True)
    with pytest.raises((ConflictError, NotFoundError)):
        array[...] = 1
    other = "zarr2" if form == "zarr3" else "zarr3"
    alone = oz.create_array(tmp_path / "b", data=np.arange(20), chunks=(10,), format=form)
    shutil.rmtree(tmp_path / "b")
    oz.create_array(tmp_path / "b", data=np.arange(20), chunks=(10,), format=other)
    files = sorted((tmp_path / "b").rglob("*"))
    with pytest.raises((ConflictError, NotFoundError)):
        alone[...] = 1
    assert sorted((tmp_path / "b").rglob("*")) == files


def test_the_same_array_made_anew_and_one_that_has_grown_are_written(tmp_path):
    array = oz.create_array(tmp_path / "a", data=np.arange(20), chunks=(10,))
    other = oz.open_array(tmp_path / "a", "r+")
    other.append([1, 2, 3])
    other.attrs["x"] = 1
    array[0] = 5
    other[22] = 6
    oz.create_array(tmp_path / "a", data=np.arange(20), chunks=(10,), overwrite=True)
    array[1] = 7
    assert oz.open(tmp_path / "a")[...].tolist() == [0, 7, *range(2, 20)]
    empty = oz.create_array(tmp_path / "e", shape=(0,), dtype="i4")
    empty.append([1])
    empty[0] = 2
    empty[0] = 3
    assert empty[...].tolist() == [3]
