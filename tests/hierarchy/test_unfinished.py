"""An array that was being cut when its writer was killed: what was cut off never comes back."""

import os
import threading

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.hierarchy import grown
from omnizarr.hierarchy import resize as resizing
from omnizarr.hierarchy.unfinished import CUT, GROWTH, find_note, leave_note


class Stopped(BaseException):
    """Stands for a kill."""


@pytest.fixture(params=["file", "dict"])
def where(request, tmp_path):
    return tmp_path / "a" if request.param == "file" else {}


def cut_and_stop(where, monkeypatch, **options):
    """Cut an array of 40 elements to 7, and stop after the document is written."""
    array = oz.create_array(where, shape=(40,), dtype="i4", chunks=(4,), fill_value=-1, **options)
    array[...] = 5

    def stop(*_):
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(resizing, "_clear", stop)
        with pytest.raises(Stopped):
            array.resize(7)
    return array


@pytest.mark.parametrize("options", [{}, {"format": "zarr2"}, {"shards": (8,)}])
def test_growing_again_shows_nothing_of_what_was_cut_off(where, monkeypatch, options):
    cut_and_stop(where, monkeypatch, **options)
    array = oz.open_array(where, mode="r+")
    assert array[...].tolist() == [5] * 7
    array.resize(40)
    assert array[...].tolist() == [5] * 7 + [-1] * 33


def test_a_handle_that_was_open_finishes_it_too(where, monkeypatch):
    array = cut_and_stop(where, monkeypatch)
    array.resize(12)
    assert array[...].tolist() == [5] * 7 + [-1] * 5
    array.resize(40)
    assert array[...].tolist() == [5] * 7 + [-1] * 33


def test_opening_for_writing_finishes_it_among_files(tmp_path, monkeypatch):
    cut_and_stop(tmp_path / "a", monkeypatch)
    oz.open_array(tmp_path / "a", mode="r")
    assert (tmp_path / "a" / CUT).exists()
    oz.open(tmp_path / "a", mode="r+")
    assert not (tmp_path / "a" / CUT).exists()
    assert sorted(os.listdir(tmp_path / "a/c")) == ["0", "1"]  # noqa: PTH208 - names are wanted


def test_a_repair_finishes_it(where, monkeypatch):
    cut_and_stop(where, monkeypatch)
    found = {one.rule for one in oz.validate(where).findings}
    assert found == {"OZ605", "OZ611"}
    report = oz.validate(where, repair=True)
    assert report.clean
    assert report.repaired == ("OZ611: erased what lies outside /",)


NOT_UNDERSTOOD = {
    "no JSON": b"?",
    "too deep": b"[" * 200_000,
    "too deep an object": b'{"x":' * 200_000,
    "too long a number": b'{"shape": [%s], "x": [[10], [%s]]}' % ((b"9" * 5000,) * 2),
    "no UTF-8": b'{"shape": [10], "\xff": 1}',
    "a list": b"[[10], [12]]",
    "other values": b'{"shape": [true], "x": [[10], [1e3]]}',
    "out of range": b'{"shape": [%d], "x": [[10], [%d]]}' % ((1 << 70,) * 2),
    "too large": b"9" * ((64 << 20) + 1),
}


