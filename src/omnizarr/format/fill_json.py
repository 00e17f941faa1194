"""Fill values in documents, to and from exact bits.

v3: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#fill-value and each data type's own text.
v2: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#fill-value-encoding

Reading takes every spelling that a writer is known to use; writing keeps to the one that all readers take.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from typing import Final, Literal, cast

import numpy as np

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.document import describe
from omnizarr.format.fill_objects import read_object, write_object
from omnizarr.model.dtype import DType
from omnizarr.model.fill import NAN_BITS, Fill, pack_float, pack_float_bits, pack_int, pack_text, pad
from omnizarr.model.jsonvalue import JSON

# Patterns are compiled where a value first needs them: together they would take a tenth of the time to import Omnizarr.
_NUMBER: Final = r"(?ai)[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)"
_INTEGER: Final = r"(?a)[+-]?\d{1,40}"
_HEX: Final = r"(?ai)0x[0-9a-f]+"
_WORDS: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_NAT: Final = -(2**63)
_MOST_BYTES_PER_FLOAT: Final = 8


def parse_v3(value: JSON, dtype: DType, key: str) -> Fill:
    """Read the `fill_value` of a v3 document.

    Raises:
        MetadataError: It is missing, of the wrong type or out of range.
    """
    return _parse(_READERS_V3, value, dtype, key)


def parse_v2(value: JSON, dtype: DType, key: str) -> Fill:
    """Read the `fill_value` of a v2 document; null stands for undefined.

    Raises:
        MetadataError: It is of the wrong type or out of range.
    """
    return Fill(None) if value is None else _parse(_READERS_V2, value, dtype, key)


def render_v3(fill: Fill, dtype: DType) -> JSON:
    """Write a fill value for a v3 document.

    Raises:
        UnsupportedError: It is undefined, which v3 has no word for.
    """
    if fill.bits is None:
        hint = "Give a fill value, such as 0."
        raise UnsupportedError("Zarr v3 cannot say that a fill value is undefined", pointer="/fill_value", hint=hint)
    return _WRITERS[dtype.vlen or dtype.numpy.kind](fill.bits, dtype)


def render_v2(fill: Fill, dtype: DType) -> JSON:
    """Write a fill value for a v2 document.

    Raises:
        UnsupportedError: It is a NaN that v2 has no word for.
    """
    if fill.bits is None:
        return None
    if dtype.numpy.kind == "S" and not dtype.vlen:
        return _write_base64(fill.bits, dtype)  # tensorstore wants the padding too
    value = _WRITERS[dtype.vlen or dtype.numpy.kind](fill.bits, dtype)
    if dtype.numpy.kind in "fc" and any(
        isinstance(part, str) and part.startswith("0x") for part in (value if isinstance(value, list) else (value,))
    ):
        hint = "Take numpy.nan, or Zarr v3."
        raise UnsupportedError("Zarr v2 has only the plain NaN as fill value", pointer="/fill_value", hint=hint)
    return value


class _BadFillError(ValueError):
    """What is wrong with a fill value."""


def _parse(readers: dict[str, Callable[[JSON, DType], bytes]], value: JSON, dtype: DType, key: str) -> Fill:
    try:
        return Fill(readers[dtype.vlen or dtype.numpy.kind](value, dtype))
    except OverflowError:
        message = f"the fill value {describe(value)} is out of the range of {dtype.name}"
    except ValueError as error:
        message = f"the fill value of an array of {dtype.name} cannot be {describe(value)}: {error}"
    raise MetadataError(message, pointer="/fill_value", key=key)


def _read_bool(value: JSON, _: DType) -> bytes:
    if isinstance(value, bool) or (type(value) is int and value in (0, 1)):
        return b"\1" if value else b"\0"
    raise _BadFillError("true or false is needed")


def _read_int(value: JSON, dtype: DType) -> bytes:
    if type(value) is int:
        return pack_int(value, dtype)
    if isinstance(value, float) and value.is_integer():
        return pack_int(int(value), dtype)
    if isinstance(value, str) and re.fullmatch(_INTEGER, value):
        return pack_int(int(value), dtype)
    raise _BadFillError("a whole number is needed")


def _read_float(value: JSON, dtype: DType) -> bytes:
    return _float_bits(value, dtype.itemsize, dtype.byteorder or "little")


def _read_complex(value: JSON, dtype: DType) -> bytes:
    half, order = dtype.itemsize // 2, dtype.byteorder or "little"
    if isinstance(value, list):
        if len(value) != 2:
            raise _BadFillError("a list of two numbers is needed")
        return _float_bits(value[0], half, order) + _float_bits(value[1], half, order)
    return _float_bits(value, half, order) + bytes(half)


def _float_bits(value: JSON, size: int, order: Literal["little", "big"]) -> bytes:
    if isinstance(value, float):
        return pack_float(value, size, order)
    if type(value) is int:
        try:
            return pack_float(float(value), size, order)
        except OverflowError:  # a number of more than 308 digits, which as 1e309 would be read as infinite
            return pack_float(float("inf") if value > 0 else float("-inf"), size, order)
    if isinstance(value, str):
        if value in _WORDS:
            return pack_float(_WORDS[value], size, order)
        if re.fullmatch(_HEX, value) and len(value) <= 2 + 2 * _MOST_BYTES_PER_FLOAT:
            return pack_float_bits(int(value, 16), size, order)
        if re.fullmatch(_NUMBER, value):
            return pack_float(float(value), size, order)
    raise _BadFillError('a number, "NaN", "Infinity", "-Infinity" or hexadecimal bits are needed')


def _read_time(value: JSON, dtype: DType) -> bytes:
    return pack_int(_NAT, dtype) if value == "NaT" else _read_int(value, dtype)


def _read_utf32(value: JSON, dtype: DType) -> bytes:
    if isinstance(value, str):
        return pack_text(value, dtype)
    raise _BadFillError("a string is needed")


def _read_string(value: JSON, _: DType) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")  # lone surrogates raise a ValueError: they are not UTF-8
    raise _BadFillError("a string is needed")


def _base64(value: JSON) -> bytes:
    """Decode base64 text, or a list of byte values as zarr-python 3.0 and zarrs write."""
    if isinstance(value, str) and value.isascii():
        return binascii.a2b_base64(value, strict_mode=True)  # raises a ValueError
    if isinstance(value, list) and all(type(byte) is int and 0 <= byte < 256 for byte in value):
        return bytes(cast("list[int]", value))
    raise _BadFillError("base64 is needed")


def _read_bytes(value: JSON, _: DType) -> bytes:
    return _base64(value)


def _read_fixed_bytes(value: JSON, dtype: DType) -> bytes:
    return pad(_base64(value), dtype.itemsize)


def _read_raw(value: JSON, dtype: DType) -> bytes:
    bits = _base64(value)
    if len(bits) != dtype.itemsize:
        raise _BadFillError(f"it has {len(bits)} bytes where {dtype.itemsize} are needed")
    return bits


def _or_literal(reader: Callable[[JSON, DType], bytes], exact: bool = False) -> Callable[[JSON, DType], bytes]:
    """Take what zarr-python 2.0 to 2.1 wrote: the number 0 for empty, and text that is not base64 as it stands."""

    def read(value: JSON, dtype: DType) -> bytes:
        size = 0 if dtype.vlen else dtype.itemsize
        if type(value) is int and value == 0:
            return bytes(size)
        try:
            return reader(value, dtype)
        except ValueError:
            if not isinstance(value, str) or (exact and len(value) != size):
                raise
            literal = value.encode("utf-8")
            return literal if dtype.vlen else pad(literal, size)

    return read


def _or_zero(reader: Callable[[JSON, DType], bytes]) -> Callable[[JSON, DType], bytes]:
    """Take the number 0 for the empty string: the default of zarr-python 2 for arrays of objects."""

    def read(value: JSON, dtype: DType) -> bytes:
        if type(value) is int and value == 0:
            return b"" if dtype.vlen else bytes(dtype.itemsize)
        return reader(value, dtype)

    return read


def _or_in_a_list(reader: Callable[[JSON, DType], bytes]) -> Callable[[JSON, DType], bytes]:
    """Take a list of the one value, as netcdf-c 4.8.0 writes it."""

    def read(value: JSON, dtype: DType) -> bytes:
        return reader(value[0] if isinstance(value, list) and len(value) == 1 else value, dtype)

    return read


def _write_int(bits: bytes, dtype: DType) -> JSON:
    return int.from_bytes(bits, dtype.byteorder or "little", signed=dtype.numpy.kind != "u")


def _write_float(bits: bytes, dtype: DType) -> JSON:
    scalar = Fill(bits).value(dtype)
    number = float(scalar)
    if number != number:  # noqa: PLR0124  # only NaN differs from itself
        whole = int.from_bytes(bits, dtype.byteorder or "little")
        return "NaN" if whole == NAN_BITS[len(bits)] else f"0x{whole:0{2 * len(bits)}x}"
    if number in (_WORDS["Infinity"], _WORDS["-Infinity"]):
        return "Infinity" if number > 0 else "-Infinity"
    return number


def _write_complex(bits: bytes, dtype: DType) -> JSON:
    half = dtype.itemsize // 2
    part = DType.of(f"{'>' if dtype.byteorder == 'big' else '<'}f{half}")
    return [_write_float(bits[:half], part), _write_float(bits[half:], part)]


def _write_utf32(bits: bytes, dtype: DType) -> JSON:
    encoding = "utf-32-be" if dtype.byteorder == "big" else "utf-32-le"
    return bits.decode(encoding, "surrogatepass").rstrip("\0")


def _write_time(bits: bytes, dtype: DType) -> JSON:
    count = _write_int(bits, dtype)
    # zarr-python writes the integer, but where the unit is generic it reads "NaT" alone.
    return "NaT" if count == _NAT and np.datetime_data(dtype.numpy)[0] == "generic" else count


def _write_fixed_bytes(bits: bytes, dtype: DType) -> JSON:
    return _write_base64(bits.rstrip(b"\0"), dtype)


def _write_base64(bits: bytes, _: DType) -> JSON:
    return binascii.b2a_base64(bits, newline=False).decode("ascii")


def _read_inner(value: JSON, dtype: DType) -> bytes:
    return _READERS_V3[dtype.vlen or dtype.numpy.kind](value, dtype)


def _write_inner(bits: bytes, dtype: DType) -> JSON:
    return _WRITERS[dtype.vlen or dtype.numpy.kind](bits, dtype)


# By NumPy's letter of the kind, or the name of a type of variable length; a new kind of type is one more row in each.
_READERS_V3: Final[dict[str, Callable[[JSON, DType], bytes]]] = {
    "b": _read_bool,
    "i": _read_int,
    "u": _read_int,
    "f": _read_float,
    "c": _read_complex,
    "S": _read_fixed_bytes,
    "U": _read_utf32,
    "V": _read_raw,
    "M": _read_time,
    "m": _read_time,
    "string": _read_string,
    "bytes": _read_bytes,
    "object": lambda value, dtype: read_object(value, dtype, _read_inner),
}
_READERS_V2: Final[dict[str, Callable[[JSON, DType], bytes]]] = {
    **_READERS_V3,
    **{kind: _or_in_a_list(_READERS_V3[kind]) for kind in "biuf"},
    "S": _or_literal(_read_fixed_bytes),
    "V": _or_literal(_read_raw, exact=True),
    "U": _or_zero(_read_utf32),
    "string": _or_zero(_read_string),
    "bytes": _or_literal(_read_bytes),
}
_WRITERS: Final[dict[str, Callable[[bytes, DType], JSON]]] = {
    "b": lambda bits, _: bits != b"\0",
    "i": _write_int,
    "u": _write_int,
    "f": _write_float,
    "c": _write_complex,
    "S": _write_fixed_bytes,
    "U": _write_utf32,
    "V": _write_base64,
    "M": _write_time,
    "m": _write_time,
    "string": lambda bits, _: bits.decode("utf-8"),
    "bytes": _write_base64,
    "object": lambda bits, dtype: write_object(bits, dtype, _write_inner),
}
