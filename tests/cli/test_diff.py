"""`oz diff` says in few lines what differs, and by its exit code whether anything does."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.cli.main import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Two datasets that differ in some things."""
    monkeypatch.chdir(tmp_path)
    values = np.arange(24, dtype="f4").reshape(4, 6)
    for name, form, units in (("a.zarr", "zarr3", "K"), ("b.zarr", "zarr2", "degC")):
        group = oz.create_group(name, format=form, attrs={"n": 1})
        dims = ("time", "x")
        group.create_array("t", shape=(4, 6), dtype="f4", chunks=(1, 6), dims=dims, attrs={"units": units})
        group["t"][...] = values
        group.create_array(name[0], shape=(2,), dtype="i4")
        group.create_array("when", shape=(2,), dtype="M8[D]", fill_value=0)
    group["t"][2, 1:3] += 0.5
    group["t"][2, 5] = np.nan
    group["when"][1] = "1970-01-04"
    return tmp_path


def run(capsys, *words):
    code = main(["diff", *words])
    return code, capsys.readouterr().out


def test_differences_are_shown(here, capsys):
    code, text = run(capsys, "a.zarr", "b.zarr")
    assert code == 1
    assert text.splitlines() == [
        "--- a.zarr",
        "+++ b.zarr",
        "- a  (2,) int32  renamed to b?",
        "+ b  (2,) int32  renamed from a?",
        "~ t",
        '    ~ attribute units: "K" → "degC"',
        "    ~ values: 3 differ, 12.5% of 24",
        "      where   time = 2; x = 1:3, 5; 1 of 4 chunks",
        "      NaN     0 only in A, 1 only in B",
        "      most    0.5 at [2, 1], 13.0 → 13.5",
        "              3.7% of B at [2, 1], 13.0 → 13.5",
        "      first   [2, 1]  13.0 → 13.5",
        "              [2, 2]  14.0 → 14.5",
        "              [2, 5]  17.0 → nan",
        "~ when",
        "    ~ values: 1 differs, 50% of 2",
        "      where   dimension 0 = 1",
        "      most    3 days at [1], 1970-01-01 → 1970-01-04",
        "      first   [1]  1970-01-01 → 1970-01-04",
        "different: 2 nodes differ, 1 only in A, 1 only in B; 3 nodes compared",
    ]


def test_no_difference(here, capsys):
    assert run(capsys, "a.zarr", "a.zarr") == (0, "the same: 4 nodes, 120 B of values\n")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("a.zarr/t", "b.zarr/t"), 1),
        (("a.zarr/t", "b.zarr/t", "--no-values"), 1),
        (("a.zarr/t", "b.zarr/t", "--no-values", "--no-attrs"), 0),
        (("a.zarr", "b.zarr", "--include", "when", "--no-values"), 0),
        (("a.zarr", "b.zarr", "--exclude", "[abt]", "--exclude", "when"), 0),
        (("a.zarr/a", "b.zarr/b"), 0),
        (("a.zarr/a", "b.zarr/b", "--encoding"), 1),
    ],
)
def test_options(here, capsys, words, code):
    assert run(capsys, *words)[0] == code


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--atol", "0.5"), 0),
        (("--rtol", "0.04"), 0),
        (("--rtol", "0.01"), 1),
        (("--atol", "0.5", "--no-equal-nan"), 1),
    ],
)
def test_tolerances(here, capsys, options, code):
    for name, last in (("x.zarr", 13.0), ("y.zarr", 13.5)):
        oz.create_array(name, shape=(2,), dtype="f8")[...] = [np.nan, last]
    assert run(capsys, "x.zarr", "y.zarr", *options)[0] == code


def test_brief(here, capsys):
    assert run(capsys, "a.zarr", "b.zarr", "--brief") == (1, "different: 1 only in A, 1 only in B, and perhaps more\n")
    assert run(capsys, "a.zarr", "a.zarr", "--brief")[0] == 0


def test_json(here, capsys):
    code, text = run(capsys, "a.zarr", "b.zarr", "--json")
    told = json.loads(text)
    assert (code, told["same"]) == (1, False)
    t, when = told["nodes"]
    assert t["attributes"] == [{"name": "units", "change": "changed", "a": "K", "b": "degC"}]
    assert t["values"]["first"][2] == {"at": [2, 5], "a": 17.0, "b": "NaN"}
    assert when["values"]["max_abs"] == {"difference": "3 days", "at": [1], "a": "1970-01-01", "b": "1970-01-04"}


def test_encodings_in_words(here, capsys):
    _, text = run(capsys, "a.zarr/t", "b.zarr/t", "--encoding", "--no-values", "--no-attrs")
    assert "    ~ format: zarr3 → zarr2\n" in text
    assert "    ~ keys: c/0/1 → 0.1\n" in text


def test_trouble(here, capsys):
    assert main(["diff", "a.zarr", "none.zarr"]) == 2
    assert "none.zarr" in capsys.readouterr().err
    (here / "b.zarr/t/2.0").write_bytes(b"broken")
    code, text = run(capsys, "a.zarr", "b.zarr")
    assert code == 2
    assert "! t cannot be read in B: " in text
    assert "different: " in text


def test_values_without_numbers_and_structures(here, capsys):
    dtype = [("x", "f8"), ("name", "U9")]
    for name, value in (("p.zarr", (1.0, "one")), ("q.zarr", (1.5, "two"))):
        oz.create_array(name, shape=(), dtype=dtype)[...] = np.array(value, dtype)
    code, text = run(capsys, "p.zarr", "q.zarr")
    assert code == 1
    assert "      field   x: 1, most 0.5 at []\n      field   name: 1\n" in text
    assert "(1.0, 'one') → (1.5, 'two')" in text


def test_lengths_that_differ(here, capsys):
    oz.create_array("long.zarr", shape=(3,), dtype="i4")
    _, text = run(capsys, "a.zarr/a", "long.zarr")
    assert "    ~ shape: (2,) → (3,)\n      values: the same in the part that both have, (2,)\n" in text


@pytest.mark.parametrize("words", [("a",), ("a", "b", "--rtol", "-1"), ("a", "b", "--atol", "x")])
def test_usage(words, capsys):
    assert main(["diff", *words]) == 2
    assert "oz diff --help" in capsys.readouterr().err
