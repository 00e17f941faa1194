"""`oz validate` as people and programs use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omnizarr.cli.main import main
from omnizarr.tools.validate import RULES
from tests.tools.validate import bases
from tests.tools.validate.bases import lay_out
from tests.tools.validate.broken import BROKEN

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def place(tmp_path) -> Path:
    """A store with an error, a warning and a note."""
    tree = BROKEN["OZ605"].tree()
    tree["a/c/0/0"] = b"short"
    tree["g/.DS_Store"] = b"x"
    return lay_out(tmp_path / "x.zarr", tree)


def test_a_sound_store(tmp_path, capsys):
    place = lay_out(tmp_path / "x.zarr", bases.v3())
    assert main(["validate", str(place)]) == 0
    out, err = capsys.readouterr()
    assert out == "nothing wrong in 4 nodes, 11 keys\n7 of 7 chunks stored, 165 B in 2 arrays\n"
    assert err == ""


def test_findings_are_listed_by_node(place, capsys):
    assert main(["validate", str(place)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "/a"
    assert lines[1].startswith("  error   OZ702 ")
    assert lines[1].endswith(" [a/c/0/0]")
    assert lines[2] == "  warning OZ605 'a/c/9/9' is a chunk outside the array [a/c/9/9]"
    assert lines[3] == "/g"
    assert lines[4].startswith("  note    OZ602 ")
    assert lines[5] == "1 error, 1 warning, 1 note in 4 nodes, 13 keys; --repair=all mends 2"
    assert lines[6].startswith("7 of 7 chunks stored, ")


def test_exit_codes(place, capsys):
    where = str(place)
    assert main(["validate", where, "--ignore", "OZ702"]) == 0
    assert main(["validate", where, "--ignore", "OZ702", "--strict"]) == 1
    assert main(["validate", where, "--select", "OZ602", "--strict"]) == 0
    assert main(["validate", where + "/nothing"]) == 2
    assert main(["validate", where, "--select", "nonsense"]) == 2
    assert main(["validate"]) == 2
    assert "oz validate --help" in capsys.readouterr().err


def test_repair(place, capsys):
    document = place / "a/zarr.json"
    document.write_bytes(b"\xef\xbb\xbf" + document.read_bytes())
    assert main(["validate", str(place), "--repair"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "repaired OZ102: rewrote a/zarr.json"
    assert (place / "a/c/9/9").exists()
    assert (place / "g/.DS_Store").exists()
    assert main(["validate", str(place), "--repair=all", "--ignore", "OZ702"]) == 0
    assert not (place / "a/c/9").exists() or not any((place / "a/c/9").iterdir())
    assert not (place / "g/.DS_Store").exists()


def test_the_location_may_follow_the_word_repair(place, capsys):
    assert main(["validate", "--repair", str(place)]) == 1
    assert capsys.readouterr().out.startswith("/a\n")
    assert main(["validate", "--repair", "all"]) == 2
    assert main(["validate", str(place), "--repair", "everything"]) == 2
    assert "everything" in capsys.readouterr().err


def test_json(place, capsys):
    assert main(["validate", str(place), "--json", "--decode"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert report["counts"] == {"error": 1, "warning": 1, "note": 1}
    assert [one["rule"] for one in report["findings"]] == ["OZ702", "OZ605", "OZ602"]
    assert report["findings"][1]["repairable"] is True
    assert report["census"][0]["missing"] == 0
    assert report["decoded"] is True


def test_sarif(place, capsys):
    assert main(["validate", str(place), "--sarif"]) == 1
    log = json.loads(capsys.readouterr().out)
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == ["OZ702", "OZ605", "OZ602"]


def test_colour(place, capsys):
    main(["validate", str(place), "--colour", "always"])
    assert "\x1b[31merror" in capsys.readouterr().out


def test_rules_are_listed(capsys):
    assert main(["validate", "--rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(RULES)
    assert main(["validate", "--rules", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed[0]["clause"]["url"].startswith("https://")


def test_the_page_of_rules_is_in_step():
    text = (DOCS / "reference/rules.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| OZ")]
    assert rows == [
        f"| {rule.id} | `{rule.name}` | {rule.severity} | {rule.repair or '–'} | {rule.summary} "
        f"| [{rule.clause.name}]({rule.clause.url}) |"
        for rule in RULES.values()
    ]
