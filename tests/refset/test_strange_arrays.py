"""An array that nobody understands keeps no one from the other arrays of a set, nor the set from being written out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError

PLAIN = {
    "zarr_format": 2,
    "shape": [10],
    "chunks": [5],
    "dtype": "<f8",
    "compressor": None,
    "filters": None,
    "fill_value": None,
    "order": "C",
}
STRANGE = {
    "objects without a codec": {**PLAIN, "dtype": "|O"},
    "no such type": {**PLAIN, "dtype": "<f7"},
    "too long": {**PLAIN, "shape": [10**30]},
    "too many chunks": {**PLAIN, "shape": [2**62, 2**62], "chunks": [1, 1]},
    "as the specification shortens it": {"chunks": [9228245], "compressor": None, "dtype": "<f8"},
    "no JSON": '{"chunks": [5], ...',
    "v3": {"zarr_format": 3, "node_type": "array", "shape": [4]},
}


@pytest.fixture(params=STRANGE, ids=lambda name: name.replace(" ", "-"))
def strange(request, tmp_path):
    """Give the place of a set with an array to read, and one that is strange."""
    (tmp_path / "data.bin").write_bytes(np.arange(20, dtype="<f8").tobytes())
    refs = {
        ".zgroup": {"zarr_format": 2},
        "x/.zarray": PLAIN,
        "x/0": ["data.bin", 0, 40],
        "x/1": ["data.bin", 80, 40],
        "y/zarr.json" if request.param == "v3" else "y/.zarray": STRANGE[request.param],
        "y/0": ["data.bin", 0, 40],
    }
    (tmp_path / "set.json").write_text(json.dumps({"version": 1, "refs": refs}))
    return tmp_path / "set.json"


def test_the_others_are_read(strange):
    found = oz.open(strange)
    assert found["x"][...].tolist() == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    with pytest.raises(OmnizarrError, match="y"):
        found["y"]


def test_version_0_has_all_keys(strange):
    given = json.loads(strange.read_text())["refs"]
    expanded = oz.refs.expand(strange)
    assert expanded.keys() == given.keys()
    assert expanded["y/0"] == given["y/0"]
    assert oz.refs.expand(given) == expanded


def test_the_set_is_written_again(strange, tmp_path):
    oz.refs.write(oz.refs.rewrite(strange, {str(tmp_path): "s3://bucket"}), tmp_path / "moved.json")
    moved = oz.refs.expand(tmp_path / "moved.json")
    assert moved["x/1"] == ["s3://bucket/data.bin", 80, 40]
    assert moved["y/0"] == ["s3://bucket/data.bin", 0, 40]


def test_a_check_tells_of_it(strange):
    errors = [one for one in oz.refs.validate(strange) if one.severity == "error"]
    assert [(one.rule, one.path) for one in errors] == [("document", "y")]


def test_combining_is_an_error_that_names_it(strange):
    with pytest.raises(OmnizarrError, match="y/"):
        oz.refs.combine([strange])
