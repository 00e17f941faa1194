"""A store that fails is told of; a repair that fails half-way leaves a store that reads as before."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError, StoreError
from omnizarr.store.fault import Fault, FaultStore, sweep
from omnizarr.store.mapping import DictStore
from omnizarr.tools.validate import validate
from tests.tools.validate import bases
from tests.tools.validate.bases import Tree
from tests.tools.validate.broken import BROKEN

# Each is broken in a way that does not keep values from being read.
SPOILT = ("OZ102", "OZ202", "OZ210", "OZ234", "OZ504", "OZ603", "OZ605", "OZ804", "OZ805", "OZ806")


def values(tree: Tree) -> dict[str, Any]:
    """The arrays at the two paths that all stores here have, whatever lies above them."""
    return {path: oz.open_array(tree, path=path, consolidated=False)[...] for path in ("a", "g/b")}


def test_a_chunk_that_cannot_be_read():
    store = FaultStore(DictStore(bases.v2()), Fault(kind="get_range", key="a/0.0", times=None))
    report = validate(store, decode=True)
    assert [(one.rule, one.key) for one in report.findings] == [("OZ712", "a/0.0")]


@pytest.mark.parametrize("kind", ["size", "exists", "list_dir", "get_range"])
def test_whatever_fails_is_told_of(kind):
    store = FaultStore(DictStore(bases.v2()), Fault(kind=kind, key="a/", times=None))
    report = validate(store, decode=True)
    assert bool(store.fired) == (kind != "list_dir")
    assert "OZ712" in {one.rule for one in report.findings} or not store.fired


def test_a_document_that_cannot_be_read():
    store = FaultStore(DictStore(bases.v2()), Fault(kind="get", key="a/.zarray", times=None))
    assert ("OZ110", "a/.zarray") in [(one.rule, one.key) for one in validate(store).findings]


def test_every_failing_read_is_an_error_or_a_finding():
    for store in sweep(lambda: DictStore(bases.consolidated()), Fault(kind="read")):
        try:
            report = validate(store, decode=True)
        except OmnizarrError:
            continue
        assert report.findings or not store.fired or store.fired[0][1] == "get"  # which is tried again, one by one


@pytest.mark.parametrize("rule", SPOILT)
def test_an_interrupted_repair_leaves_what_can_be_read(rule):
    expected = values(bases.v3())
    for when in ("before", "after"):
        trees: list[Tree] = []

        def make(trees: list[Tree] = trees) -> DictStore:
            trees.append(BROKEN[rule].tree())
            return DictStore(trees[-1])

        for store in sweep(make, Fault(kind="write", when=when)):
            with contextlib.suppress(StoreError):
                validate(store, repair="all")
            for name, found in values(trees[-1]).items():
                np.testing.assert_array_equal(found, expected[name])
        assert validate(trees[-1]).clean
