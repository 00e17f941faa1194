"""`oz gen`: datasets from CDL text."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from omnizarr.nc.opening import open_source
from omnizarr.nc.source import everything

TEXT = """netcdf small {
types:
  ubyte enum sky {clear = 0, cloudy = 1};
  int(*) ragged;
dimensions:
  time = unlimited; x = 3;
variables:
  float t(time, x);
    t:_FillValue = -1.f; t:units = "K"; t:_ChunkSizes = 1, 3; t:_DeflateLevel = 3;
  sky s(x); ragged r(x); string w(x); char c(x); int never(x);
  :title = "a \\"small\\" one"; :n = 1, 2;
data:
  t = 1, 2, _, 4, 5, 6;
  s = clear, cloudy, clear;
  r = {1}, {}, {2, 3};
  w = "a", "b", "ü";
  c = "xyz";
group: g { variables: int64 v(x); data: v = 1, 2, 3; }
}
"""


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.cdl").write_text(TEXT, encoding="utf-8")
    return "small.cdl"


def test_a_text_becomes_a_dataset(command, text):
    ran = command("gen", "-o", "new.zarr", text)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "wrote new.zarr: nczarr, 2 groups, 2 dimensions, 7 variables\n"
    source = open_source("new.zarr")
    read = {name: source.read(var, everything(var)) for name, var in source.root.vars.items()}
    assert read["t"].tolist() == [[1, 2, -1], [4, 5, 6]]
    assert read["s"].tolist() == [0, 1, 0]
    assert [one.tolist() for one in read["r"]] == [[1], [], [2, 3]]
    assert read["w"].tolist() == ["a", "b", "ü"]
    assert read["c"].tobytes() == b"xyz"
    assert read["never"].tolist() == [-2147483647] * 3
    assert source.root.dims["time"].unlimited
    assert source.root.attrs["title"].value == b'a "small" one'
    assert source.root.vars["t"].storage.deflate == 3
    deep = source.root.groups["g"].vars["v"]
    assert source.read(deep, everything(deep)).tolist() == [1, 2, 3]
    source.close()


def test_names_and_kinds(command, text, tmp_path):
    assert "wrote small.zarr: nczarr," in command("gen", "-b", text).out
    assert json.loads(command("gen", "-k", "nczarr3", "-o", "v3.zarr", "--json", text).out) == {
        "target": "v3.zarr", "kind": "nczarr3", "groups": 2, "dimensions": 2, "variables": 7,
    }  # fmt: skip
    assert (tmp_path / "v3.zarr" / "zarr.json").exists()
    assert open_source("v3.zarr").root.groups["g"].vars["v"].shape == (3,)


def test_values_can_be_left_out(command, text):
    command("gen", "-H", "-x", "-o", "empty.zarr", text)
    root = open_source("empty.zarr").root
    assert root.dims["time"].size == 0
    assert root.vars["s"].storage.no_fill


def test_without_a_place_the_text_is_only_checked(command, text, tmp_path):
    ran = command("gen", text)
    assert ran.out == "small.cdl: all right, 2 groups, 2 dimensions, 7 variables\n"
    assert [path.name for path in tmp_path.iterdir()] == ["small.cdl"]


def test_what_is_wrong_is_shown(command, monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO(b"netcdf x {\nvariables:\n\tint v(y);\n}\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    ran = command("gen", "-")
    assert ran.code == 2
    assert ran.err == (
        "oz: error: <stdin>:3:8: there is no dimension y\n        int v(y);\n              ^\n  there are none\n"
    )


def test_there_is_no_other_language(command, text):
    ran = command("gen", "-l", "f77", text)
    assert ran.code == 2
    assert "-l takes b and python" in ran.err


def test_a_program_makes_the_same_dataset(command, text, tmp_path):
    netcdf4 = pytest.importorskip("netCDF4")
    code = command("gen", "-c", "-o", "made.nc", text).out
    (tmp_path / "make.py").write_text(code.replace("from omnizarr import", "from netCDF4 import"), encoding="utf-8")
    subprocess.run([sys.executable, "make.py"], cwd=tmp_path, check=True, timeout=60)
    with netcdf4.Dataset("made.nc") as made:
        made.set_auto_mask(False)
        assert made["t"][:].tolist() == [[1, 2, -1], [4, 5, 6]]
        assert made["t"].chunking() == [1, 3]
        assert made["s"][:].tolist() == [0, 1, 0]
        assert [np.asarray(one).tolist() for one in made["r"][:]] == [[1], [], [2, 3]]
        assert made["w"][:].tolist() == ["a", "b", "ü"]
        assert made["g/v"][:].tolist() == [1, 2, 3]
        assert made.title == 'a "small" one'
        assert made.dimensions["time"].isunlimited()
