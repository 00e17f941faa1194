"""What a case is, and the small stores that most cases are made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

Expect = Literal["error", "value", "either", "any"]
"""What may come of a case: an error; the value; one of both; or one of an error and any values of the right shape and
type, where nothing stored can tell that they are wrong."""

Act = Literal["array", "tree", "get", "zip", "references", "cdl", "netcdf", "http", "http-list"]
"""What is done: read an array; walk a group and read all below; get one key of a store; read an array in a zip archive;
read an array through a reference set; parse text as CDL; read a variable as netCDF; read an array from a web server, or
list a folder of one."""

Files = Mapping[str, bytes]
Make = Callable[[Path], None]

MEGABYTE: Final = 1 << 20


@dataclass(frozen=True)
class Case:
    """One bad input."""

    group: str
    """Name of its group: "F1" to "F46"."""
    name: str
    make: Make
    """Makes the store in an empty folder. What is read is `<folder>/<where>`."""
    expect: Expect = "error"
    value: npt.NDArray[Any] | None = None
    act: Act = "array"
    where: str = "store"
    path: str = ""
    """The node within the store, or the key for "get"."""
    select: tuple[slice, ...] | None = None
    """What is read of the array: all of it if `None`."""
    decoded: int = 0
    """How many bytes a reader needs for the values that it asks for, besides 2 MiB."""
    writes: bool = False
    """Whether the folder is looked at afterwards: nothing outside the store may have changed."""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"


def store(files: Files, where: str = "store") -> Make:
    """Return what writes files below a folder."""

    def make(folder: Path) -> None:
        for key, data in files.items():
            path = folder / where / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    return make


def text(document: object) -> bytes:
    return json.dumps(document).encode()


def v2(**changes: Any) -> dict[str, Any]:
    """Return the document of a v2 array of four int32 in one raw chunk, changed; `...` leaves a member out."""
    made: dict[str, Any] = {
        "zarr_format": 2,
        "shape": [4],
        "chunks": [4],
        "dtype": "<i4",
        "compressor": None,
        "fill_value": 0,
        "order": "C",
        "filters": None,
    }
    return _changed(made, changes)


BYTES: Final = {"name": "bytes", "configuration": {"endian": "little"}}
CRC: Final = {"name": "crc32c"}


def v3(**changes: Any) -> dict[str, Any]:
    """Return the document of a v3 array of four int32 in one raw chunk, changed; `chunks` is its chunk shape."""
    chunks = changes.pop("chunks", [4])
    made: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [BYTES],
        "attributes": {},
    }
    return _changed(made, changes)


def _changed(made: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**made, **changes}.items() if value is not ...}


FOUR: Final = np.array([1, -2, 3, 2000000000], "<i4")
RAW: Final = FOUR.tobytes()


def array2(chunk: bytes | None = RAW, **changes: Any) -> Make:
    """Return what makes a v2 array with one chunk."""
    files = {".zarray": text(v2(**changes))}
    return store(files if chunk is None else {**files, "0": chunk})


def array3(chunk: bytes | None = RAW, **changes: Any) -> Make:
    """Return what makes a v3 array with one chunk."""
    files = {"zarr.json": text(v3(**changes))}
    return store(files if chunk is None else {**files, "c/0": chunk})


Cases = Iterator[Case]
