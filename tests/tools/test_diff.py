"""Hierarchies are compared node by node: what is there, what it looks like, and how it is stored if asked."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NotFoundError
from omnizarr.tools.diff import Rename
from omnizarr.tools.diff.typed import Rules, attribute_changes, same

WRITABLE = ("zarr3", "zarr2", "zarr1", "zarr0")
NAN = float("nan")


def dataset(form="zarr3", **options):
    group = oz.create_group({}, format=form, attrs={"title": "trial", "levels": [1, 2.5], "flag": True})
    array = group.create_array("model/t", shape=(4, 6), dtype="f4", chunks=(2, 3), attrs={"units": "K"}, **options)
    array[...] = np.arange(24, dtype="f4").reshape(4, 6)
    group.create_array("n", shape=(), dtype="i8", fill_value=7)
    return group


def changes(difference, path=""):
    return {
        change.what: (change.a, change.b) for node in difference.nodes if node.path == path for change in node.changes
    }


@pytest.mark.parametrize("a", WRITABLE[:2])
@pytest.mark.parametrize("b", WRITABLE[:2])
def test_hierarchies_of_two_dialects_are_the_same(a, b):
    result = oz.diff(dataset(a, dims=("y", "x")), dataset(b, dims=("y", "x")))
    assert result.same, result
    assert (result.compared, result.nbytes) == (4, 24 * 4 + 8)


@pytest.mark.parametrize("a", WRITABLE)
@pytest.mark.parametrize("b", WRITABLE)
def test_arrays_of_two_dialects_are_the_same(a, b):
    made = []
    for name in (a, b):
        array = oz.create_array({}, shape=(5, 4), dtype="i4", chunks=(2, 4), format=name, attrs={"a": 1, "b": "x"})
        array[1:3] = 9
        made.append(array)
    assert oz.diff(*made).same
    made[1][4, 3] = 1
    assert oz.diff(*made).nodes[0].values.first[0].at == (4, 3)


def test_stores_of_two_kinds(tmp_path):
    dataset_at = {}
    for where in (tmp_path / "a.zarr", tmp_path / "b.zip"):
        with oz.create_group(where, attrs={"x": 1}) as group:
            group.create_array("t", shape=(3,), dtype="i4")[...] = [1, 2, 3]
        dataset_at[where.suffix] = where
    assert oz.diff(dataset_at[".zarr"], str(dataset_at[".zip"])).same


def test_nodes_of_one_side_are_told_with_what_lies_below():
    a, b = dataset(), dataset()
    b.create_array("new/deep/x", shape=(2,), dtype="i4")
    b.create_array("alone", shape=(3,), dtype="u1")
    result = oz.diff(a, b)
    assert result.only_a == ()
    assert [(one.path, one.kind, one.nodes) for one in result.only_b] == [("alone", "array", 1), ("new", "group", 3)]
    assert oz.diff(b, a).only_a == result.only_b
    assert not result.same


def test_renames_are_guessed_where_only_one_thing_looks_so():
    a, b = oz.create_group({}), oz.create_group({})
    for group, names in ((a, ("old", "one", "two", "g")), (b, ("new", "three", "four", "h"))):
        group.create_array(names[0], shape=(3,), dtype="i4", attrs={"units": "K"})
        group.create_array(names[1], shape=(5,), dtype="i4")
        group.create_array(names[2], shape=(5,), dtype="i4")
        group.create_array(names[3] + "/x", shape=(1,), dtype="i4")
    assert set(oz.diff(a, b).renames) == {Rename("old", "new"), Rename("g", "h")}


def test_an_array_in_the_place_of_a_group():
    a, b = oz.create_group({}), oz.create_group({})
    a.create_array("x", shape=(1,), dtype="i4")
    b.create_array("x/y", shape=(1,), dtype="i4")
    result = oz.diff(a, b)
    assert changes(result, "x") == {"kind": ("array", "group")}
    assert [one.path for one in result.only_b] == ["x/y"]


@pytest.mark.parametrize(
    ("option", "a", "b"),
    [
        ("shape", (4,), (5,)),
        ("dtype", "int32", "int64"),
        ("dims", ("x",), ("y",)),
        ("dims", ("x",), None),
        ("fill_value", 1, 2),
    ],
)
def test_what_documents_say(option, a, b):
    plain = {"shape": (4,), "dtype": "i4", "fill_value": 1}
    one, other = (oz.create_array({}, **{**plain, option: value}) for value in (a, b))
    assert changes(oz.diff(one, other, values=False)) == {option: (a, b)}


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ((None, "zarr2"), (0.0, "zarr3"), True),
        ((None, "zarr2"), (1.0, "zarr3"), False),
        ((NAN, "zarr2"), (NAN, "zarr3"), True),
        ((-0.0, "zarr2"), (0.0, "zarr3"), True),
    ],
)
def test_fill_values_are_what_is_read(a, b, equal):
    one, other = (oz.create_array({}, shape=(2,), dtype="f8", fill_value=fill, format=form) for fill, form in (a, b))
    assert oz.diff(one, other).same is equal


def test_byte_order_is_encoding():
    a, b = (oz.create_array({}, shape=(2,), dtype=dtype, fill_value=5) for dtype in ("<i4", ">i4"))
    assert oz.diff(a, b).same
    assert set(changes(oz.diff(a, b, encoding=True))) == {"codecs"}


def test_encodings_count_only_when_asked_for():
    a = oz.create_array({}, shape=(8, 8), dtype="f4", chunks=(4, 4))
    b = oz.create_array({}, shape=(8, 8), dtype="f4", chunks=(2, 2), shards=(4, 4), codecs=["gzip"], fill_value=-0.0)
    assert oz.diff(a, b).same
    told = changes(oz.diff(a, b, encoding=True))
    assert set(told) == {"chunks", "shards", "codecs", "fill bits"}
    assert (told["chunks"], told["shards"]) == (((4, 4), (2, 2)), (None, (4, 4)))
    old = oz.create_array({}, shape=(8, 8), dtype="f4", chunks=(4, 4), format="zarr2")
    assert changes(oz.diff(a, old, encoding=True))["keys"] == ("c/0/1", "0.1")


def test_consolidation_is_encoding():
    a, b = dataset(), dataset()
    b.consolidate()
    assert oz.diff(a, b).same
    assert changes(oz.diff(a, b, encoding=True)) == {"consolidated": (False, True)}


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, 1.0), (1, "1"), (1, True), (0, False), (0, None), ("", None), ([1], 1), ([1, 2], [2, 1]), ([1], [1.0])],
)
def test_attributes_have_types(a, b):
    one, other = (oz.create_group({}, attrs={"x": value}) for value in (a, b))
    found = oz.diff(one, other).nodes[0].attributes
    assert [tuple(change) for change in found] == [("x", "changed", a, b)]
    assert oz.diff(one, one).same
    assert oz.diff(one, other, attrs=False).same


def test_attributes_in_attributes():
    a = {"keep": {"b": 1, "a": 2}, "m": {"x": 1, "gone": 0}, "l": [{"s": 1}, {"s": 2}], "only": 1, "n": [1, 2]}
    b = {"keep": {"a": 2, "b": 1}, "m": {"x": 2, "new": 0}, "l": [{"s": 1}, {"s": 3}], "added": 1, "n": [1, 3]}
    found = {(change.name, change.change) for change in attribute_changes(a, b, Rules())}
    assert found == {
        ("m.x", "changed"), ("m.gone", "removed"), ("m.new", "added"), ("l[1].s", "changed"), ("only", "removed"),
        ("added", "added"), ("n", "changed"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("a", "b", "rules", "equal"),
    [
        (NAN, NAN, Rules(), True),
        (NAN, NAN, Rules(equal_nan=False), False),
        (NAN, 1.0, Rules(), False),
        (0.0, -0.0, Rules(), True),
        (0.0, -0.0, Rules(bits=True), False),
        ([NAN, {"x": NAN}], [NAN, {"x": NAN}], Rules(), True),
        (np.array([1, 2]), np.array([1, 2]), Rules(), True),
        (np.array([1, 2]), np.array([1.0, 2.0]), Rules(), False),
        (np.array([1, 2]), [1, 2], Rules(), False),
        (b"a", "a", Rules(), False),
    ],
)
def test_values_of_objects(a, b, rules, equal):
    assert same(a, b, rules) is equal


def test_names_of_dimensions_in_an_attribute_are_no_attribute():
    a = oz.create_array({}, shape=(2,), dtype="i4", dims=("x",), format="zarr2")
    b = oz.create_array({}, shape=(2,), dtype="i4", dims=("x",), format="zarr3")
    old = oz.create_array({}, shape=(2,), dtype="i4", attrs={"_ARRAY_DIMENSIONS": ["x"]}, format="zarr1")
    odd = oz.create_array({}, shape=(2,), dtype="i4", dims=("x",), attrs={"_ARRAY_DIMENSIONS": ["y"]})
    assert oz.diff(a, b).same
    assert oz.diff(old, b).same
    assert [change.name for change in oz.diff(b, odd).nodes[0].attributes] == ["_ARRAY_DIMENSIONS"]


@pytest.mark.parametrize(
    ("include", "exclude", "paths"),
    [
        ((), (), {"", "model", "model/t", "n"}),
        (("n",), (), {"n"}),
        (("t",), (), {"model/t"}),
        (("model",), (), {"model", "model/t"}),
        (("model/*",), (), {"model/t"}),
        ((), ("model",), {"", "n"}),
        ((), ("t",), {"", "model", "n"}),
        (("/model/",), ("*/t",), {"model"}),
    ],
)
def test_filters(include, exclude, paths):
    a, b = dataset(), dataset()
    for path in ("", "model", "model/t", "n"):
        (b[path] if path else b).attrs["mark"] = 1
    assert {node.path for node in oz.diff(a, b, include=include, exclude=exclude).nodes} == paths


def test_values_may_be_left_out():
    a, b = dataset(), dataset()
    b["model/t"][0, 0] = 5
    assert not oz.diff(a, b).same
    assert oz.diff(a, b, values=False).same


def test_a_brief_comparison_stops_at_the_first_difference():
    a, b = dataset(), dataset()
    b["model/t"][0, 0] = 5
    b["n"][...] = 5
    result = oz.diff(a, b, brief=True)
    assert ([node.path for node in result.nodes], result.stopped) == (["model/t"], True)
    assert not oz.diff(a, a, brief=True).stopped


def test_what_cannot_be_read_is_told_and_the_rest_compared():
    a, b = dataset(), dataset()
    a.store.put("model/t/c/0/0", b"not zstd")
    b.store.put("n/zarr.json", b"{")
    a.attrs["extra"] = 1
    result = oz.diff(a, b)
    assert [(problem.path, problem.side) for problem in result.problems] == [("model/t", "a"), ("n", "b")]
    assert [node.path for node in result.nodes] == [""]
    assert not result.same


def test_nothing_there_is_an_error(tmp_path):
    with pytest.raises(oz.errors.NotFoundError):
        oz.diff(tmp_path / "a", dataset())


def test_progress_reaches_the_end():
    calls = []
    a, b = dataset(), dataset()
    oz.diff(a, b, progress=lambda *at: calls.append(at))
    assert calls[-1] == (2, 2, 24 * 4 + 8)


def test_handles_stay_open_and_what_was_opened_is_closed(tmp_path):
    with oz.create_group(tmp_path / "a.zip") as group:
        group.create_array("t", shape=(1,), dtype="i4")
    with oz.open(tmp_path / "a.zip") as node:
        assert oz.diff(node, tmp_path / "a.zip").same
        assert node["t"][0] == 0


def test_a_format_that_can_only_be_read(tmp_path):
    folder = tmp_path / "old.n5"
    (folder / "0").mkdir(parents=True)
    values = np.arange(6, dtype=">i4")
    document = {"dimensions": [3, 2], "blockSize": [3, 2], "dataType": "int32", "compression": {"type": "raw"}}
    (folder / "attributes.json").write_text(json.dumps({**document, "units": "K"}))
    header = struct.pack(">HHII", 0, 2, 3, 2)
    (folder / "0" / "0").write_bytes(header + values.tobytes())
    old = oz.open_array(folder)
    new = oz.create_array({}, shape=old.shape, dtype=old.dtype, chunks=(1, 2), attrs=old.attrs.asdict())
    new[...] = old[...]
    assert old.format == "n5"
    assert oz.diff(folder, new).same
    new[0, 1] = 7
    assert oz.diff(folder, new).nodes[0].values.max_abs.difference == 6


def test_patterns_that_leave_nothing_are_not_the_same():
    one: dict[str, bytes] = {}
    oz.create_group(one).create_array("t", data=[1, 2])
    with pytest.raises(NotFoundError, match="leave no node"):
        oz.diff(one, one, include=["tt"])
