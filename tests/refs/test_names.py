"""Names that callers give in few words: one variable, and a folder from here on."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NotFoundError


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Give a set in memory, of a file in the current folder, which it names from there."""
    monkeypatch.chdir(tmp_path)
    with oz.Dataset("a.nc", "w", format="NETCDF3_CLASSIC") as ds:
        ds.createDimension("time", 200)
        for name in ("time", "temperature"):
            ds.createVariable(name, "f8", ("time",))[:] = np.arange(200)
    return oz.refs.relative(oz.refs.scan("a.nc"), str(tmp_path))


@pytest.mark.parametrize("word", ["only", "skip"])
def test_one_variable(place, word):
    found = {"time"} if word == "only" else {"temperature"}
    assert set(oz.refs.scan("a.nc", **{word: "time"}).arrays) == found
    options = oz.refs.Options(**{word: "time"})
    assert set(oz.refs.combine(["a.nc"], scan=options).arrays) == found
    with pytest.raises(NotFoundError, match="there is no variable nothing"):
        oz.refs.scan("a.nc", **{word: "nothing"})
    assert place.urls == ["a.nc"]


@pytest.mark.parametrize("base", [".", "./", "whole", "sub/.."])
def test_a_folder_from_here_on(place, tmp_path, base):
    (tmp_path / "sub").mkdir()
    base = str(tmp_path) if base == "whole" else base
    assert oz.refs.absolute(place, base).urls == [str(tmp_path / "a.nc")]
    assert oz.refs.summary(oz.refs.inline(place, 10_000, base=base)).references == 0
    assert [one.severity for one in oz.refs.validate(place, base=base)] == []
    oz.refs.export(place, "a.zarr", base=base)
    assert oz.open("a.zarr")["time"][-1] == 199
    made = oz.refs.combine([place], concat="time", base=base, allow=["."])
    assert made.arrays["temperature"].counts == place.arrays["temperature"].counts
