"""`oz dump`: its letters, its errors, and how it ends."""

from __future__ import annotations

import json

import numpy as np
import pytest

from omnizarr.nc.opening import create_source
from omnizarr.nc.source import everything
from omnizarr.nc.tree import Attr, Group
from omnizarr.nc.types import DOUBLE, FLOAT, INT


@pytest.fixture
def dataset(tmp_path):
    root = Group()
    time, x = root.add_dim("time", 2, unlimited=True), root.add_dim("x", 3)
    root.add_var("time", DOUBLE, (time,)).attrs["units"] = Attr.of_text("units", "days since 2000-01-01")
    root.add_var("t", FLOAT, (time, x)).attrs["units"] = Attr.of_text("units", "K")
    root.add_group("g").add_var("n", INT, (x,))
    source = create_source(tmp_path / "some.zarr", root, "nczarr")
    for path, values in (("time", [0.0, 1.5]), ("t", [[1.25, 2, 3], [4, 5, 6]])):
        var = source.root.vars[path]
        source.write(var, tuple(slice(0, n, 1) for n in np.shape(values)), np.array(values, var.type.numpy))
    var = source.root.groups["g"].vars["n"]
    source.write(var, everything(var), np.array([7, 8, 9], "i4"))
    source.close()
    return tmp_path / "some.zarr"


TEXT = """netcdf some {
dimensions:
\ttime = UNLIMITED ; // (2 currently)
\tx = 3 ;
variables:
\tdouble time(time) ;
\t\ttime:units = "days since 2000-01-01" ;
\tfloat t(time, x) ;
\t\tt:units = "K" ;
data:

 time = 0, 1.5 ;

 t =
  1.25, 2, 3,
  4, 5, 6 ;

group: g {
  variables:
  \tint n(x) ;
  data:

   n = 7, 8, 9 ;
  } // group g
}
"""


def test_a_dataset(command, dataset):
    assert command("dump", dataset) == (0, TEXT, "")


@pytest.mark.parametrize(
    ("words", "there", "absent"),
    [
        (["-h"], "float t", "data:"),
        (["-c"], "time = 0, 1.5 ;", "1.25"),
        (["-v", "g/n,time"], "7, 8, 9", "1.25"),
        (["-v", "t[1,:]"], "\n // t[1:2,0:3]\n t =\n  4, 5, 6 ;", "1.25"),
        (["-g", "g"], "7, 8, 9", "1.25"),
        (["-t"], '"2000-01-01", "2000-01-02 12"', "0, 1.5"),
        (["-i"], '"2000-01-01", "2000-01-02T12"', "0, 1.5"),
        (["-p", "2"], "1.2, 2, 3", "1.25"),
        (["-l", "12"], "1.25, \n    2, 3,", "1.25, 2"),
        (["-n", "other"], "netcdf other {", "some"),
        (["-b", "f"], "// t(1-3 ,1)\n", "t(0"),
        (["-f", "C"], "2,   // t(0,1)\n", "t(1-"),
        (["-s"], "t:_ChunkSizes = ", "_Filter"),
        (["-x", "-h"], '<variable name="t" shape="time x" type="float">', "1.25"),
        (["-L", "2", "-w", "-X", "p"], "1.25", "<"),
    ],
)
def test_letters(command, dataset, words, there, absent):
    ran = command("dump", *words, dataset)
    assert ran.code == 0
    assert there in ran.out
    assert absent not in ran.out


def test_the_kind(command, dataset):
    assert command("dump", "-k", dataset) == (0, "nczarr\n", "")


def test_json(command, dataset):
    found = json.loads(command("dump", "--json", dataset).out)
    assert found["variables"]["t"]["data"] == [[1.25, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-v", "nothing"], "there is no variable 'nothing'"),
        (["-v", "t[9]"], "out of bounds"),
        (["-g", "nothing"], "there is no group 'nothing'"),
        (["-p", "21"], "-p 21 is no number of digits"),
        (["-p", "a,b"], "no number of digits"),
        (["-l", "9"], "too short"),
        (["-b", "x"], "c for C or f for Fortran"),
    ],
)
def test_what_cannot_be_done_prints_nothing_else(command, dataset, words, message):
    ran = command("dump", *words, dataset)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_nothing_there(command, tmp_path):
    ran = command("dump", tmp_path / "none.zarr")
    assert (ran.code, ran.out) == (2, "")
    assert "none.zarr" in ran.err


def test_a_reader_that_has_seen_enough(shell, dataset):
    ran = shell(f"oz dump {dataset} | head -1")
    assert (ran.code, ran.out, ran.err) == (0, "netcdf some {\n", "")


def test_help_has_a_word_of_its_own(command):
    assert "-h                      only the header" in command("dump", "--help").out
