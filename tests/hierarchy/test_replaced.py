"""Arrays that somebody else replaces while they are written, or right after they were made."""

from __future__ import annotations

import shutil
import threading

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.array.io import Access
from omnizarr.errors import CodecError, ConflictError, NotFoundError, StoreError
from omnizarr.hierarchy import save

SLOW = {
    "zarr3": [{"name": "gzip", "configuration": {"level": 9}}],
    "zarr2": [{"id": "gzip", "level": 9}],
}
ROWS = 3000


def made(where, form="zarr3", path="a", **options):
    return oz.create_array(where, path=path, format=form, **{"shape": (20,), "chunks": (10,), "dtype": "i4", **options})


@pytest.mark.parametrize("where", ["folder", "memory"])
@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_the_first_write_to_a_new_array_looks_whether_it_is_still_that(where, form, overwrite, tmp_path):
    place = tmp_path if where == "folder" else oz.MemoryStore()
    if overwrite:
        made(place, form)
    array = made(place, form, overwrite=overwrite)
    made(place, form, dtype="f4", overwrite=True)[...] = np.arange(20)
    with pytest.raises(ConflictError, match="replaced by another"):
        array[:10] = 7
    assert oz.open(place)["a"][...].tolist() == list(range(20))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"chunks": ((5, 15),)}, {"chunks": ((12, 8),)}),
        ({"chunks": ((5, 15),)}, {"chunks": ((5, 5, 10),)}),
        ({"chunks": 10}, {"chunks": ((10, 10),)}),
        ({}, {"separator": "."}),
    ],
)
def test_chunks_that_lie_elsewhere_are_those_of_another_array(old, new, tmp_path):
    made(tmp_path, **old)
    array = oz.open(tmp_path, mode="r+")["a"]
    array[0] = 1
    made(tmp_path, overwrite=True, **new)[...] = np.arange(20)
    files = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConflictError, match="replaced by another"):
        array[...] = 7
    assert oz.open(tmp_path)["a"][...].tolist() == list(range(20))
    assert sorted(tmp_path.rglob("*")) == files


def test_chunks_of_many_lengths_stay_those_of_the_array_as_it_grows(tmp_path):
    array = made(tmp_path, chunks=((5, 15),))
    other = oz.open(tmp_path, mode="r+")["a"]
    array.append(np.arange(4, dtype="i4"))
    array.append(np.arange(7, dtype="i4"))
    other[...] = 7
    assert oz.open(tmp_path)["a"][...].tolist() == [7] * 20 + [*range(4), *range(7)]
    array.resize(12)
    with pytest.raises(oz.errors.SelectionError):
        array[15] = 1
    other[3] = 1
    assert oz.open(tmp_path)["a"][...].tolist() == [7, 7, 7, 1] + [7] * 8


def test_chunks_of_old_arrays_that_lie_where_no_document_says(tmp_path):
    made(tmp_path, "zarr2", shape=(4, 4), chunks=(2, 2), separator="/")[...] = 1
    document = tmp_path / "a" / ".zarray"
    document.write_text(document.read_text().replace('"dimension_separator": "/"', '"dimension_separator": "."'))
    array = oz.open(tmp_path, mode="r+")["a"]
    array[0, 0] = 2
    array.attrs["x"] = 1
    array[1, 1] = 3
    assert array[:2, :2].tolist() == [[2, 1], [1, 3]]


def start_writing(array):
    """Write to an array in a thread; return what waits for the end, and gives what was raised."""
    raised = []

    def write():
        try:
            array[...] = 1
        except oz.OmnizarrError as error:
            raised.append(error)

    thread = threading.Thread(target=write)
    thread.start()

    def end():
        thread.join(60)
        assert not thread.is_alive()
        return raised

    return end


def big(where, form):
    return made(where, form, shape=(ROWS, 4096), chunks=(1, 4096), dtype="f8", codecs=SLOW[form])


def wait_for_chunks(folder):
    while sum(1 for one in folder.rglob("*") if one.name[0].isdigit()) < 20:
        pass


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("change", ["erased", "erased with the group", "replaced", "moved"])
def test_who_is_writing_an_array_that_somebody_replaces_is_told(form, change, tmp_path):
    group = oz.create_group(tmp_path / "g", format=form)
    group.create_group("in")
    array = big(tmp_path / "g" / "in", form)
    end = start_writing(array)
    wait_for_chunks(tmp_path / "g" / "in" / "a")
    if change == "erased":
        del group["in/a"]
    elif change == "erased with the group":
        del group["in"]
    elif change == "moved":
        group.move("in/a", "b")
    else:
        group.create_array("in/a", shape=4, dtype="i4", overwrite=True)
    (error,) = end()
    assert isinstance(error, (NotFoundError, ConflictError)), repr(error)
    assert str(tmp_path) in str(error)


def test_who_changes_attributes_all_the_time_keeps_nobody_from_writing(tmp_path):
    array = made(tmp_path, shape=(400, 16), chunks=(1, 16))
    other = oz.open(tmp_path, mode="r+")["a"]
    ended = threading.Event()

    def change():
        while not ended.is_set():
            other.attrs["n"] = other.attrs.get("n", 0) + 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for number in range(20):
            array[...] = number
            assert (array[...] == number).all()
    finally:
        ended.set()
        thread.join(60)
    assert other.attrs["n"] > 0


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_an_append_that_fails_erases_nothing_of_what_has_replaced_the_array(form, tmp_path, monkeypatch):
    oz.create_group(tmp_path / "g", format=form).create_array("a", data=np.zeros(4, "i4"), chunks=2)
    array = oz.open_array(tmp_path / "g" / "a", "r+")
    new = np.arange(40, dtype="i4")
    write = Access.write

    def replace(*_):
        monkeypatch.setattr(Access, "write", write)
        shutil.rmtree(tmp_path / "g")
        oz.create_group(tmp_path / "g", format=form).create_array("a", data=new, chunks=2)
        raise StoreError("put failed")

    monkeypatch.setattr(Access, "write", replace)
    with pytest.raises(ConflictError, match="erased, or replaced"):
        array.append([1, 2, 3])
    assert np.array_equal(oz.open(tmp_path / "g")["a"][...], new)


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_a_new_array_that_fails_erases_nothing_of_what_has_replaced_it(form, tmp_path, monkeypatch):
    place = tmp_path / "a"
    unmake = save.unmake

    def replace(*args):
        oz.create_array(place, data=np.arange(8), chunks=4, overwrite=True, format=form)
        unmake(*args)

    def fail(*_):
        monkeypatch.undo()
        monkeypatch.setattr(save, "unmake", replace)
        raise CodecError("values that cannot be stored")

    monkeypatch.setattr(Access, "write", fail)
    with pytest.raises(CodecError):
        oz.create_array(place, data=np.zeros(8), chunks=4, format=form)
    assert oz.open(place)[...].tolist() == list(range(8))
