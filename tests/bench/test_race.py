"""The race itself: cells and goals fit together, verdicts are what the rules say, and a small race runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import report
from bench.sizes import FULL, SMALL
from bench.workloads import Target, Workload, all_workloads

TOP = Path(__file__).parents[2]


def cell(unit="GB/s", **target):
    return Workload("cell", unit, "full_read", work=1.0, target=Target(**target) if target else None)


def test_names_of_cells_are_unique():
    for sizes in (FULL, SMALL):
        names = [one.name for one in all_workloads(sizes)]
        assert len(names) == len(set(names))


def test_best_peer_is_the_fastest_that_counts():
    values = {"zarr": 1.0, "zarrista": 2.0, "h5py": 9.0, "limit": 10.0, "omnizarr": 3.0}
    verdict = report.judge(cell(reach=1.3), values)
    assert (verdict.best, verdict.ratio, verdict.reached) == ("zarrista", 1.5, True)


def test_smaller_is_better_for_times():
    verdict = report.judge(cell("µs", reach=2.0), {"zarr": 10.0, "tensorstore": 4.0, "omnizarr": 3.0})
    assert verdict.best == "tensorstore"
    assert verdict.ratio == pytest.approx(4 / 3)
    assert verdict.reached is False


@pytest.mark.parametrize(("limit", "reached"), [(1.05, True), (1.5, False)])
def test_a_tie_is_enough_only_where_there_is_no_room(limit, reached):
    assert report.judge(cell(reach=1.3), {"zarr": 1.0, "limit": limit, "omnizarr": 0.96}).reached is reached


def test_goal_against_one_engine():
    verdict = report.judge(cell(reach=1.0, against={"tensorstore": 1.2}), {"tensorstore": 1.0, "omnizarr": 1.1})
    assert verdict.reached is False


def test_upper_bound():
    assert report.judge(cell("×", at_most=1.05), {"omnizarr": 1.04}).reached is True
    assert report.judge(cell("×", at_most=1.05), {"omnizarr": 1.06}).reached is False


def test_page_is_written_between_its_markers(tmp_path):
    results = {
        "machine": {"processor": "p", "cores": "2", "memory": "4 GiB", "system": "s", "python": "3"},
        "scale": "full",
        "versions": {"zarr": "3", "omnizarr": "0"},
        "cells": {
            "read all, v3 1 MB none": {
                "unit": "GB/s",
                "when": "2026-01-01",
                "engines": {
                    "zarr": {"value": 1.0, "quiet": 2, "failed": False},
                    "omnizarr": {"value": 2.0, "quiet": 2, "failed": False},
                },
            }
        },
    }
    saved, page = tmp_path / "race.json", tmp_path / "page.md"
    saved.write_text(json.dumps(results), encoding="utf-8")
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n", encoding="utf-8")
    report.write(saved, page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| read all, v3 1 MB none | GB/s | 2.00 | **1.00** | zarr | 2.00 | 1.3 | ✓ |" in text


@pytest.mark.slow
def test_small_race_runs_and_every_cell_is_right(tmp_path):
    saved = tmp_path / "race.json"
    command = [sys.executable, "-m", "bench", "race", "--scale", "small", "--engines", "omnizarr", "--rounds", "1"]
    command += ["--max-rounds", "1", "--root", str(tmp_path / "root"), "--results", str(saved), "--no-report"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TOP)
    assert done.returncode == 0, done.stderr
    cells = json.loads(saved.read_text(encoding="utf-8"))["cells"]
    assert set(cells) == {one.name for one in all_workloads(SMALL)}
    ours = {name: one["engines"]["omnizarr"] for name, one in cells.items()}
    wrong = {name: one["reason"] for name, one in ours.items() if one["value"] is None}
    assert wrong == {}
