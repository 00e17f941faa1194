"""What is raced, and by whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from bench.references import combining, files, opening
from bench.references.data import MILLION, TEN_MILLION
from bench.references.stage import Figures


class Workload(NamedTuple):
    """A piece of work, and who does it."""

    what: str
    inputs: tuple[str, ...]
    contenders: dict[str, Callable[[], Figures]]


def _opening(name: str, n: int) -> dict[str, Callable[[], Figures]]:
    return {who: opening.opens(name, n, who) for who in opening.OPENERS}


def _reading(name: str, variable: str) -> dict[str, Callable[[], Figures]]:
    return {who: files.reading(name, variable, who) for who in files.ARRAYS}


WORKLOADS: Final = {
    "json": Workload(
        "open a million references in JSON, read ten chunks",
        ("small.json", "million.json"),
        _opening("million.json", MILLION),
    ),
    "parquet": Workload(
        "open ten million references in parquet, read ten chunks",
        ("small.parq", "ten-million.parq"),
        _opening("ten-million.parq", TEN_MILLION),
    ),
    "gen": Workload("open a thousand million references by formula, read one", (), {"omnizarr": opening.formulas}),
    "combine": Workload(
        "join 200 sets of a thousand references, write parquet",
        ("many",),
        {
            "kerchunk": combining.kerchunk_combines,
            "virtualizarr": combining.virtualizarr_combines,
            "omnizarr": combining.omnizarr_combines,
        },
    ),
    "combine-many": Workload(
        "join ten thousand sets of a thousand references, write parquet",
        (),
        {"floor": combining.floor_of_combining_many, "omnizarr": combining.omnizarr_combines_many},
    ),
    "scan": Workload(
        "scan an HDF5 file of 100,000 chunks",
        ("chunks-10000.h5", "chunks-100000.h5"),
        {who: files.scanning("chunks-100000.h5", who) for who in files.SCANS},
    ),
    "scan-http": Workload(
        "scan a file of 268 MB and 256 chunks over HTTP at 20 ms",
        ("chunks-10000.h5", "field-raw.nc"),
        {who: files.scanning_remote("field-raw.nc", who) for who in files.SCANS if who != "chunk_iter"},
    ),
    "read-raw": Workload("read 256 MiB in chunks of 1 MiB, raw", ("field-raw.nc",), _reading("field-raw.nc", "v")),
    "read-gzip": Workload(
        "read 256 MiB in chunks of 1 MiB, shuffle and gzip", ("field-gzip.nc",), _reading("field-gzip.nc", "v")
    ),
    "read-small": Workload("read 10,000 chunks of 256 bytes", ("chunks-10000.h5",), _reading("chunks-10000.h5", "a")),
    "read-http": Workload(
        "read 100 chunks side by side over HTTP at 20 ms", (), {who: files.neighbours(who) for who in files.NEIGHBOURS}
    ),
}
