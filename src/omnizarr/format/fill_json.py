"""Fill values in documents, to and from exact bits.

v3: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#fill-value and each data type's own text.
v2: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#fill-value-encoding

Reading takes every spelling that a writer is known to use; writing keeps to the one that all readers take.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format import fill_numbers as numbers
from omnizarr.format.document import describe
from omnizarr.format.fill_numbers import BadFillError, bits_of
from omnizarr.late import LateModule
from omnizarr.model.dtype import DType, field_type
from omnizarr.model.fill import Fill, pack_fields, pack_text, pad
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.structs import Field, fields_of

if TYPE_CHECKING:
    from omnizarr.format import fill_objects
else:
    fill_objects = LateModule("omnizarr.format.fill_objects")

Reader: TypeAlias = Callable[[JSON, DType], bytes]
Writer: TypeAlias = Callable[[bytes, DType], JSON]

_BASE64_IN_V2: Final = "float4_e2m1fn"


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
    return _WRITERS[dtype.family](fill.bits, dtype)


def render_v2(fill: Fill, dtype: DType) -> JSON:
    """Write a fill value for a v2 document.

    Raises:
        UnsupportedError: It is a number that v2 has no word for.
    """
    if fill.bits is None:
        return None
    family = dtype.family
    if family in ("fixed", "struct") or dtype.name == _BASE64_IN_V2:
        return _write_base64(fill.bits, dtype)  # tensorstore wants the padding of bytes, too
    value = _WRITERS[family](fill.bits, dtype)
    if family in ("float", "complex", "small") and any(
        isinstance(part, str) and part.startswith("0x") for part in (value if isinstance(value, list) else (value,))
    ):
        hint = "Take numpy.nan, or Zarr v3."
        if dtype.itemsize > 8 and not _is_nan(fill, dtype):
            hint = "Take a number that a float64 holds, too."
        raise UnsupportedError(
            "Zarr v2 has only the plain NaN, and numbers of double precision, as fill values",
            pointer="/fill_value",
            hint=hint,
        )
    return value


def _is_nan(fill: Fill, dtype: DType) -> bool:
    value = fill.value(dtype)
    return bool(value != value)  # noqa: PLR0124  # only NaN differs from itself


def _parse(readers: dict[str, Reader], value: JSON, dtype: DType, key: str) -> Fill:
    try:
        return Fill(readers[dtype.family](value, dtype))
    except OverflowError:
        message = f"the fill value {describe(value)} is out of the range of {dtype.name}"
    except ValueError as error:
        message = f"the fill value of an array of {dtype.name} cannot be {describe(value)}: {error}"
    raise MetadataError(message, pointer="/fill_value", key=key)


def _read_utf32(value: JSON, dtype: DType) -> bytes:
    if isinstance(value, str):
        return pack_text(value, dtype)
    raise BadFillError("a string is needed")


def _read_string(value: JSON, _: DType) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")  # lone surrogates raise a ValueError: they are not UTF-8
    raise BadFillError("a string is needed")


def _base64(value: JSON) -> bytes:
    """Decode base64 text, or a list of byte values as zarr-python 3.0 and zarrs write."""
    if isinstance(value, str) and value.isascii():
        return binascii.a2b_base64(value, strict_mode=True)  # raises a ValueError
    if isinstance(value, list) and all(type(byte) is int and 0 <= byte < 256 for byte in value):
        return bytes(cast("list[int]", value))
    raise BadFillError("base64, or a list of bytes, is needed")


def _read_bytes(value: JSON, _: DType) -> bytes:
    return _base64(value)


def _read_fixed_bytes(value: JSON, dtype: DType) -> bytes:
    return pad(_base64(value), dtype.itemsize)


def _read_raw(value: JSON, dtype: DType) -> bytes:
    size = dtype.itemsize
    if isinstance(value, str) and len(value) == 2 + 2 * size and bits_of(value, size) is not None:
        return bytes.fromhex(value[2:])  # as the drafts of v3 had it; in base64 this would be another number of bytes
    bits = _base64(value)
    if len(bits) != size:
        raise BadFillError(f"it has {len(bits)} bytes where {size} are needed")
    return bits


def _or_literal(reader: Reader, exact: bool = False) -> Reader:
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


def _or_zero(reader: Reader) -> Reader:
    """Take the number 0 for the empty string: the default of zarr-python 2 for arrays of objects."""

    def read(value: JSON, dtype: DType) -> bytes:
        if type(value) is int and value == 0:
            return b"" if dtype.vlen else bytes(dtype.itemsize)
        return reader(value, dtype)

    return read


def _read_small_v2(value: JSON, dtype: DType) -> bytes:
    """Read a number of ml_dtypes, of which tensorstore writes one type in base64."""
    if dtype.name == _BASE64_IN_V2 and isinstance(value, str) and value.endswith("=="):
        return _read_raw(value, dtype)
    return numbers.read_small(value, dtype)


def _or_in_a_list(reader: Reader) -> Reader:
    """Take a list of the one value, as netcdf-c 4.8.0 writes it."""

    def read(value: JSON, dtype: DType) -> bytes:
        return reader(value[0] if isinstance(value, list) and len(value) == 1 else value, dtype)

    return read


def _read_struct(readers: dict[str, Reader]) -> Reader:
    """Read a value for each field by its name, or the bytes of all of them in base64, as zarr-python 3.1 writes."""

    def read(value: JSON, dtype: DType) -> bytes:
        if not isinstance(value, dict):
            return _read_raw(value, dtype)
        names = dtype.numpy.names or ()
        for name in (*names, *value):
            if name not in value:
                raise BadFillError(f"the field {name!r} is missing")
            if name not in names:
                raise BadFillError(f"there is no field {name!r}")
        return pack_fields(dtype, lambda field: _read_field(readers, value[field.name], field))

    return read


def _or_listed(reader: Reader, readers: dict[str, Reader]) -> Reader:
    """Take a list of the fields' values, which old writers made of a tuple."""

    def read(value: JSON, dtype: DType) -> bytes:
        names = dtype.numpy.names or ()
        if not isinstance(value, list):
            return reader(value, dtype)
        if len(value) != len(names):
            raise BadFillError(f"{len(names)} values are needed")
        values = dict(zip(names, value, strict=True))
        return pack_fields(dtype, lambda field: _read_field(readers, values[field.name], field))

    return read


