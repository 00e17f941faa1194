"""`oz conformance` prints arrays as the public conformance tests ask for them: arrays like theirs, by zarr-python."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.cli.main import main


def written(where, dtype, shape, chunks, version):
    """Write an array with zarr-python; some of its chunks are never stored."""
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(where, shape=shape, chunks=chunks, dtype=dtype, zarr_format=version)
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    values[tuple(slice(chunk, None) for chunk in chunks)] = array.fill_value
    array[...] = values
    return values


@pytest.mark.peers
@pytest.mark.parametrize(
    ("dtype", "shape", "chunks", "version"),
    [
        ("int64", (8, 6), (4, 3), 2),
        ("int32", (9, 6, 4), (3, 3, 4), 2),
        ("int32", (6, 6), (6, 6), 3),
        ("float64", (9, 6, 4), (3, 3, 4), 2),
        ("float32", (9, 6, 4), (3, 3, 4), 2),
        ("bool", (4, 4), (4, 4), 2),
        ("complex64", (3,), (2,), 3),
    ],
)
def test_all_elements_are_printed_one_a_line(dtype, shape, chunks, version, *, tmp_path, capsys):
    values = written(tmp_path / "a.zarr", dtype, shape, chunks, version)
    assert main(["conformance", f"--array_path={tmp_path / 'a.zarr'}"]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    if dtype == "complex64":
        printed = [complex(*parts) for parts in printed]
    assert printed == values.reshape(-1).tolist()
    assert main(["conformance", f"--array_path={tmp_path / 'a.zarr'}", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["shape"], told["data_type"], len(told["elements"])) == (list(shape), dtype, values.size)


def test_what_is_no_array_is_refused(tmp_path, capsys):
    assert main(["conformance", f"--array_path={tmp_path / 'none.zarr'}"]) == 2
    oz.create_group(tmp_path / "g.zarr")
    assert main(["conformance", f"--array_path={tmp_path / 'g.zarr'}"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "group" in said.err


def test_an_array_that_does_not_decode_is_refused(tmp_path):
    array = oz.create_array(tmp_path / "a.zarr", shape=(4,), dtype="i4", codecs=["gzip"])
    array[...] = 1
    (tmp_path / "a.zarr/c/0").write_bytes(b"broken")
    assert main(["conformance", f"--array_path={tmp_path / 'a.zarr'}"]) == 2


def test_the_location_is_needed(capsys):
    assert main(["conformance"]) == 2
    assert "--array_path" in capsys.readouterr().err
