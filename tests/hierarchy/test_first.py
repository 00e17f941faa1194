"""Several programs that make the same node in a folder at the same moment: one of them does, and nothing is mixed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, NotFoundError
from omnizarr.hierarchy import save, transfer

FORMATS = ["zarr3", "zarr2"]


@pytest.fixture
def meanwhile(monkeypatch):
    """Let something happen once, after it was seen that nothing is at the path of a new node."""
    find_room = save.find_room

    def let(happen):
        def find(*arguments):
            room = find_room(*arguments)
            monkeypatch.setattr(save, "find_room", find_room)
            happen()
            return room

        monkeypatch.setattr(save, "find_room", find)

    return let


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("ours", "theirs"), [*product([None, {"by": "us"}], [None, {"by": "them"}])])
@pytest.mark.parametrize("there", [False, True])
def test_who_comes_second_is_told_so_and_changes_nothing(tmp_path, meanwhile, form, there, *, ours, theirs):
    group = oz.create_group(tmp_path / "g.zarr", format=form)
    if there:  # as after a crash, or where others are making it already
        (tmp_path / "g.zarr/a").mkdir()
        (tmp_path / "g.zarr/a/.zattrs").write_text('{"by": "nobody"}')
    other = oz.open_group(tmp_path / "g.zarr", mode="r+")
    meanwhile(lambda: other.create_array("a", data=np.arange(5), chunks=5, attrs=theirs))
    with pytest.raises(ExistsError, match="at the same time") as caught:
        group.create_array("a", data=np.arange(7), chunks=7, attrs=ours)
    assert caught.value.path == f"{group.store.uri}/a"
    array = oz.open_array(tmp_path / "g.zarr/a")
    assert array[...].tolist() == [0, 1, 2, 3, 4]
    assert dict(array.attrs) == (theirs or {})


@pytest.mark.parametrize("form", FORMATS)
def test_attributes_that_others_put_while_they_make_it(tmp_path, form, meanwhile):
    """Version 2 has them in a document of their own, which is not what makes it a node."""
    group = oz.create_group(tmp_path / "g.zarr", format=form)

    def begin():
        (tmp_path / "g.zarr/a").mkdir()
        (tmp_path / "g.zarr/a/.zattrs").write_text('{"by": "them"}')

    meanwhile(begin)
    group.create_array("a", shape=3, dtype="i4", attrs={"by": "us"})
    assert dict(oz.open_array(tmp_path / "g.zarr/a").attrs) == {"by": "us"}


@pytest.mark.parametrize("form", FORMATS)
def test_a_group_above_that_others_have_made_keeps_its_attributes(tmp_path, meanwhile, form):
    group = oz.create_group(tmp_path / "g.zarr", format=form)
    other = oz.open_group(tmp_path / "g.zarr", mode="r+")
    meanwhile(lambda: other.create_group("p", attrs={"kept": 1}))
    group.create_array("p/a", shape=3, dtype="i4")
    assert oz.open_group(tmp_path / "g.zarr/p").attrs["kept"] == 1
    assert "a" in oz.open_group(tmp_path / "g.zarr/p")


@pytest.mark.parametrize("form", FORMATS)
def test_who_opens_or_makes_gets_what_others_have_made(tmp_path, meanwhile, form):
    place = tmp_path / "g.zarr"
    meanwhile(lambda: oz.create_group(place, format=form, attrs={"kept": 1}))
    assert oz.open_group(place, mode="a", format=form).attrs["kept"] == 1
    group, other = (oz.open_group(place, mode="r+") for _ in range(2))
    meanwhile(lambda: other.create_group("p", attrs={"kept": 2}))
    assert group.require_group("p").attrs["kept"] == 2
    meanwhile(lambda: other.create_array("a", shape=3, dtype="i4", attrs={"kept": 3}))
    assert group.require_array("a", shape=3, dtype="i4").attrs["kept"] == 3
    meanwhile(lambda: other.create_array("b", shape=3, dtype="i4", attrs={"kept": 4}))
    assert oz.open_array(place / "b", "a", format=form, shape=3, dtype="i4").attrs["kept"] == 4


def test_what_others_make_while_it_is_looked_for_is_there(tmp_path, monkeypatch):
    group = oz.create_group(tmp_path / "g.zarr")
    contains = oz.Group.__contains__

    def made_by_then(self, path):
        oz.open_group(tmp_path / "g.zarr", mode="r+").require_group(path)
        return contains(self, path)

    monkeypatch.setattr(oz.Group, "__contains__", made_by_then)
    monkeypatch.setattr(oz.Group, "require_group", oz.Group.create_group)
    assert group.get("p").path == "p"


@pytest.mark.parametrize("form", FORMATS)
def test_what_others_have_erased_is_not_moved(tmp_path, monkeypatch, form):
    group = oz.create_group(tmp_path / "g.zarr", format=form)
    group.create_array("a", shape=3, dtype="i4")
    seized = transfer.seized

    def erased_by_then(context, path):
        monkeypatch.setattr(transfer, "seized", seized)
        del oz.open_group(tmp_path / "g.zarr", mode="r+")["a"]
        return seized(context, path)

    monkeypatch.setattr(transfer, "seized", erased_by_then)
    with pytest.raises(NotFoundError, match="gone") as caught:
        group.move("a", "b")
    assert caught.value.path == f"{group.store.uri}/a"
    assert list(group) == []


def test_an_array_of_another_format_is_not_the_one_that_was_asked_for(tmp_path):
    oz.create_array(tmp_path / "a.zarr", shape=3, dtype="i4", format="zarr2")
    with pytest.raises(NotFoundError, match="zarr2, which was not asked for"):
        oz.open_array(tmp_path / "a.zarr", mode="a", format="zarr3", shape=3, dtype="i4")
