"""Fill values as exact bits: what an element holds that was never written."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from omnizarr.errors import ShapeError
from omnizarr.late import LateModule
from omnizarr.model.dtype import JSON_OBJECTS, DType, field_type
from omnizarr.model.small import PAIRS, SMALL_INTEGERS, pack_small_float, pack_small_int
from omnizarr.model.structs import Field, fields_of

if TYPE_CHECKING:
    from omnizarr.model import items
else:
    items = LateModule("omnizarr.model.items")

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
                return cls(items.packer(_in_documents(dtype))(value))
            if dtype.vlen:
                return cls(_as_str(value).encode("utf-8") if dtype.vlen == "string" else _as_bytes(value))
            fill = cls(_PACKERS[dtype.family](value, dtype))
        except (TypeError, ValueError, OverflowError) as error:
            raise ShapeError(f"{value!r} is not a value of type {dtype.name}: {error}") from error
        if dtype.family in ("float", "complex") and _overflows(value, np.frombuffer(fill.bits or b"", dtype.numpy)[0]):
            raise ShapeError(f"{value!r} is not a value of type {dtype.name}: it is too large")
        return fill

    @classmethod
    def zero(cls, dtype: DType) -> Fill:
        """Make the fill that stands in where none is given: zero, false, or the empty string.

        `float8_e8m0fnu` has no zero; these bits are its smallest number.
        """
        if dtype.vlen == "object":
            return cls(items.empty_item(_in_documents(dtype)))
        return cls(b"" if dtype.vlen else bytes(dtype.itemsize))

    def value(self, dtype: DType) -> Any:  # noqa: ANN401 - of the array's type
        """Give the value as users see it: a NumPy scalar, `str`, `bytes` or object; None where it is undefined."""
        if self.bits is None:
            return None
        if dtype.vlen == "object":
            return items.unpacker(_in_documents(dtype))(self.bits)
        if dtype.vlen == "string":
            return self.bits.decode("utf-8")
        if dtype.vlen:
            return self.bits
        scalar: np.generic = np.frombuffer(self.bits, dtype.numpy)[0]
        return scalar


def item_of(fill: Fill, dtype: DType) -> bytes:
    """Give the fill of an array of objects as the kernel moves it."""
    if fill.bits is None:
        return items.empty_item(dtype)
    return fill.bits if dtype.item != "msgpack" else items.packer(dtype)(fill.value(dtype))


def _in_documents(dtype: DType) -> DType:
    return JSON_OBJECTS if dtype.item == "msgpack" else dtype


def pack_int(number: int, dtype: DType) -> bytes:
    """Give the bytes of an integer or of a count of time.

    Raises:
        OverflowError: The type is too small.
    """
    order = dtype.byteorder or "little"
    return number.to_bytes(dtype.itemsize, order, signed=dtype.family != "uint")


def pack_float(number: float, size: int, order: Literal["little", "big"]) -> bytes:
    """Give the bytes of a float, rounded half to even; too large a number becomes infinity."""
    if size not in _FLOAT_FORMATS:
        return _pack_long(np.longdouble(number), order)
    try:
        return struct.pack(("<" if order == "little" else ">") + _FLOAT_FORMATS[size], number)
    except OverflowError:
        sign = 1 << (8 * size - 1) if number < 0 else 0
        return pack_float_bits(_INFINITY_BITS[size] | sign, size, order)


def _pack_long(number: np.generic, order: Literal["little", "big"]) -> bytes:
    bits = number.tobytes()
    if np.finfo(np.longdouble).nmant == 63:
        # Intel's have ten bytes, and what stands in the others is whatever was in memory.
        bits = bits[:10].ljust(len(bits), b"\0")
    return bits if order == sys.byteorder else bits[::-1]


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


def pack_small(value: float, name: str, order: Literal["little", "big"]) -> bytes:
    """Give the bytes of a number of ml_dtypes' types, rounded half to even; too large a number becomes infinity.

    Raises:
        OverflowError: The type has neither the number nor an infinity.
        ValueError: The type holds integers, and the number is none.
    """
    if name in SMALL_INTEGERS:
        return pack_small_int(_as_int(value), name)
    bits = pack_small_float(float(value), name)
    return bits if order == "little" else bits[::-1]


def pack_fields(dtype: DType, pack: Callable[[Field], bytes]) -> bytes:
    """Put together an element of a structure from the bytes of each field; what lies between them is zero."""
    whole = bytearray(dtype.itemsize)
    for field in fields_of(dtype.numpy):
        whole[field.offset : field.offset + field.nbytes] = pack(field)
    return bytes(whole)


def _pack_number(value: object, dtype: DType) -> bytes:
    if isinstance(value, np.generic) and value.dtype.kind == dtype.numpy.kind and value.itemsize == dtype.itemsize:
        if value.dtype.char in "gG":
            parts = (np.real(value), np.imag(value)) if value.dtype.char == "G" else (value,)
            return b"".join(_pack_long(part, dtype.byteorder or "little") for part in parts)
        # Same type: only the byte order may change, so that the payload of a NaN survives.
        return value.astype(dtype.numpy, copy=False).tobytes() if dtype.numpy.isnative else _swapped(value, dtype)
    order = dtype.byteorder or "little"
    if dtype.family == "float":
        if not isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
            raise TypeError("a number is needed")
        if dtype.itemsize > 8:
            return _pack_long(np.longdouble(value), order)
        return pack_float(float(value), dtype.itemsize, order)
    if not isinstance(value, bool | int | float | complex | np.bool_ | np.number):
        raise TypeError("a number is needed")
    if dtype.itemsize > 16:
        long = np.clongdouble(value)
        return _pack_long(np.real(long), order) + _pack_long(np.imag(long), order)
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


def _pack_small(value: object, dtype: DType) -> bytes:
    if isinstance(value, np.generic) and value.dtype == dtype.numpy:
        bits = value.tobytes()
        return bits if len(bits) > 1 else bytes((bits[0] & ((1 << dtype.bits) - 1),))
    if not isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
        value = _as_number(value)
    number = value if isinstance(value, int) else float(value)
    bits = pack_small(number, dtype.name, dtype.byteorder or "little")
    if math.isinf(float(np.frombuffer(bits, dtype.numpy)[0])) and not math.isinf(number):
        raise OverflowError("it is too large")
    return bits


def _as_number(value: object) -> float:
    """Take a number of any type of ml_dtypes."""
    if isinstance(value, np.generic) and hasattr(value, "__float__") and not isinstance(value, np.complexfloating):
        return float(value)
    raise TypeError("a number is needed")


def _pack_pair(value: object, dtype: DType) -> bytes:
    if isinstance(value, np.void):
        if value.dtype.names != ("real", "imag"):
            raise TypeError("a complex number is needed")
        value = (value["real"], value["imag"])
    if isinstance(value, Sequence) and len(value) == 2 and not isinstance(value, str | bytes):
        parts: tuple[object, object] = (value[0], value[1])
    elif isinstance(value, complex | np.complexfloating):
        parts = (float(value.real), float(value.imag))
    else:
        parts = (value, 0)
    component = DType.of(PAIRS[dtype.name])
    packer = _PACKERS[component.family]
    return packer(parts[0], component) + packer(parts[1], component)


def _pack_struct(value: object, dtype: DType) -> bytes:
    names = dtype.numpy.names or ()
    if isinstance(value, np.void) and value.dtype.names is not None:
        value = tuple(value[name] for name in value.dtype.names)
    if isinstance(value, bytes | np.void) or (isinstance(value, int) and value == 0):
        return _pack_void(value, dtype)
    if isinstance(value, Mapping):
        if set(value) != set(names):
            raise ValueError(f"the fields {', '.join(names)} are needed")
        values = value
    elif isinstance(value, Sequence) and not isinstance(value, str):
        values = dict(zip(names, value, strict=True))
    else:
        raise TypeError("a value for each field is needed: a tuple, or a mapping by their names")
    return pack_fields(dtype, lambda field: _pack_field(values[field.name], field))


def _pack_field(value: object, field: Field) -> bytes:
    inner = field_type(field.numpy)
    if not field.shape:
        return _PACKERS[inner.family](value, inner)
    if not isinstance(value, np.ndarray | list | tuple):
        return _PACKERS[inner.family](value, inner) * field.length
    if field.numpy.names is None:
        items = np.broadcast_to(np.asarray(value), field.shape).reshape(-1)
    else:
        items = np.broadcast_to(np.asarray(value, field.numpy), field.shape).reshape(-1)
    return b"".join(_PACKERS[inner.family](item, inner) for item in items)


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


# By the family of the type; a new one is one more row.
_PACKERS: Final[dict[str, Callable[[object, DType], bytes]]] = {
    "bool": _pack_bool,
    "int": _pack_int,
    "uint": _pack_int,
    "float": _pack_number,
    "complex": _pack_number,
    "fixed": _pack_fixed_bytes,
    "text": _pack_utf32,
    "raw": _pack_void,
    "time": _pack_time,
    "small": _pack_small,
    "pair": _pack_pair,
    "struct": _pack_struct,
}