def _read_field(readers: dict[str, Reader], value: JSON, field: Field) -> bytes:
    inner = field_type(field.numpy)
    reader = readers[inner.family]
    try:
        if not field.shape:
            return reader(value, inner)
        if not isinstance(value, list):
            return reader(value, inner) * field.length
        return b"".join(reader(item, inner) for item in _elements(value, field.shape))
    except OverflowError as error:
        raise OverflowError(f"field {field.name!r}: {error}") from None
    except ValueError as error:
        raise BadFillError(f"field {field.name!r}: {error}") from None


def _elements(value: JSON, shape: tuple[int, ...]) -> list[JSON]:
    """List the elements of a field that is an array, which the document gives as lists in lists."""
    items: list[JSON] = [value]
    for size in shape:
        if any(not isinstance(item, list) or len(item) != size for item in items):
            raise BadFillError(f"an array of shape {shape} is needed")
        items = [part for item in items for part in cast("list[JSON]", item)]
    return items


def _write_struct(bits: bytes, dtype: DType) -> JSON:
    if dtype.name == "structured":
        return _write_base64(bits, dtype)
    made: dict[str, JSON] = {}
    for field in fields_of(dtype.numpy):
        inner = field_type(field.numpy)
        part = bits[field.offset : field.offset + field.nbytes]
        made[field.name] = _WRITERS[inner.family](part, inner)
    return made


def _write_utf32(bits: bytes, dtype: DType) -> JSON:
    encoding = "utf-32-be" if dtype.byteorder == "big" else "utf-32-le"
    return bits.decode(encoding, "surrogatepass").rstrip("\0")


def _write_fixed_bytes(bits: bytes, dtype: DType) -> JSON:
    return _write_base64(bits.rstrip(b"\0"), dtype)


def _write_base64(bits: bytes, _: DType) -> JSON:
    return binascii.b2a_base64(bits, newline=False).decode("ascii")


def _read_inner(value: JSON, dtype: DType) -> bytes:
    return _READERS_V3[dtype.family](value, dtype)


def _write_inner(bits: bytes, dtype: DType) -> JSON:
    return _WRITERS[dtype.family](bits, dtype)


# By the family of the type; a new one is one more row in each.
_READERS_V3: Final[dict[str, Reader]] = {
    "bool": numbers.read_bool,
    "int": numbers.read_int,
    "uint": numbers.read_int,
    "float": numbers.read_float,
    "complex": numbers.read_complex,
    "time": numbers.read_time,
    "small": numbers.read_small,
    "pair": numbers.read_pair,
    "fixed": _read_fixed_bytes,
    "text": _read_utf32,
    "raw": _read_raw,
    "string": _read_string,
    "bytes": _read_bytes,
    "object": lambda value, dtype: fill_objects.read_object(value, dtype, _read_inner),
}
_READERS_V3["struct"] = _read_struct(_READERS_V3)
_READERS_V2: Final[dict[str, Reader]] = {
    **_READERS_V3,
    **{family: _or_in_a_list(_READERS_V3[family]) for family in ("bool", "int", "uint", "float")},
    "small": _or_in_a_list(_read_small_v2),
    "fixed": _or_literal(_read_fixed_bytes),
    "raw": _or_literal(_read_raw, exact=True),
    "text": _or_zero(_read_utf32),
    "string": _or_zero(_read_string),
    "bytes": _or_literal(_read_bytes),
}
_READERS_V2["struct"] = _or_listed(_or_zero(_read_struct(_READERS_V2)), _READERS_V2)
_WRITERS: Final[dict[str, Writer]] = {
    "bool": lambda bits, _: bits != b"\0",
    "int": numbers.write_int,
    "uint": numbers.write_int,
    "float": numbers.write_float,
    "complex": numbers.write_complex,
    "time": numbers.write_time,
    "small": numbers.write_small,
    "pair": numbers.write_pair,
    "fixed": _write_fixed_bytes,
    "text": _write_utf32,
    "raw": _write_base64,
    "struct": _write_struct,
    "string": lambda bits, _: bits.decode("utf-8"),
    "bytes": _write_base64,
    "object": lambda bits, dtype: fill_objects.write_object(bits, dtype, _write_inner),
}
