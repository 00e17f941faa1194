"""N5: `attributes.json` beside blocks with headers; read only.

https://github.com/saalfeldlab/n5#file-system-specification. N5 counts dimensions from the one that varies fastest;
Zarr, and so the model, from the other end. Shapes are turned round here, and so are the indices in the keys of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.check import choice, chunk_bytes, integer, mapping, shape, sizes
from omnizarr.format.document import describe, load_object
from omnizarr.format.names import ATTRIBUTES_JSON
from omnizarr.format.v2 import DIMENSIONS, parse_dims
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import BLOSC_SHUFFLES, Codec
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.grid import RegularGrid
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys

FORMAT: Final = "n5"

_TYPES: Final = (
    *("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float32", "float64"),
)
_ARRAY: Final = ("dimensions", "blockSize", "dataType")
_RESERVED: Final = frozenset((*_ARRAY, "n5", "compression", "compressionType"))


def parse(start: str, texts: Mapping[str, bytes], limits: Limits = DEFAULT_LIMITS) -> ArrayMeta | GroupMeta:
    """Read the document of a node: an array if it has dimensions, block size and type, a group otherwise.

    Args:
        start: What the document's key begins with.
        texts: The documents by name.
        limits: Bounds on what they may claim.

    Raises:
        MetadataError: The document is malformed.
        UnsupportedError: It has a type or compression that is not known.
    """
    key = start + ATTRIBUTES_JSON
    doc = load_object(texts[ATTRIBUTES_JSON], key, limits)
    attributes = {name: value for name, value in doc.items() if name not in _RESERVED}
    extra = {"n5": doc["n5"]} if "n5" in doc else {}
    if not any(name in doc for name in _ARRAY):
        return GroupMeta(attributes, FORMAT, extra)
    for name in _ARRAY:
        if name not in doc:
            raise MetadataError(f"the field {name!r} is missing", pointer="/", key=key)
    turned = doc["dimensions"][::-1] if isinstance(doc["dimensions"], list) else doc["dimensions"]
    lengths = shape(turned, key, limits)
    blocks = sizes(doc["blockSize"], "/blockSize", key, 1)[::-1]
    if len(blocks) != len(lengths) or not lengths:
        message = f"there are {len(blocks)} block sizes for {len(lengths)} dimensions"
        raise MetadataError(message, pointer="/blockSize", key=key)
    if doc["dataType"] in ("string", "object"):
        raise UnsupportedError("N5 blocks of objects are not supported", pointer="/dataType", key=key)
    dtype = DType.of(choice(doc["dataType"], "/dataType", key, _TYPES))
    chunk_bytes(blocks, dtype, "/blockSize", key, limits)
    inner = [Codec("bytes", {"endian": "big"} if dtype.itemsize > 1 else {}), *_compression(doc, dtype, key)]
    block = Codec("n5_default", {"codecs": [codec.to_json() for codec in inner]})
    keys = Keys("", "/", "", "0", reversed=True)
    grid, fill = RegularGrid(blocks), Fill.zero(dtype)
    dims = parse_dims(attributes.get(DIMENSIONS), len(lengths))  # as xarray wrote it through zarr-python's N5Store
    return ArrayMeta(lengths, dtype, grid, keys, fill, (block,), dims, attributes, FORMAT, extra)


def _compression(doc: Mapping[str, JSON], dtype: DType, key: str) -> list[Codec]:
    found = doc.get("compression")
    if found is None:
        # N5 before version 2 had the name alone.
        found = {"type": doc.get("compressionType", "raw")}
    options = mapping(found, "/compression", key)
    name = options.get("type")
    if name == "raw":
        return []
    make = _COMPRESSIONS.get(name) if isinstance(name, str) else None
    if make is None:
        message = f"the N5 compression {describe(name)} is not supported"
        raise UnsupportedError(message, pointer="/compression", key=key)
    return [make(_Options(options, dtype, key))]


class _Options(NamedTuple):
    """The settings of a compression, and what it compresses."""

    given: Mapping[str, JSON]
    dtype: DType
    key: str

    def integer(self, name: str, default: int, least: int, most: int) -> int:
        return integer(self.given.get(name, default), f"/compression/{name}", self.key, least, most)


def _gzip(options: _Options) -> Codec:
    return Codec(
        "zlib" if options.given.get("useZlib") is True else "gzip", {"level": options.integer("level", -1, -1, 9)}
    )


def _xz(options: _Options) -> Codec:
    return Codec("lzma", {"format": 1, "check": -1, "preset": options.integer("preset", 6, 0, 9), "filters": None})


def _blosc(options: _Options) -> Codec:
    configuration: dict[str, JSON] = {
        "cname": options.given.get("cname", "blosclz"),
        "clevel": options.integer("clevel", 6, 0, 9),
        "shuffle": BLOSC_SHUFFLES[options.integer("shuffle", 1, 0, 2)],
        "typesize": options.dtype.itemsize,
        "blocksize": options.integer("blocksize", 0, 0, 2**31 - 1),
    }
    return Codec("blosc", configuration)


_COMPRESSIONS: Final[dict[str, Callable[[_Options], Codec]]] = {
    "gzip": _gzip,
    "bzip2": lambda options: Codec("bz2", {"level": options.integer("blockSize", 9, 1, 9)}),
    "xz": _xz,
    "lz4": lambda _: Codec("n5.lz4", {}),
    "zstd": lambda options: Codec("zstd", {"level": options.integer("level", 3, -131072, 22)}),
    "blosc": _blosc,
}
