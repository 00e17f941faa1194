"""Attributes that are left of an earlier node do not become those of a new one, wherever and however it is made."""

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError
from omnizarr.format.names import join
from tests.store.test_tagged import Versions

LEFT = b'{"k": 0, "_ARRAY_DIMENSIONS": ["old"]}'
V2 = {"shape": (2,), "dtype": "i4", "format": "zarr2"}


def source():
    group = oz.create_group({}, format="zarr3")
    group.create_array("a", data=np.arange(3)).attrs["own"] = 1
    group.create_group("a2")
    return group.store


DOORS = {
    "an array": lambda store: oz.create_array(store, path="a", **V2),
    "an array with attributes": lambda store: oz.create_array(store, path="a", attrs={"own": 1}, **V2),
    "an array with names": lambda store: oz.create_array(store, path="a", dims=["x"], **V2),
    "an array in place": lambda store: oz.create_array(store, path="a", overwrite=True, **V2),
    "an array in groups": lambda store: oz.create_array(store, path="a/b", **V2),
    "the root": lambda store: oz.create_array(store, **V2),
    "the root in place": lambda store: oz.create_array(store, overwrite=True, **V2),
    "a group": lambda store: oz.create_group(store, path="a", format="zarr2"),
    "a group, opened": lambda store: oz.open_group(store, mode="a", path="a", format="zarr2"),
    "a conversion": lambda store: oz.convert(source(), store, format="zarr2"),
    "a dataset": lambda store: oz.Dataset(store, "w").close(),
}


@pytest.fixture(params=[oz.MemoryStore, Versions], ids=["plain", "conditional"])
def store(request):
    return request.param()


@pytest.mark.parametrize("door", DOORS)
def test_new_nodes_begin_without(door, store):
    for path in ("", "a", "a/b", "a2"):
        store.put(join(path, ".zattrs"), LEFT)
    DOORS[door](store)
    nodes = [key.rpartition("/")[0] for key in store.list_prefix("") if key.endswith((".zarray", ".zgroup"))]
    assert nodes
    for path in nodes:
        attrs = dict(oz.open(store, path=path).attrs)
        assert "k" not in attrs
        assert attrs.get("_ARRAY_DIMENSIONS") != ["old"]
        assert attrs.get("own") == (1 if path == "a" and ("attributes" in door or "conversion" in door) else None)


@pytest.mark.parametrize(("first", "second"), [("array", "group"), ("group", "array"), ("array", "array")])
@pytest.mark.parametrize("erased", [True, False])
def test_nodes_that_follow_another(first, second, erased, store):
    group = oz.create_group(store, format="zarr2")
    make = {
        "array": lambda **options: group.create_array("n", shape=(2,), dtype="i4", **options),
        "group": lambda **options: group.create_group("n", **options),
    }
    make[first](attrs={"k": 0})
    if erased:
        del group["n"]
    make[second](overwrite=not erased)
    assert dict(group["n"].attrs) == {}


class Meanwhile(Versions):
    """A store where another program makes the node right after its attributes were replaced."""

    def put_if(self, key, data, tag):
        done = super().put_if(key, data, tag)
        if key == "n/.zattrs" and tag is not None and done is not None:
            self.put("n/.zgroup", b'{"zarr_format": 2}')
        return done


@pytest.mark.parametrize("attrs", [None, {"mine": 1}])
def test_attributes_of_who_is_quicker_come_back(attrs):
    store = Meanwhile()
    oz.create_group(store, format="zarr2")
    store.put("n/.zattrs", b'{"theirs": 1}')  # of a program that is about to make the node
    with pytest.raises(ExistsError, match="at the same time"):
        oz.create_group(store, path="n", attrs=attrs, format="zarr2")
    assert dict(oz.open(store, path="n").attrs) == {"theirs": 1}


def test_a_conversion_in_place_forgets_what_is_beside_it():
    store = oz.MemoryStore()
    oz.create_array(store, data=[1, 2], format="zarr3")
    store.put(".zattrs", LEFT)
    oz.convert(store, format="zarr2")
    assert dict(oz.open(store).attrs) == {}
