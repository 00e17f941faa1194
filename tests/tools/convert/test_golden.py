"""What zarr-python 0.4.0, 1.0.0 and 2.18.7 (v2 and draft v3) wrote, to each format."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import omnizarr as oz
from omnizarr.errors import UnsupportedError
from tests.tools.convert.conftest import TARGETS, same_array

GOLDEN = Path(__file__).parents[2] / "corpus" / "golden-old-writers.zip"
PLACES = zipfile.ZipFile(GOLDEN).namelist()
WRITTEN = sorted(
    {name.removesuffix(".npy") for name in PLACES if name.startswith(("v0_", "v1_")) and name.endswith(".npy")}
    | {name.removesuffix("/.zarray") for name in PLACES if name.startswith("v2_") and name.endswith("/.zarray")}
    | {
        "draftv3_zarr2.18.7/h/" + name.split("/meta/root/")[1].removesuffix(".array.json")
        for name in PLACES
        if name.startswith("draftv3_zarr2.18.7/h/meta/root/") and name.endswith(".array.json")
    }
)
# By source's kind of elements, a word of why a format cannot hold it.
REASONS = "length|fill value|without dimensions|Python objects|fields that are arrays"


@pytest.fixture(scope="module")
def golden(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("golden")
    with zipfile.ZipFile(GOLDEN) as archive:
        archive.extractall(place)
    return place


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", WRITTEN)
def test_what_old_writers_left(golden, name, target):
    goal: dict[str, bytes] = {}
    source = oz.open_array(golden / name)
    if oz.convert(golden / name, goal, format=target, dry_run=True).refused:
        with pytest.raises(UnsupportedError, match=REASONS):
            oz.convert(golden / name, goal, format=target)
        assert goal == {}
        assert source.format != target
        return
    oz.convert(golden / name, goal, format=target)
    same_array(source, oz.open_array(goal))


def test_old_writers_are_refused_as_rarely_as_can_be(golden):
    plans = {
        (name, target): oz.convert(golden / name, {}, format=target, dry_run=True).refused
        for name in WRITTEN
        for target in TARGETS
    }
    refused = {target: sum(bool(it) for (_, to), it in plans.items() if to == target) for target in TARGETS}
    assert len(WRITTEN) == 120
    assert refused == {"zarr3": 6, "zarr2": 0, "zarr1": 17, "zarr0": 17}
