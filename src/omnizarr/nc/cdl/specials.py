"""Attributes that are none: they say how a variable is stored, or what a dataset was."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Final

from omnizarr.errors import UnsupportedError
from omnizarr.nc.cdl.constants import Const
from omnizarr.nc.cdl.errors import Text
from omnizarr.nc.filters import BIT_ROUND, DEFLATE, FLETCHER32, QUANTIZE, SHUFFLE
from omnizarr.nc.kinds import as_kind
from omnizarr.nc.tree import Attr, Filter, Var
from omnizarr.nc.types import INT

GLOBAL: Final = ("_Format", "_NCProperties", "_IsNetcdf4", "_SuperblockVersion")
"""What ncdump prints about a file as if it were attributes of it."""
HIDDEN: Final = ("_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict")
"""What netCDF-4 keeps in files for itself."""
_QUANTIZED: Final = {
    **{name: name for name in QUANTIZE},
    "_QuantizeBitRoundNumberOfSignificantDigits": BIT_ROUND,
}
_INTEGERS: Final = ("int", "uint", "int64", "uint64", "byte", "ubyte", "short", "ushort")


class Special:
    """One such attribute of a variable: what it is called, where it stands, and what it says."""

    def __init__(self, text: Text, name: str, at: int, items: list[Const]) -> None:
        self.text = text
        self.name = name
        self.at = at
        self.items = items

    def word(self, *words: str) -> str:
        """Return the text, which must be one of some words if any are given."""
        if len(self.items) != 1 or self.items[0].kind != "string":
            raise self.text.error(self.at, f"expected text for {self.name}")
        found: str = self.items[0].value.decode("utf-8", "replace")
        if words and found not in words:
            raise self.text.error(self.items[0].at, f"expected one of {', '.join(words)} for {self.name}")
        return found

    def numbers(self) -> list[int]:
        """Return the integers, of which none is negative."""
        for item in self.items:
            if item.kind not in _INTEGERS or item.value < 0:
                raise self.text.error(item.at, f"expected an integer from 0 on for {self.name}")
        if not self.items:
            raise self.text.error(self.at, f"expected an integer for {self.name}")
        return [item.value for item in self.items]

    def one(self) -> int:
        """Return the only integer."""
        found = self.numbers()
        if len(found) != 1:
            raise self.text.error(self.at, f"expected one integer for {self.name}")
        return found[0]

    def truth(self) -> bool:
        """Return whether it says yes."""
        if len(self.items) == 1 and self.items[0].kind in _INTEGERS and self.items[0].value in (0, 1):
            return bool(self.items[0].value)
        return self.word("true", "false", "1", "0") in ("true", "1")


def _storage(special: Special, var: Var) -> None:
    found = special.word("contiguous", "compact", "chunked")
    var.storage.kind = "contiguous" if found == "contiguous" else "compact" if found == "compact" else "chunked"


def _chunks(special: Special, var: Var) -> None:
    sizes = special.numbers()
    if len(sizes) != len(var.dims):
        raise special.text.error(
            special.at, f"{len(sizes)} lengths of a chunk for {var.name}, which has {len(var.dims)} dimensions"
        )
    if 0 in sizes:
        raise special.text.error(special.at, "no length of a chunk can be 0")
    var.storage.kind, var.storage.chunks = "chunked", tuple(sizes)


def _deflate(special: Special, var: Var) -> None:
    level = special.one()
    if level > 9:  # zlib's highest
        raise special.text.error(special.at, "levels of deflate go from 0 to 9")
    var.storage.deflate = level


def _endian(special: Special, var: Var) -> None:
    found = special.word("little", "big", "native")
    var.storage.endian = "little" if found == "little" else "big" if found == "big" else "native"


def _filter(special: Special, var: Var) -> None:
    """Take over filters; shuffle, fletcher32 and deflate have places of their own."""
    kept: list[Filter] = []
    for one in special.word().split("|"):
        head, *rest = [part.strip() for part in one.split(",")]
        if not re.fullmatch(r"\d{1,9}", head):
            raise special.text.error(special.at, f"expected numbers of filters as in 307,9 for {special.name}")
        found = Filter(int(head), tuple(number for part in rest for number in _parameter(special, part)))
        if found.id == DEFLATE:
            var.storage.deflate = found.parameters[0] if found.parameters else 6
        elif found.id == SHUFFLE:
            var.storage.shuffle = True
        elif found.id == FLETCHER32:
            var.storage.fletcher32 = True
        else:
            kept.append(found)
    var.storage.filters = tuple(kept)


def _parameter(special: Special, part: str) -> tuple[int, ...]:
    """Return a parameter of a filter as the 32-bit numbers that it takes."""
    found = re.fullmatch(r"([+-]?(?:0[xX][0-9A-Fa-f]+|\d+))([uU]?)(?:[bB]|[sS]|([lL]{1,2}))?", part)
    if found:
        number = int(found[1], 0) if not re.match(r"[+-]?0\d", found[1]) else int(found[1])
        if found[3] and (len(found[3]) == 2 or not -(1 << 31) <= number < 1 << 32):  # as in C
            return struct.unpack("<II", (number & (1 << 64) - 1).to_bytes(8, "little"))
        return (number & 0xFFFFFFFF,)
    real = re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([fFdD]?)", part)
    if real is None:
        raise special.text.error(special.at, f"{part!r} is no parameter of a filter")
    try:
        packed = struct.pack("<f" if real[2] in ("f", "F") else "<d", float(real[1]))
    except OverflowError:
        raise special.text.error(special.at, f"{part!r} is no parameter of a filter") from None
    return struct.unpack(f"<{len(packed) // 4}I", packed)


def _quantize(special: Special, var: Var) -> None:
    """Take over rounding; the library shows it as an attribute, too."""
    name, number = _QUANTIZED[special.name], special.one()
    var.storage.quantize = (name, number)
    var.attrs[name] = Attr.of_values(name, INT, [number & 0x7FFFFFFF])


def _codecs(special: Special, var: Var) -> None:
    var.storage.codecs = special.word()


def _shuffle(special: Special, var: Var) -> None:
    var.storage.shuffle = special.truth()


def _fletcher32(special: Special, var: Var) -> None:
    var.storage.fletcher32 = special.truth()


def _no_fill(special: Special, var: Var) -> None:
    var.storage.no_fill = special.truth()


OF_VARIABLES: Final[dict[str, Callable[[Special, Var], None]]] = {
    "_Storage": _storage,
    "_ChunkSizes": _chunks,
    "_DeflateLevel": _deflate,
    "_Shuffle": _shuffle,
    "_Fletcher32": _fletcher32,
    "_Endianness": _endian,
    "_NoFill": _no_fill,
    "_Filter": _filter,
    "_Codecs": _codecs,
    **dict.fromkeys(_QUANTIZED, _quantize),
}
"""What each such attribute of a variable does."""


def kind_of(special: Special) -> str:
    """Return the kind of dataset that `_Format` asks for."""
    try:
        return as_kind(special.word())
    except UnsupportedError as error:
        raise special.text.error(special.at, error.message, error.hint) from None
