"""Stores whose documents say anything: every dialect of Zarr, and what netCDF writes."""

from __future__ import annotations

import contextlib
import json

import numpy as np

import omnizarr as oz
from fuzz.target import Target, packed, unpacked
from omnizarr.errors import OmnizarrError
from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.tree import Attr, Group, Storage
from omnizarr.nc.types import BY_NAME, Compound, Enum, Field, Opaque, Vlen

_LARGEST = 100_000


def _look(array: oz.Array) -> None:
    small = float(np.prod([float(n) for n in array.shape])) * array.dtype.itemsize <= _LARGEST
    key = tuple(slice(0, n if small else min(n, 2)) for n in array.shape)
    with contextlib.suppress(OmnizarrError):
        values = array[key]
        # Its own document may say another shape than the consolidated one, which is seen when values are read.
        assert np.shape(values) == tuple(min(part.stop, n) for part, n in zip(key, array.shape, strict=True))


def look_at_zarr(data: bytes) -> None:
    """Open a store, read what is there, and describe it."""
    store = unpacked(data)
    with contextlib.suppress(OmnizarrError):
        node = oz.open(store, mode="r")
        if isinstance(node, oz.Array):
            _look(node)
        else:
            for _, member in node.members(None):
                if isinstance(member, oz.Array):
                    _look(member)
        str(node), dict(node.attrs)
    with contextlib.suppress(OmnizarrError):
        oz.validate(store)
    with contextlib.suppress(OmnizarrError):
        oz.info(store)


def look_at_netcdf(data: bytes) -> None:
    """Open a store as a dataset, and read every variable."""
    with contextlib.suppress(OmnizarrError), contextlib.closing(open_source(unpacked(data))) as source:
        for group in source.root.walk():
            for var in group.vars.values():
                small = float(np.prod([float(n) for n in var.shape])) <= _LARGEST
                key = tuple(slice(0, n if small else min(n, 2), 1) for n in var.shape)
                with contextlib.suppress(OmnizarrError):
                    assert source.read(var, key).shape == tuple(part.stop for part in key)


def _zarr(kind: str) -> bytes:
    store: dict[str, bytes] = {}
    group = oz.create_group(store, format=kind, attrs={"title": "t", "n": [1, 2.5, None]})
    group.create_array("a", data=np.arange(12, dtype="i4").reshape(3, 4), chunks=(2, 2), attrs={"units": "m"})
    group.create_array("g/b", data=np.array([1.5, np.nan]), fill_value=float("nan"))
    group.create_array("g/s", data=np.array(["one", "", "é"]), dtype="string")
    group.create_array("f", shape=(2,), dtype=np.dtype([("x", "<f4"), ("y", "<i2")]))
    if kind == "zarr3":
        group.create_array("z", data=np.arange(64, dtype="u2").reshape(8, 8), chunks=(2, 2), shards=(4, 8))
    group.consolidate()
    return packed(store)


def _array(kind: str) -> bytes:
    store: dict[str, bytes] = {}
    oz.create_array(store, data=np.arange(6, dtype="i4"), chunks=4, format=kind).attrs["a"] = [1]
    return packed(store)


def _old() -> list[bytes]:
    n5 = {"dimensions": [3, 2], "blockSize": [2, 2], "dataType": "int16", "compression": {"type": "gzip", "level": -1}}
    draft = {
        "shape": [4], "data_type": "<i4", "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"},
        "chunk_memory_layout": "C", "fill_value": 1, "extensions": [], "attributes": {},
        "compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/1.0", "configuration": {"level": 1}},
    }  # fmt: skip
    entry = {
        "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0",
        "metadata_key_suffix": ".json", "extensions": [],
    }  # fmt: skip
    return [
        _array("zarr0"),
        _array("zarr1"),
        packed(
            {"attributes.json": b'{"n5": "2.0.0"}', "a/attributes.json": json.dumps(n5).encode(), "a/0/0": b"\0\0\0\2"}
        ),
        packed({"zarr.json": json.dumps(entry).encode(), "meta/root/a.array.json": json.dumps(draft).encode()}),
    ]


def _netcdf() -> list[bytes]:
    made = []
    for kind, plain in (("nczarr", False), ("nczarr3", False), ("zarr", True)):
        root = Group()
        x, t = root.add_dim("x", 4), root.add_dim("t", 2, unlimited=True)
        root.attrs["title"] = Attr.of_text("title", "a title")
        root.attrs["words"] = Attr.of_values("words", BY_NAME["string"], ["a", "é"])
        for name in ("int", "double", "char"):
            root.add_var(f"v_{name}", BY_NAME[name], (t, x), Storage(chunks=(1, 2)))
        group = root.add_group("g")
        group.add_var("text", BY_NAME["string"], (x, group.add_dim("y", 3)))
        if not plain:
            for user in (
                Enum("answer", BY_NAME["byte"], (("no", 0), ("yes", 1))),
                Opaque("key", 3),
                Compound("point", (Field("x", BY_NAME["float"]), Field("rgb", BY_NAME["ubyte"], (3,)))),
                Vlen("track", BY_NAME["int"]),
            ):
                root.add_var(f"of_{user.name}", root.add_type(user), (x,))
        store: dict[str, bytes] = {}
        create_source(store, root, kind).close()
        made.append(packed(store))
    return made


TARGETS = [
    Target("documents of version 3", lambda: [_zarr("zarr3"), _array("zarr3")], look_at_zarr),
    Target("documents of version 2", lambda: [_zarr("zarr2"), _array("zarr2")], look_at_zarr),
    Target("documents of old dialects", _old, look_at_zarr),
    Target("documents of netCDF", _netcdf, look_at_netcdf),
]
