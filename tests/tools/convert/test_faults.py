"""Conversions that fail at each of their operations: what was there is still there, or the next run puts it right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError, StoreError
from omnizarr.store.fault import Fault, FaultStore
from omnizarr.store.mapping import DictStore
from omnizarr.tools.convert import rollback
from omnizarr.tools.convert.journal import JOURNAL, load_journal
from tests.tools.convert.conftest import same_tree

SCENARIOS: dict[str, tuple[str, dict[str, Any]]] = {
    # By name: the format of the source, and what is asked for.
    "documents": ("zarr2", {"format": "zarr3"}),
    "back": ("zarr3", {"format": "zarr2", "verify": True}),
    "other chunks under other names": ("zarr2", {"format": "zarr3", "chunks": {"x": 3}}),
    "other chunks under the same names": ("zarr3", {"chunks": {"x": 3}, "codecs": ["zstd"], "verify": True}),
}


def hierarchy(form: str) -> dict[str, bytes]:
    store: dict[str, bytes] = {}
    group = oz.create_group(store, format=form, attrs={"title": "t"})
    array = group.create_array("a/t", shape=(4, 6), dtype="f4", chunks=(4, 2), dims=("y", "x"), fill_value=np.nan)
    array[:, :5] = np.arange(20).reshape(4, 5)
    group.create_array("x", data=np.arange(6), chunks=(4,), dims=("x",), attrs={"units": "m"})
    group.consolidate()
    return store


def is_under_way(store: dict[str, bytes]) -> bool:
    return JOURNAL in store


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_in_place(name, lasting):
    form, options = SCENARIOS[name]
    source = oz.open(hierarchy(form))
    undone = finished = failures = 0
    at = 1
    while True:
        store = hierarchy(form)
        before = dict(store)
        failing = FaultStore(DictStore(store), Fault(at=at, times=None if lasting else 1))
        try:
            oz.convert(failing, **options)
        except OmnizarrError:
            failures += 1
        if not failing.fired:
            break
        at += 1
        if not is_under_way(store):
            # Undone, or all was done and what failed came after.
            same_tree(source, oz.open(store))
            assert store == before or oz.open(store).format == options.get("format", form)
            continue
        journal = load_journal(DictStore(store), "")
        assert journal is not None
        if journal.state == "building":
            same_tree(source, oz.open(store))
        if at % 2:
            outcome = rollback(store)
            assert outcome == ("undone" if journal.state == "building" else "finished")
            if outcome == "undone":
                undone += 1
                assert store == before
        else:
            finished += 1
            assert oz.convert(store, **options).resumed
            assert oz.open(store).format == options.get("format", form)
        assert not any("omnizarr" in key for key in store)
        same_tree(source, oz.open(store))
    assert failures > 20
    if lasting:
        assert undone > 1
        assert finished > 5


@pytest.mark.parametrize("options", [{"format": "zarr3"}, {"format": "zarr3", "chunks": {"x": 3}, "verify": True}])
def test_elsewhere(options):
    source = hierarchy("zarr2")
    at, resumed, failures = 1, 0, 0
    while True:
        store: dict[str, bytes] = {}
        failing = FaultStore(DictStore(store), Fault(at=at, times=None))
        try:
            oz.convert(source, failing, **options)
        except StoreError:
            failures += 1
        if not failing.fired:
            break
        at += 1
        half = oz.detect(store).kind
        if half == "group":  # once it opens, it is whole
            same_tree(oz.open(source), oz.open(store))
        if is_under_way(store) and at % 3 == 0:
            assert rollback(store) == "undone"
            assert store == {}
            continue
        done = oz.convert(source, store, **options) if is_under_way(store) or not store else None
        resumed += done is not None and done.resumed
        same_tree(oz.open(source), oz.open(store))
        assert not any("omnizarr" in key for key in store)
    assert resumed > 5
    assert failures == at - 1


def test_corrupt_sources_leave_everything_as_it_was():
    store = hierarchy("zarr2")
    store["a/t/.zarray"] = store["a/t/.zarray"].replace(b'"compressor": null', b'"compressor": {"id": "zlib"}')
    before = dict(store)
    with pytest.raises(oz.errors.CorruptError):
        oz.convert(store, format="zarr3", chunks={"x": 3})
    assert store == before
    with pytest.raises(oz.errors.CorruptError):  # chunks would stay, but are read before the old documents go
        oz.convert(store, format="zarr3", verify=True)
    assert store == before


def test_ctrl_c_in_place_undoes_what_was_begun():
    store = hierarchy("zarr2")
    before = dict(store)
    failing = FaultStore(DictStore(store), Fault(kind="put", at=3, error=KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        oz.convert(failing, format="zarr3", chunks={"x": 3})
    assert store == before
