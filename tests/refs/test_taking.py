"""What functions of sets take: columns in memory, places of sets and files, and mappings, and what these reach."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NodeTypeError, UnsafeError
from omnizarr.refs.taking import reach, taken

VALUES = np.arange(6, dtype="<i2")
ARRAY = {"zarr_format": 2, "shape": [6], "chunks": [3], "dtype": "<i2", "order": "C", "fill_value": 0}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A set of one file that lies beside it, in JSON."""
    monkeypatch.delenv("OMNIZARR_ALLOW", raising=False)
    (tmp_path / "a.bin").write_bytes(VALUES.tobytes())
    refs = {
        ".zgroup": {"zarr_format": 2},
        "v/.zarray": {**ARRAY, "compressor": None, "filters": None},
        "v/0": ["a.bin", 0, 6],
        "v/1": ["a.bin", 6, 6],
    }
    (tmp_path / "set.json").write_text(json.dumps({"version": 1, "refs": refs}))
    return tmp_path / "set.json"


@pytest.fixture(params=["path", "text", "memory", "mapping"])
def given(request, place):
    """The same set in each way that it may be given."""
    if request.param == "memory":
        return oz.refs.read(place)
    if request.param == "mapping":
        return {"version": 1, "refs": oz.refs.expand(oz.refs.expand(place) | _absolute(place))}
    return place if request.param == "path" else str(place)


def _absolute(place):
    return {key: [f"{place.parent}/a.bin", *part] for key, *part in (("v/0", 0, 6), ("v/1", 6, 6))}


def test_whatever_is_given(given, place, tmp_path):
    allow = [str(tmp_path)]
    assert oz.refs.summary(given).references == 2
    assert [one.rule for one in oz.refs.validate(given, allow=allow)] == ["unstamped"]
    oz.refs.write(given, tmp_path / "new.parq")
    np.testing.assert_array_equal(oz.open(tmp_path / "new.parq")["v"][...], VALUES)
    oz.refs.export(given, tmp_path / "new.zarr", allow=allow)
    np.testing.assert_array_equal(oz.open(tmp_path / "new.zarr")["v"][...], VALUES)
    assert oz.refs.inline(given, allow=allow).arrays["v"].inline == VALUES.tobytes()
    assert oz.refs.relative(given, f"{tmp_path}/").urls == ["a.bin"]
    assert oz.refs.rewrite(given, {str(tmp_path): "s3://bucket"}).urls == ["s3://bucket/a.bin"]
    assert oz.refs.subchunk(given, "v", 3).arrays["v"].counts == (6,)
    assert oz.refs.nest({"g": given}).arrays.keys() == {"g/v"}


def test_a_file_is_scanned(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["v"] = np.arange(500)
    assert oz.refs.summary(tmp_path / "x.h5").references == 1
    oz.refs.write(tmp_path / "x.h5", tmp_path / "x.json")
    np.testing.assert_array_equal(oz.open(tmp_path / "x.json")["v"][...], np.arange(500))


@pytest.mark.parametrize("strange", [None, 5, ["a.json"]])
def test_nothing_else(strange):
    with pytest.raises(NodeTypeError, match="a reference set is wanted, not"):
        oz.refs.summary(strange)


@pytest.fixture
def elsewhere(place, tmp_path):
    """The set in a folder of its own, from where it may not reach its file."""
    (tmp_path / "sets").mkdir()
    oz.refs.write(place, tmp_path / "sets" / "set.json")
    return tmp_path / "sets" / "set.json"


def test_a_place_is_guarded_as_by_open(elsewhere, tmp_path):
    with pytest.raises(UnsafeError, match="is not followed"):
        oz.refs.export(elsewhere, tmp_path / "out.zarr")
    with pytest.raises(UnsafeError, match="is not followed"):
        oz.refs.inline(elsewhere)
    with pytest.raises(UnsafeError, match="is not followed"):
        oz.refs.export(oz.refs.expand(elsewhere), tmp_path / "out2.zarr")
    assert {one.rule for one in oz.refs.validate(elsewhere)} == {"refused", "unstamped"}
    assert oz.refs.inline(elsewhere, allow=[str(tmp_path)]).arrays["v"].inline == VALUES.tobytes()


def test_columns_in_memory_are_the_callers_own(elsewhere):
    assert oz.refs.inline(oz.refs.read(elsewhere)).arrays["v"].inline == VALUES.tobytes()
    with pytest.raises(UnsafeError, match="is not followed"):
        oz.refs.inline(oz.refs.read(elsewhere), allow=["/elsewhere/"])


def test_what_inputs_reach_together(tmp_path):
    own = oz.refs.References(urls=["/data/a.nc", "s3://bucket/x/b.nc"])
    assert reach([], [own], None) == ("*",)
    found = reach([f"{tmp_path}/set.json"], [own], ["/more/"])
    assert {f"{tmp_path}/", "/data/", "s3://bucket/x/", "https://"} <= set(found)
    assert found[-1].rstrip("/") == "/more"
    assert "*" not in found


def test_one_place_is_no_list(place):
    with pytest.raises(TypeError, match="list of places"):
        taken(place, "/data/")
    with pytest.raises(TypeError, match="list of places"):
        oz.refs.combine([place], allow="/data/")


def _part(number, file):
    """A set of one file, as JSON has it: two values, and where they lie."""
    array = {"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i2", "order": "C", "fill_value": None}
    text = json.dumps({**array, "compressor": None, "filters": None})
    names = json.dumps({"_ARRAY_DIMENSIONS": ["x"]})
    refs = {".zgroup": '{"zarr_format": 2}', "x/.zarray": text, "x/.zattrs": names, "x/0": [file, 4 * number, 4]}
    return {"version": 1, "refs": refs}


def test_mappings_are_combined(place, tmp_path):
    """What other packages return, given as it is, with names and without."""
    sets = [_part(number, str(tmp_path / "a.bin")) for number in (0, 1, 2)]
    with pytest.raises(UnsafeError, match="is not followed"):
        oz.refs.combine(sets, concat="x")
    for some in (sets, {f"part {i}": one for i, one in enumerate(sets)}, list(zip("abc", sets, strict=True))):
        made = oz.refs.combine(some, concat="x", allow=[str(tmp_path)])
        oz.refs.write(made, tmp_path / "x.json", overwrite=True)
        np.testing.assert_array_equal(oz.open(tmp_path / "x.json")["x"][...], VALUES)


def test_named_places_are_combined(place, tmp_path):
    for number in (0, 1, 2):
        (tmp_path / f"{number}.json").write_text(json.dumps(_part(number, "a.bin")))
    pairs = [(f"n{number}", tmp_path / f"{number}.json") for number in (0, 1, 2)]
    oz.refs.write(oz.refs.combine(pairs, concat="x"), tmp_path / "x.json")
    np.testing.assert_array_equal(oz.open(tmp_path / "x.json")["x"][...], VALUES)


def test_one_set_is_no_list(place):
    with pytest.raises(NodeTypeError, match="this is one set"):
        oz.refs.combine(_part(0, "a.bin"), concat="x")
    with pytest.raises(NodeTypeError, match="one place"):
        oz.refs.combine(place, concat="x")
