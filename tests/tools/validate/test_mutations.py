"""Whatever documents and chunks hold, validate answers, and never says that all is well where opening fails."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import NotFoundError, OmnizarrError
from omnizarr.limits import Limits
from omnizarr.tools.validate import Report, validate
from tests.tools.validate.bases import CLEAN, Tree, dump

FEW = settings(max_examples=min(settings().max_examples, 400))
"""Each example is a store, so fewer than elsewhere have to do."""

BASES = {name: make() for name, make in CLEAN.items()}
WORDS = st.sampled_from(
    [
        "array",
        "group",
        "regular",
        "bytes",
        "gzip",
        "sharding_indexed",
        "transpose",
        "int32",
        "<f4",
        "|O",
        "NaN",
        "C",
        "/",
    ]
)
NAMES = WORDS | st.sampled_from(["name", "id", "configuration", "must_understand"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | WORDS
    | st.text(max_size=3)
    | st.sampled_from([0, 1, 2, 3, -1, {}, [], {"name": "bytes"}, {"id": "zlib"}]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.sampled_from(["name", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [above]
    for name, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        found += places(inner, (*above, name))
    return found


@st.composite
def trees(draw: Any) -> Tree:
    """A sound store in which a few documents were changed as JSON or as bytes."""
    tree = dict(BASES[draw(st.sampled_from(sorted(BASES)))])
    for _ in range(draw(st.integers(1, 3))):
        key = draw(st.sampled_from(sorted(tree)))
        try:
            value = json.loads(tree[key])
        except ValueError:
            value = None
        if isinstance(value, dict) and draw(st.booleans()):
            _change(draw, value)
            tree[key] = dump(value)
        else:
            at = draw(st.integers(0, len(tree[key])))
            cut = draw(st.integers(0, 5))
            tree[key] = tree[key][:at] + draw(st.binary(max_size=4)) + tree[key][at + cut :]
    return tree


def _change(draw: Any, value: dict[str, Any]) -> None:
    *parents, last = draw(st.sampled_from([one for one in places(value) if one])) if value else ("x",)
    place: Any = value
    for name in parents:
        place = place[name]
    what = draw(st.sampled_from(["set", "drop", "add"]))
    if what == "set":
        place[last] = draw(VALUES)
    elif what == "drop" and value:
        del place[last]
    elif isinstance(place, dict):
        place[draw(st.text(max_size=4))] = draw(VALUES)
    else:
        place.append(draw(VALUES))


def look(tree: Tree, **options: Any) -> Report | None:
    try:
        return validate(tree, **options)
    except NotFoundError:  # nothing is left that looks like a node
        return None


@pytest.mark.filterwarnings("ignore::omnizarr.OmnizarrWarning")
@FEW
@given(trees())
def test_mutated_stores_are_reported_on(tree):
    report = look(tree, decode=True)
    if report is None or report.findings:
        return
    # Nothing is wrong, so all of it can be read.
    node = oz.open(dict(tree))
    members = [("", node)] if isinstance(node, oz.Array) else node.members(max_depth=None)
    for _, one in members:
        if isinstance(one, oz.Array) and one.size < 10_000:
            one[...]


@FEW
@given(trees())
def test_mutated_stores_are_repaired_or_left(tree):
    before = look(tree)
    after = look(tree, repair="all")
    if before is not None and after is not None and before.ok:
        assert after.ok


@FEW
@given(trees(), st.integers(0, 400), st.integers(0, 6), st.sampled_from([8, 24, 1 << 20]))
def test_limits_are_kept(tree, size, depth, chunk):
    try:
        limits = Limits()._replace(max_document_bytes=size, max_document_depth=depth, max_chunk_bytes=chunk)
        look(tree, limits=limits, decode=True)
    except OmnizarrError as error:
        pytest.fail(repr(error))
