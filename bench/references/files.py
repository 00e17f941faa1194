"""Scanning HDF5 files, and reading arrays through references to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.references.data import PLACE
from bench.references.server import Server
from bench.references.stage import Figures, Stages


def _registry(url: str = "") -> Any:
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import HTTPStore, LocalStore

    stores: dict[str, Any] = {"file://": LocalStore()}
    if url:
        stores[url] = HTTPStore.from_url(url, client_options={"allow_http": True})
    return ObjectStoreRegistry(stores)


# --- scan ------------------------------------------------------------------------------------------------------------


def _scan_kerchunk(where: str) -> int:
    import kerchunk.hdf

    return len(kerchunk.hdf.SingleHdf5ToZarr(where, inline_threshold=0).translate()["refs"])


def _scan_virtualizarr(where: str) -> int:
    from virtualizarr.parsers import HDFParser

    server = "/".join(where.split("/")[:3]) if where.startswith("http") else ""
    return len(HDFParser()(where if server else f"file://{where}", _registry(server))._group.arrays)  # noqa: SLF001 - nothing else tells


def _scan_omnizarr(where: str) -> int:
    import omnizarr as oz

    return sum(map(len, oz.refs.scan(where, inline=0).arrays.values()))


def _scan_nothing(where: str) -> int:
    """What h5py takes to go through the chunks, and do nothing with them."""
    import h5py

    with h5py.File(where) as file:
        file["a"].id.chunk_iter(lambda _: None)
    return 1


SCANS = {
    "kerchunk": _scan_kerchunk,
    "virtualizarr": _scan_virtualizarr,
    "chunk_iter": _scan_nothing,
    "omnizarr": _scan_omnizarr,
}


def scanning(name: str, who: str) -> Callable[[], Figures]:
    """A local file, the second time: the first has imported everything."""

    def work() -> Figures:
        SCANS[who](str(PLACE / "chunks-10000.h5"))
        stages = Stages()
        assert SCANS[who](str(PLACE / name))
        stages.lap("scan")
        return stages.done()

    return work


def scanning_remote(name: str, who: str) -> Callable[[], Figures]:
    """A file on a server that takes 20 ms for each answer; another one comes first, before the clock starts."""

    def work() -> Figures:
        with Server(PLACE) as server:
            SCANS[who](f"{server.url}/chunks-10000.h5")
            server.forget()
            stages = Stages()
            assert SCANS[who](f"{server.url}/{name}")
            stages.lap("scan")
            stages.add(requests=server.requests, megabytes=server.bytes / 1e6)
            return stages.done()

    return work


# --- read ------------------------------------------------------------------------------------------------------------


def _array_of_h5py(where: str, name: str) -> Any:
    import h5py

    return h5py.File(where)[name]


def _array_of_fsspec(where: str, name: str) -> Any:
    import kerchunk.hdf
    import zarr

    made = kerchunk.hdf.SingleHdf5ToZarr(where, inline_threshold=0).translate()
    options = {"fo": made, "remote_protocol": "file"}
    return zarr.open_group("reference://", mode="r", storage_options=options, zarr_format=2)[name]


def _array_of_virtualizarr(where: str, name: str) -> Any:
    import zarr
    from virtualizarr.parsers import HDFParser

    return zarr.open_group(HDFParser()(f"file://{where}", _registry()), mode="r", zarr_format=3)[name]


def _array_of_omnizarr(where: str, name: str) -> Any:
    import omnizarr as oz

    return oz.open(where)[name]


ARRAYS = {
    "h5py": _array_of_h5py,
    "fsspec": _array_of_fsspec,
    "virtualizarr": _array_of_virtualizarr,
    "omnizarr": _array_of_omnizarr,
}


def reading(name: str, variable: str, who: str) -> Callable[[], Figures]:
    """A whole array, warm."""

    def work() -> Figures:
        with (PLACE / name).open("rb") as file:
            while file.read(1 << 24):
                pass
        array = ARRAYS[who](str(PLACE / name), variable)
        corner = np.asarray(array[:1])
        stages = Stages()
        values = array[...]
        stages.lap("read")
        np.testing.assert_array_equal(values[:1], corner)
        return stages.done()

    return work


# --- neighbours on a server ------------------------------------------------------------------------------------------


def _neighbours(server: str) -> dict[str, Any]:
    array = {"zarr_format": 2, "shape": [100 * 1024], "chunks": [1024], "dtype": "<i4", "compressor": None}
    refs: dict[str, Any] = {
        ".zgroup": json.dumps({"zarr_format": 2}),
        "a/.zarray": json.dumps({**array, "fill_value": 0, "filters": None, "order": "C"}),
        "a/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": ["x"]}),
    }
    refs.update({f"a/{i}": [f"{server}/blobs/blob.bin", 4096 * i, 4096] for i in range(100)})
    return {"version": 1, "refs": refs}


def _open_fsspec(server: str) -> Any:
    import aiohttp  # noqa: F401
    import zarr

    remote = {"remote_protocol": "http", "asynchronous": True, "remote_options": {"asynchronous": True}}
    options = {"fo": _neighbours(server), **remote}
    return zarr.open_group("reference://", mode="r", storage_options=options, zarr_format=2)["a"]


def _open_virtualizarr(server: str) -> Any:
    import zarr
    from virtualizarr.parsers import KerchunkJSONParser

    place = PLACE / "neighbours.json"
    place.write_text(json.dumps(_neighbours(server)))
    return zarr.open_group(KerchunkJSONParser()(f"file://{place}", _registry(server)), mode="r", zarr_format=3)["a"]


def _open_omnizarr(server: str) -> Any:
    import omnizarr as oz

    return oz.open(_neighbours(server), allow=[f"{server}/"])["a"]


NEIGHBOURS = {"fsspec": _open_fsspec, "virtualizarr": _open_virtualizarr, "omnizarr": _open_omnizarr}


def neighbours(who: str) -> Callable[[], Figures]:
    """A hundred chunks that lie side by side, on a server that takes 20 ms for each answer."""

    def work() -> Figures:
        with Server(PLACE) as server:
            array = NEIGHBOURS[who](server.url)
            server.forget()
            stages = Stages()
            values = array[...]
            stages.lap("read")
            stages.add(requests=server.requests)
            assert (values == np.arange(100 * 1024)).all()
            return stages.done()

    return work
