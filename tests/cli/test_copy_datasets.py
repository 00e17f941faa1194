"""`oz copy` with nccopy's letters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from omnizarr.cli.main import main
from omnizarr.nc.copying import copy_dataset
from omnizarr.nc.opening import open_source
from omnizarr.nc.source import MemorySource, everything
from omnizarr.nc.types import FLOAT, INT

pytest.importorskip("h5py")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A netCDF-4 file in the working directory."""
    monkeypatch.chdir(tmp_path)
    source = MemorySource()
    t, x = source.root.add_dim("t", 4, unlimited=True), source.root.add_dim("x", 5)
    for name, kind in (("a", FLOAT), ("b", INT)):
        var = source.root.add_var(name, kind, (t, x))
        source.write(var, everything(var), np.arange(20).reshape(4, 5).astype(kind.numpy))
    copy_dataset(source, "in.nc")
    return tmp_path


def run(capsys, *words):
    code = main(["copy", *words])
    out, err = capsys.readouterr()
    return code, out, err


def variables(place):
    source = open_source(place)
    found = {name: (var, source.read(var, everything(var))) for name, var in source.root.vars.items()}
    source.close()
    return source.kind, found


def test_to_zarr_and_back(capsys):
    assert run(capsys, "in.nc", "out.zarr") == (0, "copied 2 variables, 160 B, to out.zarr (nczarr)\n", "")
    assert run(capsys, "out.zarr", "out.nc")[1] == "copied 2 variables, 160 B, to out.nc (netCDF-4)\n"
    assert run(capsys, "-n", "out.zarr", "new.nc")[1] == "would copy 2 variables, 160 B, to new.nc (netCDF-4)\n"
    kind, found = variables("out.nc")
    assert kind == "netCDF-4"
    assert np.array_equal(found["b"][1], np.arange(20).reshape(4, 5))


@pytest.mark.parametrize(
    ("words", "kind"),
    [(["-3"], "classic"), (["-k", "nc6"], "64-bit offset"), (["-5"], "cdf5"), (["-7"], "netCDF-4 classic model")],
)
def test_kinds(capsys, words, kind):
    assert run(capsys, *words, "in.nc", "out.nc")[0] == 0
    assert variables("out.nc")[0] == kind


def test_the_letters_of_nccopy(capsys):
    words = ["-d", "5", "-s", "-c", "t/2,x/5", "-u", "-w", "-r", "-m", "1k", "-h", "4M", "-e", "101", "-M", "1"]
    assert run(capsys, *words, "in.nc", "out.nc", "-V", "a")[0] == 0
    _, found = variables("out.nc")
    assert list(found) == ["a"]
    var, values = found["a"]
    assert (var.storage.deflate, var.storage.shuffle, var.storage.chunks) == (5, True, (2, 5))
    assert not any(dim.unlimited for dim in var.dims)
    assert values[3, 4] == 19
    assert run(capsys, "-F", "a,fletcher32", "-F", "b,none", "-v", "b", "-g", "/", "-G", "/", "in.nc", "f.nc")[0] == 0
    _, found = variables("f.nc")
    assert found["a"][0].storage.fletcher32
    assert (found["a"][1] > 1e36).all()
    assert found["b"][1][0, 4] == 4


def test_json(capsys):
    told = json.loads(run(capsys, "in.nc", "out.zarr", "--json")[1])
    assert (told["kind"], told["keys"], told["nbytes"]) == ("nczarr", 2, 160)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["-k", "nonsense", "in.nc", "o.nc"], "there is no kind of dataset called 'nonsense'"),
        (["-d", "10", "in.nc", "o.nc"], "invalid choice"),
        (["-m", "much", "in.nc", "o.nc"], "'much' is no size"),
        (["-c", "t", "in.nc", "o.nc"], "'t' is no chunk specification"),
        (["-F", "a,what", "in.nc", "o.nc"], "'what' is no filter"),
        (["-V", "aa", "in.nc", "o.nc"], "there is no variable 'aa'"),
        (["in.nc", "in.nc"], "is there already"),
        (["none.nc", "o.zarr"], "none.nc"),
        (
            ["-3", "in.nc", "o.zarr"],
            "o.zarr is named as Zarr is, and classic is a kind of netCDF file\n  Let it end in .nc.",
        ),
        (["-4", "in.nc", "o.ZIP"], "The kinds zarr3 and nczarr3 are Zarr v3"),
        (
            ["--format", "zarr2", "in.nc", "o.zarr"],
            "there is no --format\n  'oz convert --to v2 SOURCE TARGET' changes",
        ),
        (["in.nc", "o.zarr", "-2"], "there is no -2\n  'oz convert"),
    ],
)
def test_trouble_is_told(capsys, words, part):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert part in err


def test_3_is_the_kind_that_nccopy_means(capsys):
    assert run(capsys, "in.nc", "out.zarr")[0] == 0
    assert run(capsys, "-3", "out.zarr", "out.nc") == (0, "copied 2 variables, 160 B, to out.nc (classic)\n", "")
    assert Path("out.nc").read_bytes()[:4] == b"CDF\1"


def test_h_alone_is_help(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["copy", "-h"])
    assert ended.value.code in (0, None)
    assert "nccopy's" in capsys.readouterr().out
