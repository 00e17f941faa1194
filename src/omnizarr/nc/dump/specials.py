"""Special attributes: how a variable or a dataset is stored, told as if it were attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from omnizarr.nc.kinds import CDF5, CLASSIC, NETCDF3_KINDS, NETCDF4, NETCDF4_CLASSIC, OFFSET64
from omnizarr.nc.tree import Attr, Var
from omnizarr.nc.types import CHAR, STRING, Atomic, Enum

_FORMATS = {CLASSIC: CLASSIC, OFFSET64: OFFSET64, CDF5: CDF5, NETCDF4_CLASSIC: NETCDF4_CLASSIC}
_SHUFFLE, _FLETCHER32, _DEFLATE = 2, 3, 1


def dataset_specials(kind: str, attributes: Mapping[str, Attr]) -> Iterator[tuple[str, str]]:
    """Yield special attributes of a dataset, each with its value as CDL writes it."""
    properties = attributes.get("_NCProperties")
    if properties is not None and properties.type == CHAR:
        yield "_NCProperties", f'"{properties.value.decode("utf-8", "surrogateescape")}"'
    for name in ("_SuperblockVersion", "_IsNetcdf4"):
        found = attributes.get(name)
        if found is not None and len(found.value) == 1:
            yield name, str(int(found.value[0]))
    yield "_Format", f'"{_FORMATS.get(kind, NETCDF4)}"'


def variable_specials(var: Var, kind: str, *, filters: bool = False) -> Iterator[tuple[str, str]]:
    """Yield special attributes of a variable, each with its value as CDL writes it.

    Args:
        var: The variable.
        kind: Of the dataset.
        filters: Whether shuffle, deflate and the checksum are told of as filters, by number.
    """
    storage = var.storage
    if kind in (CLASSIC, OFFSET64):
        return
    if not var.dims or storage.kind != "chunked" or kind in NETCDF3_KINDS:
        yield "_Storage", '"compact"' if storage.kind == "compact" else '"contiguous"'
    elif storage.chunks is not None:
        yield "_Storage", '"chunked"'
        yield "_ChunkSizes", ", ".join(map(str, storage.chunks))
    if not filters:
        if storage.fletcher32:
            yield "_Fletcher32", '"true"'
        if storage.shuffle:
            yield "_Shuffle", '"true"'
        if storage.deflate:
            yield "_DeflateLevel", str(storage.deflate)
    listed = list(_filters(var, everything=filters))
    if listed:
        yield "_Filter", f'"{"|".join(listed)}"'
    if storage.codecs:
        text = storage.codecs.replace('"', '\\"')
        yield "_Codecs", f'"{text}"'
    if storage.endian != "native" and _has_order(var):
        yield "_Endianness", f'"{storage.endian}"'
    if storage.no_fill:
        yield "_NoFill", '"true"'


def _has_order(var: Var) -> bool:
    return isinstance(var.type, (Atomic, Enum)) and var.type not in (CHAR, STRING) and var.type.numpy.itemsize > 1


def _filters(var: Var, *, everything: bool) -> Iterator[str]:
    """Yield filters in the order in which they are applied."""
    storage = var.storage
    if everything and storage.shuffle:
        yield f"{_SHUFFLE},{var.type.numpy.itemsize}"
    if everything and storage.deflate:
        yield f"{_DEFLATE},{storage.deflate}"
    for one in storage.filters:
        yield ",".join(map(str, (one.id, *one.parameters)))
    if everything and storage.fletcher32:
        yield str(_FLETCHER32)
