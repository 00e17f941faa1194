"""Fill values of arrays of objects in documents: any JSON, and for optional elements null or a list of one value."""

from __future__ import annotations

from collections.abc import Callable

from omnizarr.model.dtype import JSON_OBJECTS, DType
from omnizarr.model.items import packer, unpacker
from omnizarr.model.jsonvalue import JSON

Reader = Callable[[JSON, DType], bytes]
Writer = Callable[[bytes, DType], JSON]


def read_object(value: JSON, dtype: DType, read: Reader) -> bytes:
    """Read a fill value.

    Args:
        value: What the document says.
        dtype: The array's type.
        read: Reads a fill value of the inner type.

    Raises:
        ValueError: The type has no such element.
    """
    inner = dtype.inner
    if dtype.item == "optional" and inner is not None:
        if value is None:
            return b""
        if not isinstance(value, list) or len(value) != 1:
            raise ValueError("null, or a list of one value, is needed")
        return b"\1" + read(value[0], inner)
    if dtype.item == "array":
        # zarr-python 2 puts 0 where nobody gave a value.
        if type(value) is int and value == 0:
            return b""
        if not isinstance(value, list):
            raise ValueError("a list is needed")
        try:
            return packer(dtype)(value)
        except (TypeError, OverflowError) as error:
            raise ValueError(str(error)) from error
    return packer(JSON_OBJECTS)(value)


def write_object(bits: bytes, dtype: DType, write: Writer) -> JSON:
    """Write a fill value; `write` writes one of the inner type."""
    inner = dtype.inner
    if dtype.item == "optional" and inner is not None:
        return [write(bits[1:], inner)] if bits else None
    if dtype.item == "array":
        elements: list[JSON] = unpacker(dtype)(bits).tolist()
        return elements or 0
    value: JSON = unpacker(JSON_OBJECTS)(bits)
    return value
