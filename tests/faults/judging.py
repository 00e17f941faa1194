"""What a failure may leave behind: of each node the old state or the new one, element by element."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

import omnizarr as oz
from omnizarr.errors import NotFoundError, OmnizarrError, OmnizarrWarning
from omnizarr.store.fault import Fault, FaultStore, sweep
from omnizarr.store.protocol import Store
from tests.faults.scenarios import Scenario

MOST = 1000


class Node(NamedTuple):
    """A node as it is read."""

    attrs: dict[str, Any]
    values: np.ndarray | None
    fill: Any


def state(store: Store, *, consolidated: bool | None = False) -> dict[str, Node]:
    """Read everything in a store."""
    try:
        root = oz.open(store, mode="r", consolidated=consolidated)
    except NotFoundError:
        return {}
    assert isinstance(root, oz.Group)
    found = {"": Node(root.attrs.asdict(), None, None)}
    for path, node in root.members(None):
        if isinstance(node, oz.Array):
            found[path] = Node(node.attrs.asdict(), np.asarray(node[...]).astype(object), node.fill_value)
        else:
            found[path] = Node(node.attrs.asdict(), None, None)
    return found


def same(one: dict[str, Node], other: dict[str, Node]) -> bool:
    """Tell whether two stores hold the same."""
    return one.keys() == other.keys() and all(
        one[path].attrs == other[path].attrs and _equal(one[path].values, other[path].values) for path in one
    )


def _equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and bool(np.all(one == other))


def judge(found: dict[str, Node], old: dict[str, Node], new: dict[str, Node], replaced: str | None) -> None:
    """Fail if anything is there that is neither old nor new."""
    assert found.keys() <= old.keys() | new.keys()
    assert found.keys() >= (old.keys() & new.keys()) - {replaced}
    for path, node in found.items():
        known = [state[path] for state in (old, new) if path in state]
        # While one node takes the place of another, there may be a group without anything in it.
        assert node.attrs in [*(one.attrs for one in known), {}], (path, node.attrs)
        arrays = [one for one in known if one.values is not None]
        if node.values is not None:
            assert node.values.shape in [one.values.shape for one in arrays], path
            _judge_values(path, node, arrays)


def _judge_values(path: str, node: Node, known: list[Node]) -> None:
    # What is made new, or cut off, may not be there yet, or any more.
    good = node.values == node.fill
    for one in known:
        box = tuple(slice(0, min(a, b)) for a, b in zip(node.values.shape, one.values.shape, strict=True))
        good[box] |= node.values[box] == one.values[box]
    assert np.all(good), (path, node.values, [one.values for one in known])
    if len(known) > 1:
        # But what is both in the old state and in the new one never is the fill value in between.
        box = tuple(
            slice(0, min(lengths)) for lengths in zip(*(one.values.shape for one in (node, *known)), strict=True)
        )
        both = known[0].values[box] == known[1].values[box]
        assert np.all(node.values[box][both] == known[0].values[box][both]), path


def run(scenario: Scenario, fault: Fault) -> int:
    """Let each operation of a scenario fail in turn; return how many did."""
    with warnings.catch_warnings():
        # Of documents of two versions side by side, which is what a conversion goes through.
        warnings.simplefilter("ignore", OmnizarrWarning)
        return _run(scenario, fault)


def _run(scenario: Scenario, fault: Fault) -> int:
    old = state(scenario.make())
    done = scenario.make()
    scenario.act(done)
    new = state(done)
    runs = 0
    for failing in sweep(scenario.make, fault):
        error = _error(scenario, failing)
        found = state(failing.inner)
        if error is None:
            assert same(found, new), (failing.fired, "no error, and not what it should be")
        else:
            assert error.key is not None or error.path is not None, repr(error)
            judge(found, old, new, scenario.replaced)
        state(failing.inner, consolidated=None)
        runs += 1
        assert runs < MOST
    return runs - 1


def _error(scenario: Scenario, failing: FaultStore) -> OmnizarrError | None:
    try:
        scenario.act(failing)
    except OmnizarrError as error:
        return error
    return None
