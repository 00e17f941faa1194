"""The marks of NCZarr in every place, case and spelling, and what they say."""

from __future__ import annotations

import numpy as np
import pytest

from omnizarr.nc.types import DOUBLE
from omnizarr.nc.zarr.reader import open_reader
from tests.nc.zarr.stores import FOUR, GROUP, array, names, nczarr, old_group, plain, refers, text, values, zarray


@pytest.mark.parametrize("case", ["lower", "upper"])
@pytest.mark.parametrize("underscore", ["", "_"])
@pytest.mark.parametrize("place", [".zattrs", ".zgroup"])
@pytest.mark.parametrize("inner", ["new", "old"])
def test_marks_in_every_place_case_and_spelling(case, underscore, place, inner):
    def key(name: str) -> str:
        full = f"_nczarr_{name}"
        return (full.upper() if case == "upper" else full) + underscore

    words = ("dimensions", "arrays", "dimension_references") if inner == "new" else ("dims", "vars", "dimrefs")
    marks = {key("superblock"): {"version": "2.0.0"}, key("group"): {words[0]: {"x": 4}, words[1]: ["v"], "groups": []}}
    mark = {key("array"): {words[2]: ["/x"], "storage": "chunked"}}
    attributes = {"a": 5, key("attr"): {"types": {"a": "<i2"}}}
    store = {".zgroup": GROUP, **array("v", zarray([4]), attributes, FOUR)}
    if place == ".zattrs":
        store[".zattrs"] = text(marks)
        store["v/.zattrs"] = text({**attributes, **mark})
    else:
        store[".zgroup"] = text(old_group(**marks))
        store["v/.zarray"] = text({**zarray([4]), **mark})
    source = open_reader(store)
    assert source.kind == "nczarr"
    assert source.generation == ("D" if place == ".zattrs" else "B" if case == "upper" else "C")
    assert names(source) == ["/x"]
    assert source.root.vars["v"].attrs["a"].type.name == "short"
    assert list(source.root.vars["v"].attrs) == ["a"]
    assert values(source).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("variable", "attribute"), [(".nczvar", ".nczattr"), (".nczarray", ".nczattrs")])
@pytest.mark.parametrize("types", [{"a": "4", "t": "2"}, {"a": ">i4", "t": ">S1"}, {"a": "<i4", "t": "<U1"}])
def test_first_generation(variable, attribute, types):
    store = {
        ".nczarr": b'{"zarr_format": 2,"nczarr_version": "1.0.0"}',
        ".nczgroup": text({"dims": {"x": 4}, "vars": ["v", "s"], "groups": []}),
        ".zgroup": GROUP,
        **array("v", zarray([4], fill_value=[7]), {"a": [5], "t": "x"}, FOUR),
        f"v/{variable}": text({"dimrefs": ["/x"], "storage": "chunked"}),
        f"v/{attribute}": text({"types": types}),
        **array("s", zarray([1], "<f8", fill_value=[9.96921e36])),
        f"s/{variable}": text({"dimrefs": [], "storage": "scalar"}),
    }
    source = open_reader(store)
    assert source.generation == ("A0" if variable == ".nczvar" else "A1")
    var = source.root.vars["v"]
    assert [(one.name, one.type.name) for one in var.attrs.values()] == [("a", "int"), ("t", "char")]
    assert names(source) == ["/x"]
    assert values(source, "s") == DOUBLE.fill
    assert source.root.vars["s"].dims == ()


def test_newest_marks_win_over_the_copy_for_old_versions():
    both = {**refers("/x"), "_NCZARR_ATTR": {"types": {"a": "<i4"}}, "_nczarr_attr": {"types": {"a": "<i2"}}, "a": 1}
    document = {**zarray([4], ">i4"), "_NCZARR_ARRAY": {"dimrefs": ["/y"], "storage": "chunked"}}
    chunk = np.arange(4, dtype=">i4").tobytes()
    store = {**nczarr({"x": 4}, ["v"]), **array("v", document, both, chunk)}
    source = open_reader(store)
    assert names(source) == ["/x"]
    assert source.root.vars["v"].attrs["a"].type.name == "short"
    assert values(source).tolist() == [0, 1, 2, 3]  # truly big-endian, as the newest generation is


@pytest.mark.parametrize(
    ("shape", "mark"),
    [
        ([1], {"dimrefs": [], "storage": "scalar"}),
        ([1], {"dimension_references": [], "storage": "chunked", "scalar": 1}),
        ([1], {"dimension_references": [], "storage": "chunked"}),
        ([1], {"dimrefs": ["/_scalar_"], "storage": "chunked"}),
        ([], {"dimension_references": [], "storage": "chunked"}),
    ],
)
def test_scalars(shape, mark):
    store = {**nczarr({}, ["v"]), **array("v", zarray(shape), {"_nczarr_array": mark}, FOUR[4:8])}
    source = open_reader(store)
    assert source.root.vars["v"].dims == ()
    assert values(source).shape == ()
    assert values(source) == 1
    assert source.root.vars["v"].handle.scalar == bool(shape)


@pytest.mark.parametrize(("shape", "dims"), [([1], ["_scalar_"]), ([], []), ([], None)])
def test_plain_scalars(shape, dims):
    attributes = {} if dims is None else {"_ARRAY_DIMENSIONS": dims}
    source = open_reader(plain(v=(zarray(shape), attributes, FOUR[4:8])))
    assert source.root.vars["v"].dims == ()
    assert not source.root.dims
    assert values(source) == 1


def test_unlimited_dimensions_are_as_long_as_the_longest_array():
    dims = {"t": {"size": 2, "unlimited": 1}, "n": {"size": 3}, "z": {"size": 0, "unlimited": 1}}
    store = {
        **nczarr(dims, ["v", "w", "e"]),
        **array("v", zarray([4], chunks=[4]), refers("/t"), FOUR),
        **array("w", zarray([2], chunks=[4], fill_value=-1), refers("/t"), np.array([7, 8, -1, -1], "<i4").tobytes()),
        **array("e", zarray([0], chunks=[1]), refers("/z")),
    }
    source = open_reader(store)
    assert {name: (dim.size, dim.unlimited) for name, dim in source.root.dims.items()} == {
        "t": (4, True),
        "n": (3, False),
        "z": (0, True),
    }
    assert values(source, "w").tolist() == [7, 8, -1, -1]
    assert values(source, "e").shape == (0,)


def test_contiguous_is_one_chunk():
    mark = {"_nczarr_array": {"dimrefs": ["/x"], "storage": "contiguous"}}
    source = open_reader({**nczarr({"x": 4}, ["v"]), **array("v", zarray([4]), mark, FOUR)})
    assert (source.root.vars["v"].storage.kind, source.root.vars["v"].storage.chunks) == ("contiguous", (4,))
