"""Joining files along time, and writing the result as parquet."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.references.data import FILES, PLACE
from bench.references.stage import Figures, Stages


def _singles() -> list[str]:
    """Sets of the single files, which kerchunk wrote."""
    folder = PLACE / "singles"
    if not folder.exists():
        import kerchunk.hdf
        import ujson

        unfinished = PLACE / "unfinished-singles"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        for file in sorted((PLACE / "many").glob("*.nc")):
            made = kerchunk.hdf.SingleHdf5ToZarr(str(file), inline_threshold=0).translate()
            made["refs"] = dict(sorted(made["refs"].items()))  # or its own combine cannot write parquet
            (unfinished / f"{file.stem}.json").write_text(ujson.dumps(made))
        unfinished.rename(folder)
    return [str(file) for file in sorted(folder.glob("*.json"))]


def _check_combined(place: Any) -> None:
    import omnizarr as oz

    group: Any = oz.open(place, allow=["*"])
    assert group["v"].shape == (10 * FILES, 80, 80)
    for t in (0, 10 * FILES // 2, 10 * FILES - 1):
        assert (group["v"][t] == t // 10).all()
    np.testing.assert_array_equal(group["time"][...], np.arange(10 * FILES))


def _timed(name: str, inputs: Sequence[Any], combine: Callable[[Sequence[Any], Path], None]) -> Figures:
    """Combine all inputs; two of them before the clock starts, so that nobody's imports are measured."""
    place = PLACE / f"combined-{name}.parq"
    for some in (inputs[:2], inputs):
        shutil.rmtree(place, ignore_errors=True)
        stages = Stages()
        combine(some, place)
        stages.lap("combine")
    figures = stages.done()
    _check_combined(place)
    return figures


def kerchunk_combines() -> Figures:
    """kerchunk, from sets of the single files."""
    from fsspec.implementations.reference import LazyReferenceMapper
    from kerchunk.combine import MultiZarrToZarr

    def combine(inputs: Sequence[Any], place: Path) -> None:
        out = LazyReferenceMapper.create(str(place), record_size=100_000)
        MultiZarrToZarr(
            inputs, concat_dims=["time"], identical_dims=["x", "y"], remote_protocol="file", inline_threshold=0, out=out
        ).translate()

    return _timed("kerchunk", _singles(), combine)


def virtualizarr_combines() -> Figures:
    """VirtualiZarr, from files that it has scanned before."""
    import xarray as xr
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtualizarr import open_virtual_dataset
    from virtualizarr.parsers import HDFParser

    registry = ObjectStoreRegistry({"file://": LocalStore()})
    parts = [
        open_virtual_dataset(
            f"file://{file}",
            registry=registry,
            parser=HDFParser(),
            loadable_variables=["time", "x", "y"],
            decode_times=False,
        )
        for file in sorted((PLACE / "many").glob("*.nc"))
    ]
    how: Any = {"compat": "override", "combine_attrs": "override", "data_vars": "minimal", "join": "override"}

    def combine(inputs: Sequence[Any], place: Path) -> None:
        joined = xr.concat(inputs, dim="time", coords="minimal", **how)
        joined.vz.to_kerchunk(str(place), format="parquet")

    return _timed("virtualizarr", parts, combine)


def omnizarr_combines() -> Figures:
    """Omnizarr, from sets of the single files."""
    import omnizarr as oz

    def combine(inputs: Sequence[Any], place: Path) -> None:
        oz.refs.write(oz.refs.combine(inputs, concat="time", allow=[str(PLACE)]), place)

    return _timed("omnizarr", _singles(), combine)


_INPUTS = 10_000


def _synthetic(number: int) -> Any:
    """A set of a thousand chunks, as a scanner would make it."""
    from omnizarr.refset.model import Chunks, References

    array = {"zarr_format": 2, "compressor": None, "filters": None, "order": "C", "fill_value": None}
    texts = {
        ".zgroup": {"zarr_format": 2},
        "v/.zarray": {**array, "shape": [10, 80, 80], "chunks": [1, 8, 8], "dtype": "<f4"},
        "v/.zattrs": {"_ARRAY_DIMENSIONS": ["time", "y", "x"]},
        "time/.zarray": {**array, "shape": [10], "chunks": [10], "dtype": "<f8"},
        "time/.zattrs": {"_ARRAY_DIMENSIONS": ["time"], "units": "days since 2000-01-01"},
    }
    times = np.arange(10.0) + 10 * number
    rows = Chunks.ranges((10, 10, 10), 0, np.arange(1000, dtype="u8") * 4096 + 13 * number, 256)
    return References(
        {key: json.dumps(text).encode() for key, text in texts.items()},
        {"v": rows, "time": Chunks.of_bytes((1,), {0: times.tobytes()})},
        [f"s3://bucket/some/long/prefix/model_output_daily_surface_{number:06d}.nc"],
    )


def omnizarr_combines_many() -> Figures:
    """Omnizarr, ten million references of ten thousand files."""
    import omnizarr as oz

    place = PLACE / "combined-many.parq"
    shutil.rmtree(place, ignore_errors=True)
    stages = Stages()
    sets = [_synthetic(number) for number in range(_INPUTS)]
    stages.lap("make inputs")
    joined = oz.refs.combine(sets, concat="time")
    stages.lap("combine")
    oz.refs.write(joined, place)
    stages.lap("write")
    return stages.done()


def floor_of_combining_many() -> Figures:
    """The least that it takes: columns joined by NumPy, and written by pyarrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts = [(np.arange(1000, dtype="u8") * 4096 + 13 * k, np.full(1000, 256, "u8")) for k in range(_INPUTS)]
    urls = [f"s3://bucket/some/long/prefix/model_output_daily_surface_{k:06d}.nc" for k in range(_INPUTS)]
    place = PLACE / "floor.parq"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    stages = Stages()
    starts, sizes = (np.concatenate([part[i] for part in parts]).astype("i8") for i in (0, 1))
    numbers = np.repeat(np.arange(_INPUTS, dtype="i4"), 1000)
    stages.lap("combine")
    for k in range(_INPUTS // 100):
        rows = slice(100_000 * k, 100_000 * (k + 1))
        paths = pa.DictionaryArray.from_arrays(
            pa.array(numbers[rows] - 100 * k), pa.array(urls[100 * k : 100 * k + 100])
        )
        columns = {"path": paths, "offset": starts[rows], "size": sizes[rows], "raw": pa.nulls(100_000, pa.binary())}
        pq.write_table(pa.table(columns), place / f"{k}.parq", compression="zstd", write_statistics=False)
    stages.lap("write")
    return stages.done()
