"""Arrays of very many small chunks become few tasks of Dask; others one for each chunk."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import omnizarr as oz
from omnizarr.interop.xarray import OmnizarrBackend


def _opened(folder, **arrays):
    group = oz.create_group(folder / "x.zarr")
    for name, (shape, chunks, dtype, dims) in arrays.items():
        group.create_array(name, shape=shape, chunks=chunks, dtype=dtype, dims=list(dims), fill_value=0)
    return xr.open_dataset(folder / "x.zarr", engine=OmnizarrBackend, chunks={})


def test_many_small_chunks_share_tasks(tmp_path):
    found = _opened(tmp_path, v=((64, 1024, 1000), (1, 128, 128), "f4", "tyx"))
    assert found.v.data.chunks[1:] == ((1024,), (1000,))
    assert found.v.data.numblocks == (22, 1, 1), "not much less than sixteen"
    assert found.v.encoding["chunks"] == (1, 128, 128)


def test_chunks_of_a_mebibyte_share_tasks_if_there_are_many(tmp_path):
    found = _opened(tmp_path, v=((256, 1024, 1024), (1, 512, 512), "f4", "tyx"))
    assert found.v.data.chunksize == (16, 1024, 1024), "of 64 MiB each"


def test_small_arrays_are_cut_into_4_mebibytes(tmp_path):
    found = _opened(tmp_path, v=((16, 1024, 1024), (1, 128, 128), "f4", "tyx"))
    assert found.v.data.chunksize == (1, 1024, 1024)


def test_variables_that_are_cut_alike_stay_so(tmp_path):
    tyx, yx = "tyx", "yx"
    found = _opened(
        tmp_path,
        wide=((40, 640, 640), (1, 64, 64), "f8", tyx),
        slim=((40, 640, 640), (1, 64, 64), "i1", tyx),
        plain=((640, 640), (64, 64), "f4", yx),
        other=((640,), (100,), "f4", "x"),
    )
    names = ["wide", "slim", "plain"]
    assert dict(found[names].chunks) == {"t": (2,) * 20, "y": (640,), "x": (640,)}, "one cut fits all"
    assert found.other.data.chunks == ((100,) * 6 + (40,),), "what was cut otherwise stays as it was"


@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ((16, 32), (1, 1)),
        ((512, 512, 512), (1, 512, 512)),
        ((4000, 512, 513), (1, 512, 513)),
        ((3000,), (-1,)),
        ((0, 10), (1, 1)),
    ],
)
def test_few_or_large_chunks_are_a_task_each(tmp_path, shape, chunks):
    chunks = tuple(size if length == -1 else length for size, length in zip(shape, chunks, strict=True))
    found = _opened(tmp_path, v=(shape, chunks, "f4", ["a", "b", "c"][: len(shape)]))
    assert found.v.data.chunksize == tuple(min(size, length) for size, length in zip(shape, chunks, strict=True))


def test_groups_of_chunks_write_back_what_they_hold(tmp_path):
    found = _opened(tmp_path, v=((300, 200), (5, 5), "i4", "yx"))
    values = np.arange(60_000).reshape(300, 200).astype("i4")
    oz.open_array(tmp_path / "x.zarr/v", mode="r+")[...] = values
    (found + 1).oz.to_omnizarr(tmp_path / "y.zarr")
    again = oz.open_array(tmp_path / "y.zarr/v")
    np.testing.assert_array_equal(again[...], values + 1)
    found.oz.to_omnizarr(tmp_path / "z.zarr")
    assert oz.open_array(tmp_path / "z.zarr/v").chunks == (5, 5)
