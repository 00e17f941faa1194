"""Sets in parquet whose chunks find other places when they grow: each chunk still leads to the file that it is in."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.refs import Options

netcdf = pytest.importorskip("netCDF4")


def make(path, start, dim, *, extra):
    """Write a file whose values are the places along a dimension, and one more variable that no other file has."""
    sizes = {"time": 4, "x": 300} if dim == "time" else {"time": 200, "x": 4}
    with netcdf.Dataset(path, "w") as file:
        for name, size in sizes.items():
            file.createDimension(name, size)
        file.createVariable(dim, "f8", (dim,))[:] = np.arange(start, start + 4)
        places = np.arange(start, start + 4).reshape((4, 1) if dim == "time" else (1, 4))
        chunks = (1, 300) if dim == "time" else (200, 1)
        file.createVariable("a", "f4", ("time", "x"), chunksizes=chunks)[:] = places + np.zeros(tuple(sizes.values()))
        other = "x" if dim == "time" else "time"
        file.createVariable(extra, "f4", (other,))[:] = np.full(sizes[other], start)
    return path


@pytest.mark.parametrize("inline", [0, 500])
@pytest.mark.parametrize(("dim", "third", "keep"), [("time", 6, "last"), ("time", 6, "first"), ("x", 8, "error")])
def test_chunks_stay_with_their_files(tmp_path, dim, third, keep, inline):
    # The other variables name the files in another order than the first one does.
    parts = [(0, "late"), (4, "early")]
    files = [make(tmp_path / f"{start}.nc", start, dim, extra=extra) for start, extra in parts]
    options = Options(inline=inline)
    oz.refs.write(oz.refs.combine(files, concat=dim, scan=options), tmp_path / "all.parq")
    more = make(tmp_path / "more.nc", third, dim, extra="other")
    oz.refs.append(tmp_path / "all.parq", [more], dim, keep=keep, scan=options)
    found = oz.open(tmp_path / "all.parq")
    line = found["a"][:, 7] if dim == "time" else found["a"][7]
    assert line.tolist() == found[dim][...].tolist() == list(range(third + 4))
    assert {name: found[name][0] for name in ("late", "early", "other")} == {"late": 0, "early": 4, "other": third}
