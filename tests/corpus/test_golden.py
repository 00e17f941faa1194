"""Arrays of zarr-python 0.4.0, 1.0.0, 2.18.7 (v2 and draft v3) and 3.0.10: each opens by its path alone."""

from __future__ import annotations

import ast
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnizarr as oz

NAMES = zipfile.ZipFile(Path(__file__).with_name("golden-old-writers.zip")).namelist()

# A bare path is all that is given, so what is legal but odd in these arrays may be warned of.
pytestmark = pytest.mark.filterwarnings("ignore::omnizarr.OmnizarrWarning")

FORMATS = {"v0_zarr0.4.0": "zarr0", "v1_zarr1.0.0": "zarr1"}
OLD = sorted(name.removesuffix(".npy") for name in NAMES if name.startswith(tuple(FORMATS)) and name.endswith(".npy"))
V2 = sorted({name.split("/")[2] for name in NAMES if name.startswith("v2_zarr2.18.7/h/") and name.endswith("/.zarray")})
DRAFT = sorted(
    name.split("/meta/root/")[1].removesuffix(".array.json")
    for name in NAMES
    if name.startswith("draftv3_zarr2.18.7/h/meta/root/") and name.endswith(".array.json")
)
NEW = sorted(name.removesuffix(".npy") for name in NAMES if name.startswith("zarrpy3.0.10/") and name.endswith(".npy"))


def objects(values: Any, shape: tuple[int, ...]) -> Any:
    """An array of objects from nested lists, which stay lists below the shape."""
    made = np.empty(shape, object)
    for index in np.ndindex(shape):
        one = values
        for i in index:
            one = one[i]
        made[index] = one
    return made


def test_the_archive_is_complete():
    assert (len(OLD), len(V2), len(DRAFT), len(NEW)) == (53, 47, 20, 6)


@pytest.mark.parametrize("name", OLD)
def test_v0_and_v1(golden, name, assert_equal_array):
    array = oz.open(golden / name)
    assert isinstance(array, oz.Array)
    assert array.format == FORMATS[name.split("/")[0]]
    assert_equal_array(array[...], np.load(golden / f"{name}.npy"))
    file = next(p for p in ("__zattr__", "attrs", ".") if (golden / name / p).exists())
    attributes = json.loads((golden / name / file).read_text()) if file != "." else {}
    assert repr(sorted(array.attrs.items())) == repr(sorted(attributes.items()))  # by repr, for NaN is among them


def test_v0_fill_values_are_those_of_the_document(golden):
    assert oz.open(golden / "v0_zarr0.4.0/missing_42_lazy").fill_value == 42
    assert math.isnan(oz.open(golden / "v0_zarr0.4.0/missing_nan").fill_value)
    assert oz.open(golden / "v0_zarr0.4.0/struct").fill_value is None


def v2_expected(golden: Path, name: str) -> Any:
    place = golden / "v2_zarr2.18.7/expected"
    if name == "zerolen":
        return np.zeros((0, 3), "<i4")
    if (place / f"{name}.npy").exists():
        return np.load(place / f"{name}.npy")
    values = json.loads((place / f"{name}.json").read_text())
    if name == "vb":
        return objects([bytes.fromhex(one) for one in values], (3,))
    return objects(values, (3,) if name == "va" else (2, 3))


def as_lists(array: Any) -> Any:
    """Elements that are arrays as lists, which compare whole."""
    made = np.empty(array.shape, object)
    for index in np.ndindex(array.shape):
        made[index] = array[index].tolist()
    return made


@pytest.mark.parametrize("name", V2)
def test_v2(golden, name, assert_equal_array):
    array = oz.open(golden / "v2_zarr2.18.7/h")[name]
    assert array.format == "zarr2"
    values = array[...]
    if name == "va":
        assert [one.dtype for one in values] == [np.dtype("<i4")] * 3
        values = as_lists(values)
    assert_equal_array(values, v2_expected(golden, name))


@pytest.mark.parametrize("name", V2)
def test_v2_by_the_path_of_the_array(golden, name):
    whole = oz.open(golden / "v2_zarr2.18.7/h")[name]
    alone = oz.open(golden / "v2_zarr2.18.7/h" / name)
    assert isinstance(alone, oz.Array)
    assert (alone.shape, alone.dtype, alone.chunks) == (whole.shape, whole.dtype, whole.chunks)
    assert dict(alone.attrs) == dict(whole.attrs) == {}
    assert repr(alone[...].tolist()) == repr(whole[...].tolist())


@pytest.mark.parametrize("name", DRAFT)
def test_draft_v3(golden, name, assert_equal_array):
    array = oz.open(golden / "draftv3_zarr2.18.7/h")[name]
    assert array.format == "zarr3-draft"
    place = golden / "draftv3_zarr2.18.7/expected"
    last = name.split("/")[-1]
    if last == "o":
        expected = objects(ast.literal_eval((place / "o.json").read_text()), (3,))
    else:
        expected = np.load(place / f"{'_shard' if last == 'shard' else last}.npy")
    assert_equal_array(array[...], expected)
    document = json.loads((golden / f"draftv3_zarr2.18.7/h/meta/root/{name}.array.json").read_text())
    assert dict(array.attrs) == {key: value for key, value in document["attributes"].items() if key != "filters"}


def test_draft_v3_hierarchy(golden):
    root = oz.open(golden / "draftv3_zarr2.18.7/h")
    assert isinstance(root, oz.Group)
    assert sorted(root) == ["grp", "shard"]
    assert sorted(root["grp"]) == sorted(name.removeprefix("grp/") for name in DRAFT if name != "shard")


def test_draft_v3_root_array(golden, assert_equal_array):
    array = oz.open(golden / "draftv3_zarr2.18.7/rootarray")
    assert isinstance(array, oz.Array)
    assert_equal_array(array[...], np.arange(1, 5, dtype="<f8"))


@pytest.mark.parametrize("name", NEW)
def test_zarr_python_3_0(golden, name, assert_equal_array):
    array = oz.open(golden / name)
    assert array.format == ("zarr3" if "v3_" in name else "zarr2")
    expected = np.load(golden / f"{name}.npy")
    # 3.0 stored S3 and U3 in v3 as types of variable length: the length is lost, not the values.
    assert_equal_array(array[...], expected.astype(object) if name.endswith(("v3_S", "v3_U")) else expected)
    assert dict(array.attrs) == {}


def test_zarr_python_3_0_group_with_null_consolidated_metadata(golden):
    group = oz.open(golden / "zarrpy3.0.10/v3_group")
    assert isinstance(group, oz.Group)
    assert list(group) == []
    assert dict(group.attrs) == {}
