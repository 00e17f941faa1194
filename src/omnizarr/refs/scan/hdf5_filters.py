"""The filters of a dataset of HDF5 as codecs, in the words of Zarr v2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from omnizarr.errors import UnsupportedError
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.filters import BLOSC, BZIP2, DEFLATE, FLETCHER32, NUMBERS, SHUFFLE, SZIP, ZSTD
from omnizarr.refs.scan.hdf5_elements import Element

CodecJSON: TypeAlias = dict[str, JSON]
Parameters: TypeAlias = tuple[int, ...]

_NAMES: Final = {number: name for name, number in NUMBERS.items() if name != "zlib"}
_BLOSC_NAMES: Final = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
_BYTE: Final = 255


class Filter(NamedTuple):
    """One filter of a dataset: its number in HDF5's registry, its parameters and its name."""

    number: int
    parameters: Parameters
    name: str


def filters_of(plist: Any) -> list[Filter]:  # noqa: ANN401 - a list of h5py's
    """Return the filters of a dataset, in the order in which they were applied."""
    found: list[Filter] = []
    for index in range(plist.get_nfilters()):
        number, _, parameters, name = plist.get_filter(index)
        text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name or "")
        found.append(Filter(int(number), tuple(int(one) for one in parameters), _NAMES.get(int(number), text)))
    return found


def codecs_of(filters: Sequence[Filter], element: Element, chunks: tuple[int, ...]) -> list[CodecJSON]:
    """Return the codecs that undo filters, in the order of writing.

    Args:
        filters: The filters.
        element: The elements, some of whose traits filters need to know.
        chunks: The shape of a chunk.

    Raises:
        UnsupportedError: If there is no codec for one of them.
    """
    made: list[CodecJSON] = []
    for one in filters:
        make = _CODECS.get(one.number)
        if make is None:
            raise UnsupportedError(
                f"there is no codec for its filter {one.number} ({one.name or 'unknown'})", codec=one.name or None
            )
        codec = make(one.parameters, element, chunks)
        made += [] if codec is None else [codec]
    return made


Maker: TypeAlias = Callable[[Parameters, Element, tuple[int, ...]], CodecJSON | None]


def _itemsize(element: Element) -> int:
    size = element.dtype.itemsize
    for length in element.tail:
        size *= length
    return size


def _level(name: str, default: int) -> Maker:
    return lambda given, _, __: {"id": name, "level": given[0] if given else default}


def _shuffle(given: Parameters, element: Element, chunks: tuple[int, ...]) -> CodecJSON | None:
    del chunks
    size = given[0] if given else _itemsize(element)
    return {"id": "shuffle", "elementsize": size} if size > 1 else None


def _fletcher32(given: Parameters, element: Element, chunks: tuple[int, ...]) -> CodecJSON:
    del given, element, chunks
    return {"id": "fletcher32"}


def _szip(given: Parameters, element: Element, chunks: tuple[int, ...]) -> CodecJSON:
    del element, chunks
    if len(given) < 4:
        raise UnsupportedError(f"szip has {len(given)} parameters in it, and needs four", codec="szip")
    return {
        "id": "szip",
        "mask": given[0] & _BYTE,
        "pixels-per-block": given[1],
        "pixels-per-scanline": given[3],
    }


def _blosc(given: Parameters, element: Element, chunks: tuple[int, ...]) -> CodecJSON:
    del element, chunks
    # The first four are the filter's own: its version, blosc's, the size of an element and that of a chunk.
    level, shuffle, code = (*given[4:7], *(5, 1, 0)[max(0, len(given) - 4) :])[:3]
    if not 0 <= code < len(_BLOSC_NAMES):
        raise UnsupportedError(f"blosc has no compressor of the number {code}", codec="blosc")
    return {"id": "blosc", "cname": _BLOSC_NAMES[code], "clevel": level, "shuffle": min(shuffle, 2), "blocksize": 0}


_CODECS: Final[dict[int, Maker]] = {
    DEFLATE: _level("zlib", 1),
    SHUFFLE: _shuffle,
    FLETCHER32: _fletcher32,
    SZIP: _szip,
    BZIP2: _level("bz2", 9),
    ZSTD: _level("zstd", 3),
    BLOSC: _blosc,
}
