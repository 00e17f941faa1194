"""Points and masks through the kernel, what cannot be written, and notes of changes."""

from __future__ import annotations

import json
from collections.abc import MutableMapping

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.array.io import changes_of, changing, expect_change, note_change
from omnizarr.errors import CorruptError, ShapeError, UnsupportedError

VALUES = np.arange(12).reshape(3, 4)


def array_of(values, **options):
    made = oz.create_array({}, shape=values.shape, dtype=values.dtype, chunks=2, **options)
    made[...] = values
    return made


def test_a_point_is_a_scalar():
    array = array_of(VALUES)
    found = array.vindex[2, -1]
    assert found == 11
    assert isinstance(found, np.int64)
    array.vindex[2, -1] = 7
    assert array[2].tolist() == [8, 9, 10, 7]


def test_a_point_of_objects_is_one_of_them():
    array = oz.create_array({}, shape=(3,), dtype=object, codecs=["json2"], format="zarr2")
    array[...] = [[1], {"a": 2}, "x"]
    assert array.vindex[1] == {"a": 2}
    assert array.vindex[[0, 2]].tolist() == [[1], "x"]


def test_the_only_element_of_an_array_without_dimensions():
    array = oz.create_array({}, shape=(), dtype="i4")
    array.vindex[()] = 5
    assert array.vindex[()] == array[()] == 5
    text = oz.create_array({}, shape=(), dtype="string")  # without luck: fresh memory for objects holds none
    text.vindex[()] = "x"
    assert text.vindex[()] == "x"


def test_points_and_masks_are_read_into_an_array_of_the_caller():
    array = array_of(VALUES)
    out = np.zeros(2, VALUES.dtype)
    array.read(([0, 2], [1, 3]), out=out)
    assert out.tolist() == [1, 11]
    mask = VALUES % 5 == 0
    out = np.zeros(3, VALUES.dtype)
    array.read(mask, out=out)
    assert out.tolist() == [0, 5, 10]
    spread = np.zeros(6, VALUES.dtype)
    array.read(mask, out=spread[::2])
    assert spread.tolist() == [0, 0, 5, 0, 10, 0]


@pytest.mark.parametrize("select", [lambda a: a.vindex[[1]], lambda a: a[...], lambda a: a[1]])
def test_text_that_is_none_is_refused_however_it_is_read(select):
    store = {}
    array = oz.create_array(store, shape=(2,), dtype="<U2", codecs=[{"name": "bytes"}])
    store["c/0"] = np.array([65, 0, 0x110000, 66], "<u4").tobytes()
    with pytest.raises(CorruptError, match="0x110000, which is not in Unicode") as caught:
        select(array)
    assert caught.value.path == array.store.uri
    out = np.zeros(2, "<U2")
    with pytest.raises(CorruptError, match="0x110000"):
        array.read(out=out)


@pytest.mark.parametrize("select", [lambda a: a.vindex[[0, 1]], lambda a: a[...], lambda a: [a[0], a[1]]])
def test_fields_that_are_neither_true_nor_false_are_mended_however_they_are_read(select):
    store = {}
    dtype = np.dtype([("a", "u1"), ("b", "?")])
    array = oz.create_array(store, shape=(2,), dtype=dtype, codecs=[{"name": "bytes"}])
    store["c/0"] = bytes([7, 2, 8, 0])
    assert np.array(select(array), dtype).tobytes() == bytes([7, 1, 8, 0])
    out = np.zeros(2, dtype)
    array.read(out=out)
    assert out.tobytes() == bytes([7, 1, 8, 0])


def test_what_a_codec_that_is_not_there_has_written_is_read_and_not_changed():
    store = {}
    array = oz.create_array(store, shape=(4,), dtype="u1")
    array[...] = [1, 2, 3, 4]
    document = json.loads(store["zarr.json"])
    document["codecs"] = [{"name": "bytes"}, {"name": "example.none", "must_understand": False}]
    store["zarr.json"] = json.dumps(document).encode()
    store["c/0"] = bytes((1, 2, 3, 4))
    again = oz.open_array(store, mode="r+")
    assert again[...].tolist() == [1, 2, 3, 4]
    with pytest.raises(UnsupportedError, match="a codec that is not installed") as caught:
        again[0] = 9
    assert (caught.value.path, caught.value.codec) == (array.store.uri, "example.none")
    assert store["c/0"] == bytes((1, 2, 3, 4))


def padded():
    """Make an array whose second chunk holds one element and is stored with two."""
    store = {}
    oz.create_array(store, shape=(5,), dtype="u1", chunks=[[2, 1, 2]], codecs=[{"name": "bytes"}])
    document = json.loads(store["zarr.json"])
    configuration = {"chunk_shapes": [[2, 1, 2]], "stored_shapes": [[[2, 3]]]}
    document["chunk_grid"] = {"name": "omnizarr.padded", "configuration": configuration}
    store["zarr.json"] = json.dumps(document).encode()
    store.update({"c/0": b"\1\2", "c/1": b"\3\xff", "c/2": b"\4\5"})
    return store


def test_chunks_stored_longer_than_what_they_hold_are_only_read():
    store = padded()
    array = oz.open_array(store, mode="r+")
    assert array[...].tolist() == [1, 2, 3, 4, 5]
    assert array[::-2].tolist() == [5, 3, 1]
    with pytest.raises(UnsupportedError, match="only read") as caught:
        array[0] = 1
    assert caught.value.path == array.store.uri
    with pytest.raises(UnsupportedError, match="only read"):
        array.resize((7,))
    assert store["c/0"] == b"\1\2"


