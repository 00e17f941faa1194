"""Datasets of older generations of NCZarr that are changed: they become what is written today, and lose nothing."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from omnizarr.errors import OmnizarrError
from omnizarr.nc.opening import open_source
from omnizarr.nc.source import everything
from omnizarr.nc.tree import Attr
from omnizarr.nc.types import CHAR, DOUBLE, INT
from omnizarr.store.fault import Fault, sweep
from omnizarr.store.mapping import DictStore

NUMBERS = np.arange(4, dtype="<i4").tobytes()


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


def zarray(dtype: str, fill: Any, shape: list[int] | None = None, **more: Any) -> dict[str, Any]:
    shape = shape or [4]
    document = {"zarr_format": 2, "shape": shape, "dtype": dtype, "chunks": shape, "fill_value": fill, "order": "C"}
    return {**document, "compressor": None, "filters": None, **more}


def first() -> dict[str, bytes]:
    """A dataset as 4.8.0 wrote it."""
    return {
        ".nczarr": text({"zarr_format": 2, "nczarr_version": "1.0.0"}),
        ".nczgroup": text({"dims": {"x": 4, "y": 2}, "vars": ["i", "c", "s", "d"], "groups": ["g"]}),
        ".nczattr": text({"types": {"title": "2", "n": "4"}}),
        ".zgroup": text({"zarr_format": 2}),
        ".zattrs": text({"title": "t", "n": [7]}),
        "i/.nczvar": text({"dimrefs": ["/x"], "storage": "chunked"}),
        "i/.zarray": text(zarray(">i4", [-1])),
        "i/0": NUMBERS,
        "c/.nczvar": text({"dimrefs": ["/x"], "storage": "chunked"}),
        "c/.zarray": text(zarray("<U1", [""])),
        "c/0": b"abcd",
        "s/.nczvar": text({"dimrefs": [], "storage": "scalar"}),
        "s/.zarray": text(zarray("<i4", [0], [1])),
        "s/0": b"\5\0\0\0",
        "d/.nczvar": text({"dimrefs": ["/y"], "storage": "chunked"}),
        "d/.nczattr": text({"types": {"u": "2"}}),
        "d/.zattrs": text({"u": "m"}),
        "d/.zarray": text(zarray("<f8", [9.96921e36], [2])),
        "g/.nczgroup": text({"dims": {}, "vars": [], "groups": []}),
        "g/.zgroup": text({"zarr_format": 2}),
    }


def upper() -> dict[str, bytes]:
    """The same as 4.9.0 wrote it."""
    references = {name: {"dimrefs": [f"/{dim}"], "storage": "chunked"} for name, dim in zip("icd", "xxy", strict=True)}
    references["s"] = {"dimrefs": [], "storage": "scalar"}
    arrays = {
        "i": zarray(">i4", -1),
        "c": zarray("<U1", ""),
        "s": zarray("<i4", 0, [1]),
        "d": zarray("<f8", 9.96921e36, [2]),
    }
    group = {"dims": {"x": 4, "y": 2}, "vars": ["i", "c", "s", "d"], "groups": ["g"]}
    types = {"title": "<U1", "n": "<i4"}
    return {
        ".zgroup": text({"zarr_format": 2, "_NCZARR_SUPERBLOCK": {"version": "2.0.0"}, "_NCZARR_GROUP": group}),
        ".zattrs": text({"title": "t", "n": 7, "_NCZARR_ATTR": {"types": types}}),
        **{f"{name}/.zarray": text({**arrays[name], "_NCZARR_ARRAY": references[name]}) for name in "icsd"},
        "d/.zattrs": text({"u": "m", "_ARRAY_DIMENSIONS": ["y"], "_NCZARR_ATTR": {"types": {"u": "<U1"}}}),
        "g/.zgroup": text({"zarr_format": 2, "_NCZARR_GROUP": {"dims": {}, "vars": [], "groups": []}}),
        "i/0": NUMBERS,
        "c/0": b"abcd",
        "s/0": b"\5\0\0\0",
    }


OLD = {"4.8.0": first, "4.9.0": upper}


def check(store: object) -> Any:
    source = open_source(store)
    root = source.root
    assert {name: var.type for name, var in root.vars.items() if name != "new"} == {
        "i": INT,
        "c": CHAR,
        "s": INT,
        "d": DOUBLE,
    }
    values = {name: source.read(var, everything(var)).tolist() for name, var in root.vars.items()}
    assert values["i"] == [0, 1, 2, 3]
    assert values["c"] == [b"a", b"b", b"c", b"d"]
    assert values["s"] == 5
    assert values["d"] == [DOUBLE.fill] * 2
    assert [dim.path for dim in root.vars["i"].dims] == ["/x"]
    assert root.attrs["n"] == Attr.of_values("n", INT, [7])
    assert root.attrs["title"] == Attr.of_text("title", "t")
    assert root.vars["d"].attrs["u"] == Attr.of_text("u", "m")
    assert list(root.groups) == ["g"]
    return source


def change(store: object) -> None:
    source = open_source(store, "a")
    root = source.root
    root.vars["d"].attrs["more"] = Attr.of_text("more", "é")
    source.changed(root.vars["d"])
    root.add_var("new", INT, (root.dims["x"],))
    source.changed(root)
    source.close()


@pytest.mark.parametrize("old", OLD)
def test_a_change_brings_everything_to_the_newest_form(old):
    store = OLD[old]()
    check(dict(store))
    change(store)
    source = check(store)
    assert source.generation == "D"
    assert source.root.vars["d"].attrs["more"] == Attr.of_text("more", "é")
    assert not any(".ncz" in key for key in store)
    assert not any(b"_NCZARR" in bytes(value) for value in store.values())
    assert {name: json.loads(bytes(store[f"{name}/.zarray"]))["dtype"] for name in "icsd"} == {
        "i": "<i4",
        "c": ">S1",
        "s": "<i4",
        "d": "<f8",
    }
    assert (bytes(store["i/0"]), bytes(store["c/0"])) == (NUMBERS, b"abcd")
    assert json.loads(bytes(store["d/.zarray"]))["fill_value"] == DOUBLE.fill
    assert json.loads(bytes(store["s/.zattrs"]))["_nczarr_array"]["scalar"] == 1


@pytest.mark.parametrize("old", OLD)
def test_looking_changes_nothing(old):
    store = OLD[old]()
    open_source(store, "a").close()
    assert store == OLD[old]()


@pytest.mark.parametrize("old", OLD)
def test_a_crash_on_the_way_loses_nothing(old):
    for failing in sweep(lambda: DictStore(OLD[old]()), Fault(kind="write", times=None)):
        with suppress(OmnizarrError):
            change(failing)
        check(failing.inner)
        change(failing.inner)
        assert check(failing.inner).generation == "D"


@pytest.mark.filterwarnings("ignore:'i' has chunks that are longer")
def test_tails_that_netcdf_c_left_are_no_obstacle():
    store = {
        ".zgroup": text({"zarr_format": 2}),
        ".zattrs": text(
            {
                "_nczarr_superblock": {"version": "2.0.0"},
                "_nczarr_group": {"dimensions": {"x": 4}, "arrays": ["i"], "groups": []},
            }
        ),
        "i/.zarray": text(zarray("<i4", -1, chunks=[2])),
        "i/.zattrs": text({"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}}) + b"old tail}",
        "i/0": np.array([0, 1], "<i4").tobytes() + b"tail",
        "i/1": np.array([2, 3], "<i4").tobytes() + b"tail",
    }
    source = open_source(store, "a")
    source.write(source.root.vars["i"], (np.array([1]),), np.array([9], "i4"))
    assert source.read(source.root.vars["i"], (slice(0, 4, 1),)).tolist() == [0, 9, 2, 3]
    source.close()
    assert len(store["i/0"]) == 8
    read = open_source(store)
    assert read.read(read.root.vars["i"], (slice(0, 4, 1),)).tolist() == [0, 9, 2, 3]
