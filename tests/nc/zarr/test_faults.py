"""A fault at every operation of the store: what is there can be read, and holds old or new values, whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from omnizarr.errors import NotFoundError, OmnizarrError
from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.source import everything
from omnizarr.nc.tree import Attr, Group, Storage
from omnizarr.nc.types import INT
from omnizarr.store.fault import Fault, sweep
from omnizarr.store.mapping import DictStore


def definitions() -> Group:
    root = Group()
    t, x = root.add_dim("t", 0, unlimited=True), root.add_dim("x", 3)
    root.add_var("a", INT, (t, x), Storage(chunks=(2, 3)))
    root.add_var("b", INT, (x,))
    root.add_group("g").add_var("c", INT, (t,), Storage(chunks=(2,)))
    return root


def made(kind: str) -> DictStore:
    store: dict[str, bytes] = {}
    source = create_source(store, definitions(), kind, consolidated=True)
    source.write(source.root.vars["a"], (slice(0, 3, 1), slice(0, 3, 1)), np.arange(9, dtype="i4").reshape(3, 3))
    source.write(source.root.vars["b"], (slice(0, 3, 1),), np.arange(3, dtype="i4"))
    source.write(source.root.groups["g"].vars["c"], (slice(0, 3, 1),), np.arange(3, dtype="i4"))
    source.close()
    return DictStore(store)


def copy_of(store: DictStore) -> DictStore:
    return DictStore({key: store.get(key) or b"" for key in store.list_prefix("")})


def define(source: Any) -> None:
    root = source.root
    root.attrs["title"] = Attr.of_text("title", "new")
    new = root.add_group("h").add_var("d", INT, (root.add_dim("z", 2), root.dims["x"]))
    source.changed(root)
    source.write(new, (slice(0, 2, 1), slice(0, 3, 1)), np.ones((2, 3), "i4"))


def grow(source: Any) -> None:
    source.write(source.root.vars["a"], (slice(3, 6, 1), slice(0, 3, 1)), np.full((3, 3), 7, "i4"))
    source.sync()
    source.write(source.root.groups["g"].vars["c"], (slice(6, 9, 1),), np.full(3, 8, "i4"))


def rename(source: Any) -> None:
    root = source.root
    for table, old in ((root.dims, "x"), (root.vars, "b"), (root.groups, "g")):
        node = table.pop(old)
        node.name = f"new_{old}"
        table[node.name] = node
        source.changed(root)


CHANGES: dict[str, Callable[[Any], None]] = {"define": define, "grow": grow, "rename": rename}


@pytest.mark.filterwarnings("ignore::omnizarr.errors.OmnizarrWarning")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["nczarr", "nczarr3"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_fails(change, kind, when):
    base = made(kind)
    for failing in sweep(lambda: copy_of(base), Fault(kind="any", when=when, times=None)):
        try:
            source = open_source(failing, "a")
            CHANGES[change](source)
            source.close()
        except OmnizarrError:
            pass
        check(open_source(failing.inner))
        again = open_source(failing.inner, "a")
        if change == "grow":
            CHANGES[change](again)
        again.close()
        check(open_source(failing.inner))


def check(source: Any) -> None:
    root = source.root
    size = root.dims["t"].size
    assert size in (3, 6, 9)
    a = source.read(root.vars["a"], everything(root.vars["a"]))
    assert a[:3].ravel().tolist() == list(range(9))
    assert set(a[3:].ravel().tolist()) <= {7, INT.fill}
    b = next(var for var in root.vars.values() if var.name.endswith("b"))
    assert source.read(b, everything(b)).tolist() == [0, 1, 2]
    group = next(group for group in root.groups.values() if group.name.endswith("g"))
    c = source.read(group.vars["c"], everything(group.vars["c"]))
    assert c[:3].tolist() == [0, 1, 2]
    assert set(c[3:].tolist()) <= {8, INT.fill}
    if "h" in root.groups:
        d = root.groups["h"].vars["d"]
        assert set(source.read(d, everything(d)).ravel().tolist()) <= {1, INT.fill}


@pytest.mark.filterwarnings("ignore::omnizarr.errors.OmnizarrWarning")
@pytest.mark.parametrize("kind", ["nczarr", "nczarr3", "zarr"])
def test_a_creation_that_fails_leaves_a_whole_dataset_or_none(kind):
    root = definitions()
    root.attrs["title"] = Attr.of_text("title", "new")
    base = made("nczarr")
    for failing in sweep(lambda: copy_of(base), Fault(kind="write", times=None)):
        try:
            source = create_source(failing, root, kind)
            source.close()
        except OmnizarrError:
            pass
        try:
            found = open_source(failing.inner)
        except NotFoundError:
            continue
        whole = list(found.root.vars) == ["a", "b"] and list(found.root.groups) == ["g"]
        # Plain Zarr has no list of what there is: its arrays appear one by one, each of them whole.
        assert whole or not found.root.vars or kind == "zarr"
        assert "title" not in found.root.attrs or whole
        if "title" not in found.root.attrs and whole and kind != "zarr":
            check(found)
