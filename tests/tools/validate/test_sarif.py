"""The SARIF log has the form that its readers expect."""

from __future__ import annotations

import json

import pytest

from omnizarr.tools.validate import RULES, validate
from omnizarr.tools.validate.sarif import to_sarif
from tests.tools.validate.bases import lay_out
from tests.tools.validate.broken import BROKEN

LEVELS = {"error", "warning", "note"}


@pytest.mark.parametrize("rule", ["OZ206", "OZ506", "OZ605", "OZ701"])
def test_results_point_to_rules_and_places(rule, tmp_path):
    place = lay_out(tmp_path / "my store", BROKEN[rule].tree())
    log = json.loads(json.dumps(to_sarif(validate(place))))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    listed = run["tool"]["driver"]["rules"]
    assert [one["id"] for one in listed] == list(RULES)
    for one in listed:
        assert one["defaultConfiguration"]["level"] in LEVELS
        assert one["helpUri"].startswith("https://")
        assert one["shortDescription"]["text"]
        assert one["name"].isalnum()
    base = run["originalUriBaseIds"]["STORE"]["uri"]
    assert base.startswith("file:///")
    assert base.endswith("my%20store/")
    (result,) = run["results"]
    assert result["ruleId"] == rule
    assert listed[result["ruleIndex"]]["id"] == rule
    assert result["level"] == RULES[rule].severity
    assert result["message"]["text"]
    (location,) = result["locations"]
    assert location["logicalLocations"][0]["fullyQualifiedName"].startswith("/")
    if rule != "OZ506":
        uri = location["physicalLocation"]["artifactLocation"]
        assert uri["uriBaseId"] == "STORE"
        assert uri["uri"].startswith("a/")


def test_a_sound_store_has_no_results():
    (run,) = to_sarif(validate(BROKEN["OZ605"].base()))["runs"]
    assert run["results"] == []
