"""Numbers as fill values: every spelling that a writer is known to use, to and from exact bits.

Hexadecimal and binary strings stand for the bits themselves; drafts of v3 had them for every type, the final one for
floats. Decimals are read as doubles and then rounded, half to even, to the type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import numpy as np

from omnizarr.errors import warn
from omnizarr.model.dtype import DType
from omnizarr.model.fill import NAN_BITS, Fill, pack_float, pack_float_bits, pack_int, pack_small
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.small import NO_ZERO, PAIRS, SMALL_INTEGERS

Order: TypeAlias = Literal["little", "big"]

# Patterns are compiled where a value first needs them: together they would take a tenth of the time to import Omnizarr.
_NUMBER: Final = r"(?ai)[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)"
_INTEGER: Final = r"(?a)[+-]?\d{1,40}"
_BITS: Final = r"(?ai)0x[0-9a-f]{1,64}|0b[01]{1,256}"
_PAYLOAD: Final = r"(?ai)([+-]?)nan\(0x([0-9a-f]{1,16})\)"
_INFINITY: Final = float("inf")
_WORDS: Final = {"NaN": float("nan"), "Infinity": _INFINITY, "-Infinity": -_INFINITY}
_NAT: Final = -(2**63)


class BadFillError(ValueError):
    """What is wrong with a fill value."""


def bits_of(value: JSON, size: int) -> int | None:
    """Read a string of hexadecimal or binary digits as the bits of an element; `None` if it is something else.

    Leading zeros of hexadecimal digits may be left out, as tensorstore allows; binary ones must be complete.

    Raises:
        OverflowError: There are more bits than the type has.
    """
    if not isinstance(value, str) or value[:1] != "0" or not re.fullmatch(_BITS, value):
        return None
    if value[1] in "bB":
        return int(value, 2) if len(value) == 2 + 8 * size else None
    if len(value) > 2 + 2 * size:
        raise OverflowError("there are too many digits")
    return int(value, 16)


def read_bool(value: JSON, _: DType) -> bytes:
    """Read true or false; 0 and 1 are taken for them."""
    if isinstance(value, bool) or (type(value) is int and value in (0, 1)):
        return b"\1" if value else b"\0"
    if bits_of(value, 1) in (0, 1):
        return b"\1" if bits_of(value, 1) else b"\0"
    raise BadFillError("true or false is needed")


def read_int(value: JSON, dtype: DType) -> bytes:
    """Read a whole number, exactly."""
    bits = bits_of(value, dtype.itemsize)
    if bits is not None:
        return bits.to_bytes(dtype.itemsize, dtype.byteorder or "little")
    return pack_int(_whole(value), dtype)


def _whole(value: JSON) -> int:
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and re.fullmatch(_INTEGER, value):
        return int(value)
    raise BadFillError("a whole number is needed")


def read_time(value: JSON, dtype: DType) -> bytes:
    """Read a count of the unit, or "NaT"."""
    return pack_int(_NAT, dtype) if value == "NaT" else read_int(value, dtype)


def read_float(value: JSON, dtype: DType) -> bytes:
    """Read a float."""
    return _float(value, dtype.itemsize, dtype.byteorder or "little")


def _float(value: JSON, size: int, order: Order) -> bytes:
    if isinstance(value, float):
        return pack_float(value, size, order)
    bits = bits_of(value, size)
    if bits is None and isinstance(value, str):
        bits = _payload(value, size)
    return pack_float(_number(value), size, order) if bits is None else pack_float_bits(bits, size, order)


def _payload(value: str, size: int) -> int | None:
    """Read a NaN of given fraction bits, as one draft of May 2023 spelled it; `None` if it is something else."""
    found = re.fullmatch(_PAYLOAD, value)
    if found is None or size not in NAN_BITS:
        return None
    sign = 1 << (8 * size - 1) if found[1] == "-" else 0
    fraction = {2: 10, 4: 23, 8: 52}[size]
    payload = int(found[2], 16)
    if not 0 < payload < 1 << fraction:
        raise OverflowError("the payload has too many bits, or none")
    return sign | (NAN_BITS[size] & ~(1 << (fraction - 1))) | payload


def _number(value: JSON) -> float:
    if isinstance(value, float):
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:  # a number of more than 308 digits, which as 1e309 would be read as infinite
            return _INFINITY if value > 0 else -_INFINITY
    if isinstance(value, str):
        if value in _WORDS:
            return _WORDS[value]
        if re.fullmatch(_NUMBER, value):
            return float(value)
    raise BadFillError('a number, "NaN", "Infinity", "-Infinity" or hexadecimal bits are needed')


def read_complex(value: JSON, dtype: DType) -> bytes:
    """Read a list of the real and the imaginary part; a number alone is real."""
    half, order = dtype.itemsize // 2, dtype.byteorder or "little"
    return _both(value, lambda part: _float(part, half, order))


def read_pair(value: JSON, dtype: DType) -> bytes:
    """Read a complex number of a type that NumPy does not have."""
    component = DType.of(PAIRS[dtype.name])
    reader = read_float if component.family == "float" else read_small
    return _both(value, lambda part: reader(part, component))


def _both(value: JSON, read: Callable[[JSON], bytes]) -> bytes:
    if not isinstance(value, list):
        return read(value) + read(0)
    if len(value) != 2:
        raise BadFillError("a list of two numbers is needed")
    return read(value[0]) + read(value[1])


def read_small(value: JSON, dtype: DType) -> bytes:
    """Read a number of a type that NumPy does not have."""
    name, order = dtype.name, dtype.byteorder or "little"
    bits = bits_of(value, dtype.itemsize)
    if bits is not None:
        if bits >> dtype.bits:
            raise OverflowError("there are too many bits")
        return bits.to_bytes(dtype.itemsize, order)
    if name in SMALL_INTEGERS:
        return pack_small(_whole(value), name, order)
    number = _number(value)
    if number == 0 and name == NO_ZERO:
        # What tensorstore writes for the smallest number, which is too small for its own text.
        message = f"{name} has no zero, so the fill value 0 is taken for its smallest number"
        warn(message)
        return bytes(1)
    return pack_small(number, name, order)


def write_int(bits: bytes, dtype: DType) -> JSON:
    """Write a whole number."""
    return int.from_bytes(bits, dtype.byteorder or "little", signed=dtype.family != "uint")


def write_time(bits: bytes, dtype: DType) -> JSON:
    """Write a count of the unit."""
    count = write_int(bits, dtype)
    # zarr-python writes the integer, but where the unit is generic it reads "NaT" alone.
    return "NaT" if count == _NAT and np.datetime_data(dtype.numpy)[0] == "generic" else count


def write_float(bits: bytes, dtype: DType) -> JSON:
    """Write a float: as a number or a word where that is exact, else as its bits."""
    number = float(Fill(bits).value(dtype))  # a NumPy float, or one of ml_dtypes
    if number != number:  # noqa: PLR0124  # only NaN differs from itself
        number = _WORDS["NaN"]  # without the sign and the payload that it may have
    order = dtype.byteorder or "little"
    small = dtype.family == "small"
    known = None  # of powers of two tensorstore understands the bits, but takes numbers for others
    if dtype.name != NO_ZERO or number != number:  # noqa: PLR0124
        known = pack_small(number, dtype.name, order) if small else pack_float(number, len(bits), order)
    if known != bits:
        return f"0x{int.from_bytes(bits, order):0{2 * len(bits)}x}"
    if number != number:  # noqa: PLR0124
        return "NaN"
    if number in (_INFINITY, -_INFINITY):
        return "Infinity" if number > 0 else "-Infinity"
    return number


def write_complex(bits: bytes, dtype: DType) -> JSON:
    """Write a list of the real and the imaginary part."""
    half = dtype.itemsize // 2
    part = DType.of(f"{'>' if dtype.byteorder == 'big' else '<'}f{half}")
    return [write_float(bits[:half], part), write_float(bits[half:], part)]


def write_small(bits: bytes, dtype: DType) -> JSON:
    """Write a number of a type that NumPy does not have."""
    if dtype.name not in SMALL_INTEGERS:
        return write_float(bits, dtype)
    number, high = bits[0], 1 << (dtype.bits - 1)
    return number - 2 * high if number & high and dtype.name[0] != "u" else number


def write_pair(bits: bytes, dtype: DType) -> JSON:
    """Write a complex number of a type that NumPy does not have."""
    half, part = dtype.itemsize // 2, DType.of(PAIRS[dtype.name])
    return [write_float(bits[:half], part), write_float(bits[half:], part)]
