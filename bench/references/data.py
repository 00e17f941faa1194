"""The inputs of the race, made once and kept: sets of millions of references, files to scan and to combine."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

PLACE: Final = Path(os.environ.get("OZ_BENCH_DATA") or Path(tempfile.gettempdir()) / "oz-bench-references")
CHUNK: Final = 256
"""Elements of a chunk, of four bytes each."""
_BLOB: Final = 64 << 20
SMALL: Final = 1000
"""References of the sets that contenders open before the clock starts."""
MILLION: Final = 1_000_000
TEN_MILLION: Final = 10_000_000
RECORD: Final = 100_000
FILES: Final = 200


def offset(i: Any) -> Any:
    """Where chunk number i lies in its file: nowhere near its neighbours."""
    return (i * 102_947 + 13) % (_BLOB - 4 * CHUNK)


def url(i: int) -> str:
    """The file of chunk number i; a thousand chunks share one."""
    return f"{PLACE}/blobs/model_output_daily_surface_{i // 1000:06d}.nc"


def documents(n: int) -> dict[str, Any]:
    """The documents of a set of n references."""
    array = {"zarr_format": 2, "shape": [n * CHUNK], "chunks": [CHUNK], "dtype": "<i4", "compressor": None}
    return {
        ".zgroup": {"zarr_format": 2},
        "a/.zarray": {**array, "fill_value": 0, "filters": None, "order": "C"},
        "a/.zattrs": {"_ARRAY_DIMENSIONS": ["x"]},
    }


def _blobs() -> Path:
    blob = PLACE / "blobs" / "blob.bin"
    blob.parent.mkdir(parents=True, exist_ok=True)
    np.arange(_BLOB // 4, dtype="<i4").tofile(blob)
    for i in range(0, TEN_MILLION, 1000):
        place = Path(url(i))
        if not place.is_symlink():
            place.symlink_to(blob)
    return blob


def _json(n: int) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        refs: dict[str, Any] = {key: json.dumps(text) for key, text in documents(n).items()}
        refs.update({f"a/{i}": [url(i), offset(i), 4 * CHUNK] for i in range(n)})
        place.write_text(json.dumps({"version": 1, "refs": refs}))

    return make


def _parquet(n: int) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        (place / "a").mkdir(parents=True)
        for k in range(-(-n // RECORD)):
            _record(place / "a" / f"refs.{k}.parq", k * RECORD, min(RECORD, n - k * RECORD))
        (place / ".zmetadata").write_text(json.dumps({"metadata": documents(n), "record_size": RECORD}))

    return make


def _record(place: Path, first: int, n: int) -> None:
    """References as fsspec lays them out, written by fastparquet."""
    import pandas as pd

    names = [url(first + 1000 * q) for q in range(-(-n // 1000))]
    columns = {
        "path": pd.Categorical.from_codes((np.arange(n) // 1000).astype("i1"), names),
        "offset": offset(np.arange(first, first + n)),
        "size": np.full(n, 4 * CHUNK),
        "raw": np.full(n, None, "O"),
    }
    pd.DataFrame(columns).to_parquet(
        place,
        engine="fastparquet",
        compression="zstd",
        index=False,
        stats=False,
        object_encoding={"raw": "bytes", "path": "utf8"},
        has_nulls=["path", "raw"],
    )


def _many(place: Path) -> None:
    """Files of a thousand chunks each, one after the other in time."""
    import h5py

    place.mkdir()
    for number in range(FILES):
        with h5py.File(place / f"f{number:04d}.nc", "w") as file:
            scales = []
            for name, values in (
                ("time", np.arange(10.0) + 10 * number),
                ("y", np.arange(80.0)),
                ("x", np.arange(80.0)),
            ):
                scales.append(file.create_dataset(name, data=values))
                scales[-1].make_scale(name)
            scales[0].attrs["units"] = "days since 2000-01-01"
            var = file.create_dataset("v", data=np.full((10, 80, 80), number, "f4"), chunks=(1, 8, 8))
            for axis, scale in enumerate(scales):
                var.dims[axis].attach_scale(scale)


def _chunks(n: int) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        import h5py

        with h5py.File(place, "w") as file:
            values = np.arange(n * 64, dtype="i4").reshape(n // 100, 6400)
            file.create_dataset("a", data=values, chunks=(1, 64))

    return make


def _field(**filters: Any) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        import h5py

        values = np.cumsum(np.random.default_rng(0).normal(size=(64, 1024, 1024)), axis=2).astype("f4")
        with h5py.File(place, "w") as file:
            file.create_dataset("v", data=values, chunks=(1, 512, 512), **filters)

    return make


_MAKERS: Final[dict[str, Callable[[Path], None]]] = {
    "small.json": _json(SMALL),
    "small.parq": _parquet(SMALL),
    "million.json": _json(MILLION),
    "ten-million.parq": _parquet(TEN_MILLION),
    "many": _many,
    "chunks-10000.h5": _chunks(10_000),
    "chunks-100000.h5": _chunks(100_000),
    "field-raw.nc": _field(),
    "field-gzip.nc": _field(shuffle=True, compression="gzip", compression_opts=1),
}


def make(*names: str) -> None:
    """Make what is not there yet; all of it takes a minute or two, and 1.5 GB."""
    if not (PLACE / "blobs" / "blob.bin").exists():
        _blobs()
    for name in names or _MAKERS:
        place = PLACE / name
        if not place.exists():
            print(f"making {name}", flush=True)
            unfinished = place.with_name(f"unfinished-{name}")
            _MAKERS[name](unfinished)
            unfinished.rename(place)
