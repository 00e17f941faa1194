"""`oz convert`: what it prints, its exit codes, and what its options mean."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.cli.main import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A small dataset of v2."""
    monkeypatch.chdir(tmp_path)
    group = oz.create_group("a.zarr", format="zarr2", attrs={"n": 1})
    group.create_array("t", data=np.arange(24.0).reshape(2, 3, 4), chunks=(1, 3, 4), dims=("time", "lat", "lon"))
    group.create_array("lat", data=np.arange(3.0), dims=("lat",))
    return tmp_path


def run(capsys, *words):
    code = main(["convert", *words])
    return code, capsys.readouterr()


def test_in_place(here, capsys):
    code, printed = run(capsys, "a.zarr", "--to", "v3", "--verify")
    assert code == 0
    assert printed.out.splitlines() == [
        "/     documents",
        "/lat  documents  the attribute _ARRAY_DIMENSIONS becomes the names of the dimensions",
        "                 the fill value, by which xarray masks elements, is also the attribute _FillValue",
        "/t    documents  the attribute _ARRAY_DIMENSIONS becomes the names of the dimensions",
        "                 the fill value, by which xarray masks elements, is also the attribute _FillValue",
        "zarr2 → zarr3 in place: 3 by documents alone; verified",
    ]
    assert oz.open("a.zarr").format == "zarr3"
    code, printed = run(capsys, "a.zarr", "--to", "v3")
    assert printed.out.splitlines()[-1] == "zarr3 → zarr3 in place: 3 kept"


def test_dry_runs_and_what_cannot_be_carried(here, capsys):
    code, printed = run(capsys, "a.zarr", "b.zarr", "--to", "v1", "--dry-run")
    assert code == 1
    assert printed.out.splitlines()[2:] == [
        "/     refused    Zarr v1 has no groups",
        "                 Convert its arrays one by one.",
        "zarr2 → zarr1 in b.zarr: 2 copied; nothing was written",
    ]
    code, printed = run(capsys, "a.zarr", "b.zarr", "--to", "v1")
    assert code == 2
    assert printed.out == ""
    assert "no groups" in printed.err
    assert not (here / "b.zarr").exists()


def test_json(here, capsys):
    code, printed = run(capsys, "a.zarr", "b.zarr", "--to", "zarr3", "--json")
    assert code == 0
    found = json.loads(printed.out)
    assert found["format"] == "zarr3"
    assert [node["how"] for node in found["nodes"]] == ["documents", "copy", "copy"]


@pytest.mark.parametrize(
    ("words", "layout", "names"),
    [
        (["--chunks", "2,1,4"], ((2, 1, 4), None), ["bytes"]),
        (["--chunks", "time=2,lon=2", "--codec", "zstd:5"], ((2, 3, 2), None), ["bytes", "zstd"]),
        (["--chunks", "1,1,2", "--shards", "2,3,4"], ((1, 1, 2), (2, 3, 4)), ["bytes"]),
        (["--codec", '{"id": "zlib", "level": 2}'], ((1, 3, 4), None), ["bytes", "numcodecs.zlib"]),
        (["--codec", "crc32c", "--codec", "gzip", "--memory", "1MiB"], ((1, 3, 4), None), ["bytes", "crc32c", "gzip"]),
        (["--codec", "none"], ((1, 3, 4), None), ["bytes"]),
    ],
)
def test_layout(here, capsys, words, layout, names):
    code, _ = run(capsys, "a.zarr", "b.zarr", "--to", "v3", *words)
    assert code == 0
    array = oz.open_group("b.zarr")["t"]
    assert (array.chunks, array.shards) == layout
    assert [codec.name for codec in array.codecs] == names
    assert np.array_equal(array[...], np.arange(24).reshape(2, 3, 4))


def test_chosen_arrays_and_archives(here, capsys):
    code, _ = run(capsys, "a.zarr", "b.zip", "--to", "v3", "--exclude", "lat")
    assert code == 0
    with oz.open_group("b.zip") as group:
        assert [name for name, _ in group.members()] == ["t"]
    code, printed = run(capsys, "a.zarr", "b.zip", "--to", "v3")
    assert code == 2
    assert "already" in printed.err
    assert run(capsys, "a.zarr", "b.zip", "--to", "v3", "--overwrite", "--include", "lat")[0] == 0


def test_rollback(here, capsys):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        oz.convert("a.zarr", "b.zarr", format="v3", progress=stop)
    code, printed = run(capsys, "b.zarr", "--rollback")
    assert (code, printed.out) == (0, "the conversion of b.zarr was undone\n")
    assert [one for one in (here / "b.zarr").rglob("*") if one.is_file()] == []
    code, printed = run(capsys, "b.zarr", "--rollback")
    assert code == 2
    assert "no conversion is under way" in printed.err


@pytest.mark.parametrize(
    "words", [["--chunks", "a,b"], ["--memory", "much"], ["--codec", "zstd:fast"], ["--codec", "{"]]
)
def test_usage_errors(here, capsys, words):
    try:
        code = main(["convert", "a.zarr", *words])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert "oz convert --help" in capsys.readouterr().err