@pytest.mark.parametrize("text", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_a_note_that_nobody_understands_still_trims(tmp_path, monkeypatch, text):
    cut_and_stop(tmp_path / "a", monkeypatch)
    (tmp_path / "a" / CUT).write_bytes(text)
    oz.open(tmp_path / "a", mode="r+")
    assert not (tmp_path / "a" / CUT).exists()
    array = oz.open_array(tmp_path / "a", mode="r+")
    array.resize(40)
    np.testing.assert_array_equal(array[8:], np.full(32, -1))


def test_no_note_is_left_if_the_document_cannot_be_written(tmp_path, monkeypatch):
    array = oz.create_array(tmp_path / "a", shape=(40,), dtype="i4", chunks=(4,))
    array[...] = 5

    def fail(*_):
        raise oz.OmnizarrError("no")

    with monkeypatch.context() as patch:
        patch.setattr(resizing, "replace", fail)
        with pytest.raises(oz.OmnizarrError):
            array.resize(7)
    assert not (tmp_path / "a" / CUT).exists()
    assert oz.open_array(tmp_path / "a")[...].tolist() == [5] * 40


@pytest.mark.skipif(os.name != "posix", reason="no locks")
def test_one_at_a_time_works_on_a_note(tmp_path):
    store = oz.FileStore(tmp_path)
    note = leave_note(store, "x", CUT, {"shape": [3]})
    assert find_note(store, "x", CUT, wait=False) is None
    found = []
    waits = threading.Thread(target=lambda: found.append(find_note(store, "x", CUT)))
    waits.start()
    assert note.content() == {"shape": [3]}
    note.erase()
    note.let_go()
    waits.join(20)
    assert found == [None]  # it was gone by then


@pytest.fixture
def group(tmp_path):
    """A group of two arrays, in another group with one."""
    outer = oz.create_group(tmp_path / "g")
    for path in ("x", "in/x", "in/y"):
        outer.create_array(path, data=np.arange(10), chunks=(4,))
    return tmp_path / "g/in"


def shapes(group):
    return [oz.open(group / path).shape for path in ("../x", "x", "y")]


@pytest.mark.parametrize("text", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_a_note_of_growth_that_nobody_understands_is_taken_away(group, text):
    (group / GROWTH).write_bytes(text)
    oz.open(group, mode="r+")
    assert shapes(group) == [(10,)] * 3
    assert not (group / GROWTH).exists()


@pytest.mark.parametrize(
    "name", ["x", "../x", "/x", "../in/x", "./x", "x/", "", "\\ud800", "zarr.json", "x/c/0", "none"]
)
def test_a_note_of_growth_only_grows_and_stays_inside(group, name):
    shape = 2 if name == "x" else 12
    (group / GROWTH).write_text(f'{{"{name}": [[10], [{shape}]], "y": [[10], [12]]}}')
    oz.open(group, mode="r+")
    assert shapes(group) == [(10,), (10,), (12,)]  # the other array grows all the same
    assert oz.open(group / "x")[...].tolist() == list(range(10))
    assert not (group / GROWTH).exists()


def test_an_array_that_cannot_be_read_keeps_no_other_from_growing(group):
    (group / "x/zarr.json").write_bytes(b"?")
    (group / GROWTH).write_text('{"x": [[10], [12]], "y": [[10], [12]]}')
    oz.open(group, mode="r+")
    assert oz.open(group / "y").shape == (12,)
    assert not (group / GROWTH).exists()


def test_a_name_that_nothing_can_have_keeps_no_other_from_growing(group):
    names = ("n" * 5000, "/".join("n" * 1000), "a\\u0000")
    (group / GROWTH).write_text("{" + ",".join(f'"{name}": [[10], [12]]' for name in (*names, "y")) + "}")
    oz.open(group, mode="r+")
    assert shapes(group) == [(10,), (10,), (12,)]
    assert not (group / GROWTH).exists()


@pytest.mark.skipif(os.name != "posix", reason="no links")
@pytest.mark.parametrize("how", ["open", "repair"])
@pytest.mark.parametrize("name", [GROWTH, CUT])
def test_a_link_in_place_of_a_note_goes_and_what_it_leads_to_stays(group, tmp_path, name, how):
    (tmp_path / "secret").write_text('{"x": [[10], [12]], "shape": [99]}')
    place = group if name == GROWTH else group / "x"
    (place / name).symlink_to(tmp_path / "secret")
    if how == "open":
        oz.open(place, mode="r+")
    else:
        oz.validate(place, repair=True)
    assert not os.path.lexists(place / name)
    assert (tmp_path / "secret").exists()
    assert shapes(group) == [(10,)] * 3


@pytest.mark.parametrize("count", [10_001, 100_000])  # too many names, and more bytes than notes have
def test_a_note_of_very_many_names_is_no_note(group, monkeypatch, count):
    looked = []
    monkeypatch.setattr(grown, "load", lambda *_: looked.append(1))
    (group / GROWTH).write_text("{" + ",".join(f'"n{i}": [[1], [2]]' for i in range(count)) + "}")
    oz.open(group, mode="r+")
    assert not looked
    assert not (group / GROWTH).exists()
