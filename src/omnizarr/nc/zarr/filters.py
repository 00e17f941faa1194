"""Filters of HDF5 by number, and the codecs of Zarr v2 that do the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.model.codec import BLOSC_NAMES, BLOSC_SHUFFLES
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.filters import BLOSC, BZIP2, DEFLATE, FLETCHER32, SHUFFLE, SZIP, ZSTD
from omnizarr.nc.tree import Filter, Storage

_LEVELS: Final = {BZIP2: ("bz2", 9), ZSTD: ("zstd", 3), DEFLATE: ("zlib", 1)}
_BY_ID: Final = {name: number for number, (name, _) in _LEVELS.items()}
# In blosc's own numbering of compressors, which HDF5's filter uses.
_BLOSC_CODES: Final = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")


class Filters(NamedTuple):
    """What a chain of codecs means in the fields of `Storage`."""

    shuffle: bool = False
    deflate: int = 0
    fletcher32: bool = False
    filters: tuple[Filter, ...] = ()


def to_codecs(storage: Storage, itemsize: int, *, numbers: bool = True) -> list[dict[str, JSON]]:
    """Return the codecs that a variable's filters stand for, in the order of writing, as Zarr v2 spells them.

    Args:
        storage: What was asked for. Its `codecs` win where they are given.
        itemsize: Bytes of an element, which shuffle has to know.
        numbers: Whether elements are numbers; nothing else is ever shuffled, for readers disagree on how.

    Raises:
        UnsupportedError: If a filter has no codec.
        MetadataError: If `codecs` are no list of codecs.

    >>> to_codecs(Storage(shuffle=True, deflate=4, fletcher32=True), 8)
    [{'id': 'shuffle', 'elementsize': 8}, {'id': 'zlib', 'level': 4}, {'id': 'fletcher32'}]
    """
    if storage.codecs:
        return [one for one in parse_codecs(storage.codecs) if numbers or one["id"] != "shuffle"]
    made: list[dict[str, JSON]] = []
    if storage.shuffle and numbers and itemsize > 1:
        made.append({"id": "shuffle", "elementsize": itemsize})
    if storage.deflate:
        made.append({"id": "zlib", "level": storage.deflate})
    made += [_to_codec(one, itemsize) for one in storage.filters if numbers or one.id != SHUFFLE]
    if storage.fletcher32:
        made.append({"id": "fletcher32"})
    return made


def from_codecs(codecs: Sequence[Any], itemsize: int = 0) -> Filters:
    """Return what codecs of Zarr v2, in the order of writing, are in HDF5's terms; what it has none for is left out.

    Args:
        codecs: Filters and compressor, as a document spells them.
        itemsize: Bytes of an element, which some filters of HDF5 have among their parameters.

    >>> from_codecs([{"id": "shuffle", "elementsize": 4}, {"id": "zlib", "level": 2}])
    Filters(shuffle=True, deflate=2, fletcher32=False, filters=())
    """
    found = Filters()
    for one in codecs:
        name = one.get("id") if isinstance(one, dict) else None
        if name == "shuffle":
            found = found._replace(shuffle=True)
        elif name == "fletcher32":
            found = found._replace(fletcher32=True)
        elif name == "zlib" and not found.filters and not found.deflate:
            found = found._replace(deflate=_number(one.get("level"), 1))
        else:
            known = _from_codec(one, itemsize)
            found = found if known is None else found._replace(filters=(*found.filters, known))
    return found


def parse_codecs(text: str) -> list[dict[str, JSON]]:
    """Read the text of `_Codecs`: a list of codecs as Zarr v2 spells them, or one alone.

    Raises:
        MetadataError: If it is anything else.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MetadataError(f"_Codecs is no JSON: {error}") from None
    listed: list[Any] = given if isinstance(given, list) else [given]
    if not all(isinstance(one, dict) and isinstance(one.get("id"), str) for one in listed):
        raise MetadataError("_Codecs is no list of codecs", hint='Each is an object with an "id", as in a .zarray.')
    return listed


def codecs_text(codecs: Sequence[Any]) -> str:
    """Return the text of `_Codecs` for codecs as a document spells them; empty if there are none."""
    return json.dumps(list(codecs), ensure_ascii=False) if codecs else ""


def split(codecs: Sequence[dict[str, JSON]]) -> tuple[list[JSON] | None, JSON]:
    """Return filters and compressor of a `.zarray`: the last codec is the compressor, as netcdf-c has it."""
    return (list(codecs[:-1]) or None), (codecs[-1] if codecs else None)


def _to_codec(one: Filter, itemsize: int) -> dict[str, JSON]:
    number, given = one
    if number in _LEVELS:
        name, level = _LEVELS[number]
        return {"id": name, "level": given[0] if given else level}
    if number == SHUFFLE:
        return {"id": "shuffle", "elementsize": given[0] if given and given[0] else itemsize}
    if number == FLETCHER32:
        return {"id": "fletcher32"}
    if number == SZIP:
        return {"id": "szip", "mask": given[0] if given else 32, "pixels-per-block": given[1] if len(given) > 1 else 8}
    if number == BLOSC:
        return _blosc(given)
    raise UnsupportedError(
        f"there is no codec of Zarr for the filter {number} of HDF5",
        hint="Known are 1 (deflate), 2 (shuffle), 3 (fletcher32), 307 (bzip2), 32001 (blosc) and 32015 (zstd).",
    )


def _blosc(given: tuple[int, ...]) -> dict[str, JSON]:
    # The first four are the filter's own: its version, blosc's, the size of an element and that of a chunk.
    level, shuffle, code = (*given[4:7], *(5, 1, 0)[max(0, len(given) - 4) :])[:3]
    if not 0 <= code < len(_BLOSC_CODES):
        raise UnsupportedError(f"blosc has no compressor of the number {code}")
    return {"id": "blosc", "clevel": level, "blocksize": 0, "cname": _BLOSC_CODES[code], "shuffle": min(shuffle, 2)}


def _from_codec(one: Any, itemsize: int) -> Filter | None:  # noqa: ANN401 - JSON
    name = one.get("id") if isinstance(one, dict) else None
    if isinstance(name, str) and name in _BY_ID:
        number = _BY_ID[name]
        return Filter(number, (_number(one.get("level"), _LEVELS[number][1]),))
    if name == "szip":
        return Filter(SZIP, (_number(one.get("mask"), 32), _number(one.get("pixels-per-block"), 8)))
    if name != "blosc":
        return None
    shuffle = one.get("shuffle", 1)
    if isinstance(shuffle, str):
        shuffle = BLOSC_SHUFFLES.index(shuffle) if shuffle in BLOSC_SHUFFLES else 1
    compressor = one.get("cname", BLOSC_NAMES[0])
    code = _BLOSC_CODES.index(compressor) if compressor in _BLOSC_CODES else 0
    number = shuffle if isinstance(shuffle, int) and shuffle >= 0 else 1 + (itemsize == 1)
    return Filter(BLOSC, (0, 0, itemsize, 0, _number(one.get("clevel"), 5), number, code))


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default
