"""What somebody does first: a plain script, paths into sets, a misspelt setting."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, NodeTypeError, NotFoundError, StoreError

SCRIPT = """
import omnizarr as oz
print("begins")
files = [f"{i}.zarr" for i in range(9)]
print(len(oz.refs.scan(files, workers=2)))
"""


def test_a_plain_script_scans_in_many_processes_and_is_run_once(tmp_path):
    """Nothing asks for `if __name__ == "__main__"`."""
    for i in range(9):
        oz.create_array(tmp_path / f"{i}.zarr", data=np.arange(4) + i)
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout.split(), done.stderr) == (["begins", "9"], "")


@pytest.fixture
def found(tmp_path):
    root = oz.create_group(tmp_path / "a.zarr")
    root.create_array("g/x", data=np.arange(6), chunks=3)
    return oz.refs.scan(tmp_path / "a.zarr", inline=0)


@pytest.mark.parametrize("name", ["a.json", "a.json.zst", "a.parq"])
def test_a_path_leads_into_a_set(tmp_path, found, name):
    oz.refs.write(found, tmp_path / name)
    assert oz.open(f"{tmp_path}/{name}/g/x")[:].tolist() == list(range(6))
    assert list(oz.open(f"{tmp_path}/{name}/g")) == ["x"]
    with pytest.raises(NotFoundError):
        oz.open(f"{tmp_path}/{name}/g/y")


def test_hierarchies_below_a_set_are_their_own(tmp_path, found):
    oz.refs.write(found, tmp_path / "a.parq")
    oz.create_array(tmp_path / "a.parq" / "own.zarr", data=np.arange(2))
    assert oz.open(tmp_path / "a.parq" / "own.zarr")[:].tolist() == [0, 1]


def test_settings_that_there_are_not(found):
    with pytest.raises(TypeError, match=r"scan=omnizarr\.refs\.Options\(inline=…\)"):
        oz.refs.combine([found], inline=0)
    with pytest.raises(TypeError, match="no setting 'keeep'"):
        oz.refs.combine([found], keeep="first")


def test_one_place_is_no_list():
    with pytest.raises(NodeTypeError, match="list"):
        oz.refs.combine("day1.nc", concat="time")


def test_a_mapping_of_formulas_alone():
    gen = {"key": "a{{i}}", "url": "u", "dimensions": {"i": {"stop": 2}}}
    assert oz.refs.expand({"version": 1, "gen": [gen]}) == {"a0": ["u"], "a1": ["u"]}
    with pytest.raises(MetadataError, match="step"):
        oz.refs.expand({"version": 1, "gen": [gen | {"dimensions": {"i": {"stop": 2, "step": 0}}}]})


def test_nowhere_to_write(tmp_path, found):
    with pytest.raises(StoreError, match="No such file"):
        oz.refs.write(found, Path(tmp_path, "none", "a.json"))
