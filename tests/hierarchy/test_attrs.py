"""Attributes: a mapping of JSON values that is written at once."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, NotFoundError
from omnizarr.store.observe import CountingStore


@pytest.fixture(params=["group", "array"])
def kind(request):
    return request.param


@pytest.fixture(params=["zarr3", "zarr2"])
def node(request, kind):
    store = {}
    if kind == "group":
        return oz.create_group(store, format=request.param)
    return oz.create_array(store, shape=(2,), dtype="i4", format=request.param)


def reopened(node):
    return oz.open(node.store).attrs


def test_values_are_written_at_once(node):
    node.attrs["a"] = 1
    assert reopened(node).asdict() == {"a": 1}
    node.attrs.update({"b": [1, 2]}, c={"d": None})
    assert reopened(node).asdict() == {"a": 1, "b": [1, 2], "c": {"d": None}}
    del node.attrs["a"]
    assert list(reopened(node)) == ["b", "c"]
    assert node.attrs.pop("b") == [1, 2]
    assert node.attrs.setdefault("e", "x") == "x"
    node.attrs.put({"only": True})
    assert reopened(node).asdict() == {"only": True}
    node.attrs.clear()
    assert len(reopened(node)) == 0
    assert "only" not in node.attrs
    with pytest.raises(KeyError):
        node.attrs["only"]
    with pytest.raises(KeyError):
        del node.attrs["only"]


def test_numpy_values_become_plain_ones(node):
    node.attrs.update(
        i=np.int16(3), f=np.float32(0.5), b=np.bool_(True), s=np.str_("x"), a=np.arange(4).reshape(2, 2), t=(1, (2,)),
        u=np.array(["a", "b"]),
    )  # fmt: skip
    expected = {"i": 3, "f": 0.5, "b": True, "s": "x", "a": [[0, 1], [2, 3]], "t": [1, [2]], "u": ["a", "b"]}
    assert reopened(node).asdict() == expected
    assert node.attrs.asdict() == expected


def test_nan_and_huge_numbers_survive(node):
    node.attrs.update(nan=math.nan, inf=-math.inf, big=2**70)
    read = reopened(node)
    assert math.isnan(read["nan"])
    assert (read["inf"], read["big"]) == (-math.inf, 2**70)


@pytest.mark.parametrize("value", [b"x", {1: 2}, object(), np.datetime64("2020"), {"a": [set()]}, np.zeros(1, "c8")])
def test_what_json_cannot_say_is_refused(node, value):
    with pytest.raises(MetadataError, match=r"JSON|string"):
        node.attrs["a"] = value
    assert len(reopened(node)) == 0


@pytest.mark.parametrize("value", [10**6000, -(10**6000), [1, [10**6000]], np.array([10**6000], object)], ids=range(4))
def test_integers_that_nobody_could_read_are_refused(node, value):
    uses = (
        lambda: node.attrs.__setitem__("n", value),
        lambda: oz.create_group({}, attrs={"n": value}),
        lambda: oz.create_array({}, shape=(1,), attrs={"n": value}, format="zarr2"),
        lambda: oz.create_group({}).create_group("g", attrs={"n": value}),
    )
    for use in uses:
        with pytest.raises(MetadataError, match="attribute 'n' holds an integer of more digits"):
            use()
    assert len(reopened(node)) == 0
    node.attrs["n"] = 10**4000
    assert reopened(node)["n"] == 10**4000


def test_what_holds_itself_is_refused(node):
    circle = {}
    circle["a"] = [circle]
    with pytest.raises(MetadataError, match="holds itself"):
        node.attrs["c"] = circle
    assert len(reopened(node)) == 0


def test_what_comes_out_is_a_copy(node):
    node.attrs["a"] = {"b": [1]}
    node.attrs["a"]["b"].append(2)
    assert node.attrs["a"] == {"b": [1]}
    assert oz.open(node.store).attrs["a"] == {"b": [1]}


def test_two_handles_do_not_undo_each_other(node):
    other = oz.open(node.store, "r+")
    node.attrs["a"] = 1
    other.attrs["b"] = 2
    assert reopened(node).asdict() == {"a": 1, "b": 2}


def test_an_update_is_one_write(kind):
    store = CountingStore(oz.MemoryStore())
    node = oz.create_group(store) if kind == "group" else oz.create_array(store, shape=(1,))
    before = store.operations["put"]
    node.attrs.update(a=1, b=2, c=3)
    assert store.operations["put"] == before + 1


def test_data_stay_readable_after_a_change():
    array = oz.create_array({}, data=[1, 2, 3])
    array.attrs["a"] = 1
    array[0] = 5
    assert array[...].tolist() == [5, 2, 3]


def test_repr_shows_the_values(node):
    node.attrs["a"] = 1
    assert repr(node.attrs) == "Attributes({'a': 1})"


def test_an_attribute_that_is_not_there_is_said_with_those_that_are(tmp_path):
    group = oz.create_group(tmp_path / "x.zarr", attrs={"title": "a", "units": "m"})
    array = group.create_array("t", shape=(), dtype="i4", attrs={f"a{i}": i for i in range(30)})
    bare = group.create_array("bare", shape=(), dtype="i4")
    for node, said in ((group, "There are 'title', 'units'."), (array, "'a19' and 10 more."), (bare, "no attributes")):
        for action in (lambda node=node: node.attrs["unit"], lambda node=node: node.attrs.pop("unit")):
            with pytest.raises(KeyError) as caught:
                action()
            assert isinstance(caught.value, NotFoundError)
            assert "there is no attribute 'unit'" in str(caught.value)
            assert caught.value.path.endswith(f"x.zarr/{node.path}".rstrip("/"))
            assert said in str(caught.value)
        with pytest.raises(KeyError):
            del node.attrs["unit"]
        assert node.attrs.get("unit", 7) == 7
        assert node.attrs.pop("unit", 7) == 7


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("make", [oz.create_group, partial(oz.create_array, shape=1, dtype="i4")])
@pytest.mark.parametrize(("old", "new"), [(1, True), (1, 1.0), (0.0, -0.0), ([0], [False]), ({"a": 1}, {"a": 1.0})])
def test_values_that_python_takes_for_equal_are_told_apart(form, make, old, new):
    store = {}
    node = make(store, format=form, attrs={"x": old})
    other = oz.open(store, mode="r+")
    node.attrs["x"] = new
    assert repr(oz.open(store).attrs["x"]) == repr(new)
    other.refresh()
    assert repr(other.attrs["x"]) == repr(new)
    other.attrs["y"] = 1
    assert repr(oz.open(store).attrs["x"]) == repr(new)
