"""What tools say to arguments that are none of theirs: an error of the package that names the argument and the cure."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, OmnizarrError, SelectionError, ShapeError, UnsafeError

TOOLS = {"copy": oz.copy, "convert": oz.convert, "diff": oz.diff}


def made() -> dict:
    where: dict = {}
    oz.create_group(where).create_array("a", data=np.arange(12).reshape(3, 4), chunks=(2, 2), dims=("y", "x"))
    return where


def refused(kind: type[OmnizarrError], tool: str, **options: object) -> OmnizarrError:
    target = made() if tool == "diff" else {}
    with pytest.raises(kind) as caught:
        TOOLS[tool](made(), target, **options)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", ["include", "exclude"])
@pytest.mark.parametrize("given", [None, 5, b"x", [b"x"], ["a", None]], ids=repr)
def test_patterns_are_text(tool, name, given):
    assert f"{name} is {given!r}" in str(refused(SelectionError, tool, **{name: given}))


def test_one_pattern_is_one():
    assert oz.copy(made(), {}, include="a*").left_out == ()


@pytest.mark.parametrize(
    "given",
    [
        (2, 3),
        10,
        np.array([2, 3]),
        b"y/2",
        [None],
        {"y": "2"},
        {"y": None},
        {"y": 0},
        {"y": -1},
        {"a": (1.5, 2)},
        {"a": (0, 2)},
        {1: 2},
    ],
    ids=repr,
)
def test_chunks_of_a_copy_are_named(given):
    assert str(refused(MetadataError, "copy", chunks=given)).startswith("chunks ")


def test_chunks_of_a_copy_may_be_numbers_of_numpy():
    new: dict = {}
    oz.copy(made(), new, chunks={"y": np.int64(1), "a": np.array([1, 4])})
    assert oz.open_array(new, path="a").chunks == (1, 4)


@pytest.mark.parametrize("given", [3, [3], b"a,1,9"], ids=repr)
def test_filters_of_a_copy_are_text(given):
    assert "filters is" in str(refused(MetadataError, "copy", filters=given))


@pytest.mark.parametrize("where", ["a\0b", "\ud800"], ids=ascii)
def test_what_no_file_can_be_called_is_no_path(where):
    with pytest.raises(UnsafeError, match="is not a path"):
        oz.copy(where, {})


@pytest.mark.parametrize("given", ["1GB", 1.5e9, 0, -1, [1]], ids=repr)
def test_memory_of_a_conversion_is_a_number_of_bytes(given):
    assert "memory is" in str(refused(MetadataError, "convert", memory=given))


def test_lengths_of_a_conversion_may_be_an_array():
    new: dict = {}
    oz.convert(made(), new, chunks=np.array([1, 2]), shards=np.array([3, 4]), memory=np.int64(10**8))
    array = oz.open_array(new, path="a")
    assert (array.chunks, array.shards) == ((1, 2), (3, 4))
    assert array[2, 3] == 11


@pytest.mark.parametrize("name", ["rtol", "atol"])
@pytest.mark.parametrize("given", ["1e-5", None, 1j, -1, float("nan"), np.array([1, 2]), [1]], ids=repr)
def test_tolerances_are_numbers(name, given):
    assert name in str(refused(ShapeError, "diff", **{name: given}))
