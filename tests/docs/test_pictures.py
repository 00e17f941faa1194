"""Each script that draws for the documentation runs, checks its work, and makes the picture that is in the pages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

TOP = Path(__file__).parents[2]
PICTURES = TOP / "docs" / "pictures"
SCRIPTS = {
    "coming_from_xarray": "coming-from-xarray",
    "coming_from_netcdf4": "coming-from-netcdf4",
    "coming_from_kerchunk": "coming-from-kerchunk",
    "scaling_out": "scaling-out",
}


def _is_planned_alike():
    """Whether workers can be given two processors, as those had that the committed plan was made for."""
    affinity = getattr(os, "sched_getaffinity", None)
    return affinity is not None and len(affinity(0)) >= 2


@pytest.mark.parametrize(("script", "name"), SCRIPTS.items())
def test_script_makes_its_picture(script, name, tmp_path):
    command = [sys.executable, str(TOP / "examples" / f"{script}.py"), "--pictures", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    root = ET.fromstring(made)
    assert root.tag.endswith("svg")
    assert len(root.findall(".//{*}text")) > 10
    if script != "scaling_out" or _is_planned_alike():
        assert made == (PICTURES / f"{name}.svg").read_text(encoding="utf-8"), f"run examples/{script}.py anew"


def test_pictures_are_small_and_shown_with_words():
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (TOP / "docs").rglob("*.md"))
    for picture in PICTURES.iterdir():
        assert picture.stem in SCRIPTS.values()
        assert picture.stat().st_size < 80_000
        before, shown, _ = pages.partition(f"](../pictures/{picture.name})")
        assert shown
        assert len(before.rpartition("![")[2]) > 40, f"{picture.name} needs words for those who do not see it"
