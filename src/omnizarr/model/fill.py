"""Fill values as exact bits: what an element holds that was never written."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from omnizarr.errors import ShapeError
from omnizarr.model.dtype import JSON_OBJECTS, DType
from omnizarr.model.items import empty_item, packer, unpacker

_FLOAT_FORMATS: Final = {2: "e", 4: "f", 8: "d"}
NAN_BITS: Final = {2: 0x7E00, 4: 0x7FC00000, 8: 0x7FF8000000000000}
"""The one NaN that documents write as "NaN", by the size of the float."""

_INFINITY_BITS: Final = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF0000000000000}


class Fill(NamedTuple):
    r"""One element's bytes, as it lies in memory in its type's byte order; None where the fill value is undefined.

    For the types of variable length these are the UTF-8 text or the byte string itself. For objects they are what
    `omnizarr.model.items` makes of them, but JSON where elements are MessagePack: documents have nothing else.

    >>> Fill.of(-0.0, DType.of("<f4")).bits
    b'\x00\x00\x00\x80'
    """

    bits: bytes | None

    @classmethod
    def of(cls, value: object, dtype: DType) -> Fill:
        """Make the fill from a Python or NumPy value; None stands for undefined.

        Raises:
            ShapeError: The type cannot hold the value exactly (floats and complex numbers may be rounded,
                but not to infinity).
        """
        if value is None:
            return cls(b"" if dtype.item == "optional" else None)  # there a missing value is one as any other
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        try:
            if dtype.vlen == "object":
                return cls(packer(_in_documents(dtype))(value))
            if dtype.vlen:
                return cls(_as_str(value).encode("utf-8") if dtype.vlen == "string" else _as_bytes(value))
            fill = cls(_PACKERS[dtype.numpy.kind](value, dtype))
        except (TypeError, ValueError, OverflowError) as error:
            raise ShapeError(f"{value!r} is not a value of type {dtype.name}: {error}") from error
        if dtype.numpy.kind in "fc" and _overflows(value, np.frombuffer(fill.bits or b"", dtype.numpy)[0]):
            raise ShapeError(f"{value!r} is not a value of type {dtype.name}: it is too large")
        return fill

    @classmethod
    def zero(cls, dtype: DType) -> Fill:
        """Make the fill that stands in where none is given: zero, false, or the empty string."""
        if dtype.vlen == "object":
            return cls(empty_item(_in_documents(dtype)))
        return cls(b"" if dtype.vlen else bytes(dtype.itemsize))

    def value(self, dtype: DType) -> Any:  # noqa: ANN401 - of the array's type
        """Give the value as users see it: a NumPy scalar, `str`, `bytes` or object; None where it is undefined."""
        if self.bits is None:
            return None
        if dtype.vlen == "object":
            return unpacker(_in_documents(dtype))(self.bits)
        if dtype.vlen == "string":
            return self.bits.decode("utf-8")
        if dtype.vlen:
            return self.bits
        scalar: np.generic = np.frombuffer(self.bits, dtype.numpy)[0]
        return scalar


def item_of(fill: Fill, dtype: DType) -> bytes:
    """Give the fill of an array of objects as the kernel moves it."""
    if fill.bits is None:
        return empty_item(dtype)
    return fill.bits if dtype.item != "msgpack" else packer(dtype)(fill.value(dtype))


def _in_documents(dtype: DType) -> DType:
    return JSON_OBJECTS if dtype.item == "msgpack" else dtype


def pack_int(number: int, dtype: DType) -> bytes:
    """Give the bytes of an integer or of a count of time.

    Raises:
        OverflowError: The type is too small.
    """
    order = dtype.byteorder or "little"
    return number.to_bytes(dtype.itemsize, order, signed=dtype.numpy.kind != "u")


def pack_float(number: float, size: int, order: Literal["little", "big"]) -> bytes:
    """Give the bytes of a float of 2, 4 or 8 bytes, rounded half to even; too large a number becomes infinity."""
    try:
        return struct.pack(("<" if order == "little" else ">") + _FLOAT_FORMATS[size], number)
    except OverflowError:
        sign = 1 << (8 * size - 1) if number < 0 else 0
        return pack_float_bits(_INFINITY_BITS[size] | sign, size, order)


def pack_float_bits(bits: int, size: int, order: Literal["little", "big"]) -> bytes:
    """Give the bytes of a float whose bits are known as an integer.

    Raises:
        OverflowError: There are more bits than the float has.
    """
    return bits.to_bytes(size, order)


def pack_text(text: str, dtype: DType) -> bytes:
    """Give the bytes of a string of fixed length, padded with U+0000.

    Raises:
        ValueError: The text is too long.
    """
    # NumPy stores any code point, also lone surrogates, which strict UTF-32 would refuse.
    bits = text.encode("utf-32-be" if dtype.byteorder == "big" else "utf-32-le", "surrogatepass")
    return pad(bits, dtype.itemsize)


def pad(bits: bytes, size: int) -> bytes:
    """Fill up with zero bytes.

    Raises:
        ValueError: There are too many bytes already.
    """
    if len(bits) > size:
        raise ValueError(f"it takes {len(bits)} bytes where {size} are")
    return bits.ljust(size, b"\0")


def _as_str(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError("a str is needed")


def _as_bytes(value: object) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError("bytes are needed")


def _as_int(value: object) -> int:
    if isinstance(value, float | np.floating):
        if not value.is_integer():
            raise ValueError("it is not a whole number")
        return int(value)
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    raise TypeError("an integer is needed")


def _pack_number(value: object, dtype: DType) -> bytes:
    if isinstance(value, np.generic) and value.dtype.kind == dtype.numpy.kind and value.itemsize == dtype.itemsize:
        # Same type: only the byte order may change, so that the payload of a NaN survives.
        return value.astype(dtype.numpy, copy=False).tobytes() if dtype.numpy.isnative else _swapped(value, dtype)
    order = dtype.byteorder or "little"
    if dtype.numpy.kind == "f":
        if not isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
            raise TypeError("a number is needed")
        return pack_float(float(value), dtype.itemsize, order)
    if not isinstance(value, bool | int | float | complex | np.bool_ | np.number):
        raise TypeError("a number is needed")
    whole = complex(value)
    half = dtype.itemsize // 2
    return pack_float(whole.real, half, order) + pack_float(whole.imag, half, order)


def _overflows(given: Any, stored: Any) -> bool:  # noqa: ANN401 - numbers of any class
    """Whether a part of a number became infinite that was not."""
    if not np.isinf(stored):
        return False
    return any(abs(part(stored)) == math.inf != abs(part(given)) for part in (np.real, np.imag))


def _swapped(value: np.generic, dtype: DType) -> bytes:
    unit = dtype.swap_unit
    bits = value.tobytes()
    return b"".join(bits[at : at + unit][::-1] for at in range(0, len(bits), unit))


def _pack_bool(value: object, dtype: DType) -> bytes:
    if not isinstance(value, bool | np.bool_ | int | np.integer) or value not in (0, 1):
        raise TypeError("True or False is needed")
    return bytes((int(value),)).ljust(dtype.itemsize, b"\0")


def _pack_int(value: object, dtype: DType) -> bytes:
    return pack_int(_as_int(value), dtype)


def _pack_utf32(value: object, dtype: DType) -> bytes:
    return pack_text(_as_str(value), dtype)


def _pack_fixed_bytes(value: object, dtype: DType) -> bytes:
    return pad(value.encode("ascii") if isinstance(value, str) else _as_bytes(value), dtype.itemsize)


def _pack_void(value: object, dtype: DType) -> bytes:
    if isinstance(value, np.void):
        bits = value.tobytes()
    else:
        bits = bytes(dtype.itemsize) if isinstance(value, int) and value == 0 else _as_bytes(value)
    if len(bits) != dtype.itemsize:
        raise ValueError(f"it has {len(bits)} bytes where {dtype.itemsize} are needed")
    return bits


def _pack_time(value: object, dtype: DType) -> bytes:
    kind = dtype.numpy.kind
    exact = np.asarray(value)
    if exact.dtype.kind in "iu" and not exact.ndim:
        return pack_int(int(exact), dtype)
    if exact.dtype.kind in "OU":
        exact = exact.astype(kind + "8")  # finds out the unit of datetime objects and of ISO strings
    if exact.ndim or exact.dtype.kind != kind:
        raise TypeError("a point or span of time, or a whole number of its units, is needed")
    cast = exact.astype(dtype.numpy)
    if cast != exact and not np.isnat(exact):
        raise ValueError("the unit is too coarse for it")
    return cast.tobytes()


# By NumPy's letter of the kind; a new kind of type is one more row.
_PACKERS: Final[dict[str, Callable[[object, DType], bytes]]] = {
    "b": _pack_bool,
    "i": _pack_int,
    "u": _pack_int,
    "f": _pack_number,
    "c": _pack_number,
    "S": _pack_fixed_bytes,
    "U": _pack_utf32,
    "V": _pack_void,
    "M": _pack_time,
    "m": _pack_time,
}
