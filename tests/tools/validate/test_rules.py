"""Each rule is broken once on purpose, and told of by its own id."""

from __future__ import annotations

import pytest

from omnizarr.tools.validate import RULES, validate
from tests.tools.validate.bases import CLEAN, lay_out
from tests.tools.validate.broken import BROKEN, ELSEWHERE


def test_every_rule_has_a_case():
    assert BROKEN.keys() | ELSEWHERE.keys() == RULES.keys()
    assert len(BROKEN) >= 60


@pytest.mark.parametrize("name", CLEAN)
def test_sound_stores_are_clean(name, tmp_path):
    tree = CLEAN[name]()
    assert validate(tree, decode=True).findings == ()
    report = validate(lay_out(tmp_path / "x", tree), decode=True)
    assert report.findings == ()
    assert report.ok
    assert report.census


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_told_of(rule, tmp_path):
    broken = BROKEN[rule]
    report = validate(lay_out(tmp_path / "x", broken.tree()), decode=broken.decode)
    found = {one.rule for one in report.findings}
    assert rule in found
    assert found - {rule} == broken.also
    finding = next(one for one in report.findings if one.rule == rule)
    assert finding.severity == RULES[rule].severity
    assert finding.message
    assert report.ok == (not any(RULES[one].severity == "error" for one in found))


@pytest.mark.parametrize("rule", BROKEN)
def test_the_same_in_memory(rule):
    broken = BROKEN[rule]
    assert rule in {one.rule for one in validate(broken.tree(), decode=broken.decode).findings}


def test_a_name_twice_and_an_end_that_is_none():
    """The first fault that a reader meets is not the last: nothing can be made of such a text."""
    store = {"zarr.json": b'{"zarr_format": 3, "zarr_format": 3, "node_type": "group"}\x1f'}
    assert [one.rule for one in validate(store).findings] == ["OZ103"]