class Failing(MutableMapping):
    """A mapping that takes documents, and fails with a TypeError on chunks."""

    def __init__(self):
        self.values_ = {}

    def __getitem__(self, key):
        return self.values_[key]

    def __setitem__(self, key, value):
        if not key.endswith(".json"):
            raise TypeError("no chunks here")
        self.values_[key] = value

    def __delitem__(self, key):
        del self.values_[key]

    def __iter__(self):
        return iter(self.values_)

    def __len__(self):
        return len(self.values_)


@pytest.mark.parametrize(("dtype", "value", "nothing"), [("i4", 1, 0), ("string", "x", ""), ("bytes", b"x", b"")])
@pytest.mark.parametrize("select", [..., ([1],), np.array([True, False]), slice(0, 1)], ids=str)
def test_a_store_that_fails_is_not_taken_for_values_that_do_not_fit(dtype, value, nothing, select):
    array = oz.create_array(Failing(), shape=(2,), dtype=dtype)
    with pytest.raises(TypeError, match="no chunks here") as caught:
        array[select] = value
    assert type(caught.value) is TypeError
    assert array[...].tolist() == [nothing, nothing]


@pytest.mark.parametrize("value", [5, b"x", None, "\ud800"])
def test_values_that_do_not_fit_are_not_taken_for_a_store_that_fails(value):
    array = oz.create_array(Failing(), shape=(2,), dtype="string")
    with pytest.raises(ShapeError, match="cannot be stored as string"):
        array[...] = np.array(["a", value], object)


@pytest.mark.parametrize(("dtype", "value"), [("string", "x"), ("bytes", b"x"), ("i4", 5)])
def test_one_element_in_a_list_is_written_to_one_place(dtype, value):
    array = oz.create_array({}, shape=(2,), dtype=dtype)
    array[1] = [value]
    assert array[1] == value
    array[0] = np.array([[value]])
    assert array[...].tolist() == [value, value]


def test_changes_are_noted_for_a_place_and_all_below_it():
    before = changes_of("memory://t1/a/b")
    note_change("memory://t1/a/")
    first = changes_of("memory://t1/a/b")
    assert before == ()
    assert len(first) == 1
    assert changes_of("memory://t1/a/b/") == first
    note_change("memory://t1/a/b")
    assert changes_of("memory://t1/a/b")[1:] == first
    assert changes_of("memory://t1/other") == ()
    note_change("memory://t1/a")
    assert first[0] not in changes_of("memory://t1/a/b")


def test_while_others_write_every_look_is_another():
    place = "memory://t2/a"
    with changing(place, "memory://t2/c/"):
        with changing(place):
            assert changes_of(place) != changes_of(place)
        assert changes_of(f"{place}/b") != changes_of(f"{place}/b")
        assert changes_of("memory://t2/c") != changes_of("memory://t2/c")
    settled = changes_of(place)
    assert settled == changes_of(place)
    assert len(settled) == 1
    expect_change(place)
    assert changes_of(place) != changes_of(place)


def test_a_change_that_failed_is_noted_all_the_same():
    place = "memory://t3/a"
    before = changes_of(place)
    with pytest.raises(KeyError), changing(place):
        raise KeyError
    assert changes_of(place) != before
    assert changes_of(place) == changes_of(place)


class Watched(dict):
    """A mapping that notes what stands for the state of an array each time that a chunk is stored."""

    def __init__(self):
        super().__init__()
        self.place = ""
        self.seen = []

    def __setitem__(self, key, value):
        if self.place:
            self.seen.append(changes_of(self.place))
        super().__setitem__(key, value)


def test_a_write_is_noted_before_its_first_chunk_and_after_its_last():
    store = Watched()
    array = oz.create_array(store, shape=(4,), dtype="i4", chunks=2)
    store.place = array.store.uri
    array[...] = 1
    earlier = changes_of(store.place)
    store.seen.clear()
    array[...] = 2
    assert len(store.seen) == 2
    assert earlier not in store.seen
    assert changes_of(store.place) not in [earlier, *store.seen]


def test_what_is_read_into_must_fit():
    array = array_of(VALUES)
    frozen = np.zeros((3, 4), VALUES.dtype)
    frozen.flags.writeable = False
    cases = (
        (np.zeros((3, 4), "f4"), "type float32"),
        (np.zeros((4, 3), VALUES.dtype), "shape"),
        (frozen, "written to"),
    )
    for out, words in cases:
        with pytest.raises(ShapeError, match=words) as caught:
            array.read(out=out)
        assert caught.value.path == array.store.uri
        assert not out.any()


@pytest.mark.parametrize("there", [(0,), (4,), (0, 1, 2), (3, 7), range(8)])
def test_chunks_that_are_there_among_new_ones(there, tmp_path):
    """Whoever writes many new chunks does not look for each, and yet replaces those that he meets."""
    array = oz.create_array(tmp_path / "a.zarr", shape=(8, 3), chunks=(1, 3), dtype="i4", fill_value=-1)
    for row in there:
        array[row] = 100
    array[...] = np.arange(24).reshape(8, 3)
    assert np.array_equal(oz.open(tmp_path / "a.zarr")[...], np.arange(24).reshape(8, 3))
    array[...] = -1
    assert sorted(one.name for one in (tmp_path / "a.zarr").rglob("*") if one.is_file()) == ["zarr.json"]
