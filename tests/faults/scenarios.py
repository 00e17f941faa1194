"""What people do with a store, in small: each is done again and again while one operation after the other fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import omnizarr as oz
from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.tree import Attr, Group, Storage
from omnizarr.nc.types import INT
from omnizarr.store.mapping import DictStore
from omnizarr.store.protocol import Store

VALUES = np.arange(30, dtype="i4").reshape(5, 6)
FILL = -1


class Scenario(NamedTuple):
    """A store to begin with, and what is done to it."""

    make: Callable[[], DictStore]
    act: Callable[[Store], object]
    replaced: str | None = None
    """The node that is removed before another takes its place, which a failure in between leaves away."""


def _hierarchy(fmt: str, *, consolidated: bool = True) -> Callable[[], DictStore]:
    def make() -> DictStore:
        store = DictStore({})
        root = oz.create_group(store, format=fmt, attrs={"title": "t"})
        root.create_array("a", data=VALUES, chunks=(2, 4), fill_value=FILL, attrs={"n": 1})
        root.create_array("g/b", data=VALUES[0], chunks=4, fill_value=FILL)
        root.create_array("g/s", data=np.array(["one", "two", "three"]), dtype="string", chunks=2)
        root.create_array(
            "z", data=VALUES, chunks=(5, 6), codecs=["zlib"] if fmt == "zarr2" else ["bytes", "zstd", "crc32c"]
        )
        if fmt == "zarr3":
            root.create_array("h", data=VALUES, chunks=(1, 2), shards=(3, 4), fill_value=FILL)
        if consolidated:
            root.consolidate()
        return store

    return make


def _on(act: Callable[[oz.Group], object]) -> Callable[[Store], object]:
    return lambda store: act(oz.open_group(store, mode="r+"))


ROOT: dict[str, Callable[[oz.Group], object]] = {
    "write all": lambda root: root["a"].__setitem__(..., VALUES + 100),
    "write a box": lambda root: root["a"].__setitem__((slice(1, 4), slice(1, 5)), 7),
    "write steps": lambda root: root["a"].__setitem__((slice(None, None, 2), slice(1, None, 3)), 7),
    "write points": lambda root: root["a"].vindex.__setitem__(([0, 4, 2], [5, 0, 3]), [50, 51, 52]),
    "write an outer product": lambda root: root["a"].oindex.__setitem__(([0, 4], [5, 1]), [[1, 2], [3, 4]]),
    "write fill": lambda root: root["a"].__setitem__(..., FILL),
    "write compressed": lambda root: root["z"].__setitem__((slice(1, 3), 2), 7),
    "write text": lambda root: root["g/s"].__setitem__(slice(1, 3), ["x", "a longer text"]),
    "append": lambda root: root["a"].append(VALUES[:3] + 100),
    "append along the other axis": lambda root: root["a"].append(VALUES[:, :3] + 100, axis=1),
    "grow": lambda root: root["a"].resize((9, 9)),
    "shrink": lambda root: root["a"].resize((3, 5)),
    "shrink to nothing": lambda root: root["g/b"].resize(0),
    "attributes of an array": lambda root: root["a"].attrs.update(n=2, m=[1, 2]),
    "attributes of a group": lambda root: root.attrs.update(title="u"),
    "remove an attribute": lambda root: root["a"].attrs.__delitem__("n"),
    "create a group": lambda root: root.create_group("new", attrs={"k": 1}),
    "create groups above": lambda root: root.create_group("new/deep/er"),
    "create an array": lambda root: root.create_array("g/new", shape=(4,), dtype="i4", fill_value=FILL),
    "create an array with values": lambda root: root.create_array("new", data=VALUES, chunks=(2, 2), fill_value=FILL),
    "overwrite an array": lambda root: root.create_array(
        "a", data=VALUES + 500, chunks=(3, 3), fill_value=FILL, overwrite=True
    ),
    "overwrite a group": lambda root: root.create_group("g", overwrite=True),
    "delete an array": lambda root: root.__delitem__("a"),
    "delete a group": lambda root: root.__delitem__("g"),
    "move an array": lambda root: root.move("a", "moved"),
    "move a group": lambda root: root.move("g", "deep/moved"),
    "copy an array": lambda root: root.copy("a", "copied"),
    "copy a group": lambda root: root.copy("g", "copied"),
    "consolidate": lambda root: root.consolidate(),
}
SHARDS: dict[str, Callable[[oz.Group], object]] = {
    "write a shard": lambda root: root["h"].__setitem__((slice(0, 3), slice(0, 4)), 7),
    "write a part of shards": lambda root: root["h"].__setitem__((slice(1, 4), slice(1, 5)), 7),
    "append to shards": lambda root: root["h"].append(VALUES[:2] + 100),
    "shrink shards": lambda root: root["h"].resize((2, 3)),
}


def _netcdf() -> DictStore:
    store: dict[str, bytes] = {}
    root = Group()
    t, x = root.add_dim("t", 0, unlimited=True), root.add_dim("x", 6)
    root.add_var("a", INT, (t, x), Storage(chunks=(2, 4)))
    root.add_var("b", INT, (x,))
    source = create_source(store, root, "nczarr3", consolidated=True)
    source.write(source.root.vars["a"], (slice(0, 5, 1), slice(0, 6, 1)), VALUES)
    source.write(source.root.vars["b"], (slice(0, 6, 1),), VALUES[0])
    source.close()
    return DictStore(store)


def _netcdf_grow(store: Store) -> None:
    source = open_source(store, "r+")
    source.write(source.root.vars["a"], (slice(5, 7, 1), slice(0, 6, 1)), VALUES[:2] + 100)
    source.close()


def _netcdf_define(store: Store) -> None:
    source = open_source(store, "r+")
    source.root.attrs["title"] = Attr.of_text("title", "new")
    var = source.root.add_var("c", INT, (source.root.dims["x"],))
    source.changed(source.root)
    source.write(var, (slice(0, 6, 1),), VALUES[1])
    source.close()


def _repairable() -> DictStore:
    store = _hierarchy("zarr3")()
    document = json.loads(store.get("zarr.json") or b"")
    document["consolidated_metadata"]["metadata"].pop("a", None)
    store.put("zarr.json", json.dumps(document).encode())
    return store


_REPLACED = {"overwrite an array": "a", "overwrite a group": "g"}
SCENARIOS: dict[str, Scenario] = {
    **{
        f"{name} in version 3": Scenario(_hierarchy("zarr3"), _on(act), _REPLACED.get(name))
        for name, act in (ROOT | SHARDS).items()
    },
    **{
        f"{name} in version 2": Scenario(_hierarchy("zarr2", consolidated=False), _on(act), _REPLACED.get(name))
        for name, act in ROOT.items()
    },
    "convert in place": Scenario(_hierarchy("zarr2"), lambda store: oz.convert(store, format="zarr3")),
    "repair": Scenario(_repairable, lambda store: oz.validate(store, repair=True)),
    "copy into it": Scenario(lambda: DictStore({}), lambda store: oz.copy(DictStore(dict(_SOURCE)), store)),
    "convert into it": Scenario(
        lambda: DictStore({}), lambda store: oz.convert(DictStore(dict(_SOURCE)), store, format="zarr2", exclude="h")
    ),
    "a dataset grows": Scenario(_netcdf, _netcdf_grow),
    "a dataset gets a variable": Scenario(_netcdf, _netcdf_define),
}


def _values_of(store: DictStore) -> dict[str, bytes]:
    return {key: store.get(key) or b"" for key in store.list_prefix("")}


_SOURCE = _values_of(_hierarchy("zarr3")())
