"""Checks that every document needs, with messages that point to the place."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import index
from typing import TYPE_CHECKING, Final, NoReturn, cast

from omnizarr.errors import LimitError, MetadataError, NodeTypeError, UnsupportedError
from omnizarr.format.document import describe
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.grid import Grid, RegularGrid
from omnizarr.model.jsonvalue import JSON

if TYPE_CHECKING:  # for it needs NumPy, and consolidated metadata can be taken apart without
    from omnizarr.model.dtype import DType

MAX_SIZE: Final = 2**63 - 1
"""The longest dimension: what a signed 64-bit integer holds."""

_MAX_BYTES: Final = 2**64 - 1
"""The largest number of bytes that the kernel takes."""

_MOST_BITS: Final = 200
"""Larger numbers are not shown in messages: those of very many digits Python does not even write."""


def check_limits(limits: object) -> Limits:
    """Check what a user gives for limits, before anything is compared with them.

    Raises:
        NodeTypeError: They are something else, or a member is of another type than it should be.
        LimitError: A number is out of range.
    """
    if limits is DEFAULT_LIMITS:
        return DEFAULT_LIMITS
    hint = "Pass limits=omnizarr.Limits(max_chunk_bytes=1 << 34), or leave them out."
    if not isinstance(limits, Limits):
        raise NodeTypeError(f"limits are a Limits, not {limits!r} of type {type(limits).__name__}", hint=hint)
    numbers, allow = limits[:-1], cast("object", limits.allow)
    for name, value in zip(Limits._fields, numbers, strict=False):
        if type(value) is not int or not 0 <= value <= _MAX_BYTES:
            byte_count(value, name)
    if type(allow) is tuple:
        return limits
    if isinstance(allow, str) or not isinstance(allow, Iterable):
        hint = 'Pass allow=("…",), a sequence even of one.'
        raise NodeTypeError(f"allow is a sequence of places, not {allow!r} of type {type(allow).__name__}", hint=hint)
    return limits


def byte_count(value: object, name: str) -> int:
    """Check what a user gives for a number of bytes, or of other things that are counted.

    Raises:
        NodeTypeError: It is no whole number.
        LimitError: It is out of range.
    """
    if type(value) is int and 0 <= value <= _MAX_BYTES:
        return value
    hint = f"Pass a whole number, as in {name}={getattr(DEFAULT_LIMITS, name, 100_000_000)}."
    try:
        number = index(value)  # type: ignore[arg-type]  # what is no number is what the except is for
    except TypeError:
        message = f"{name} is a whole number, not {value!r} of type {type(value).__name__}"
        raise NodeTypeError(message, hint=hint) from None
    if not 0 <= number <= _MAX_BYTES:
        shown = number if number.bit_length() < _MOST_BITS else f"a number of {number.bit_length()} bits"
        raise LimitError(f"{name} is {shown}, and can be from 0 to 2**64 - 1", hint=hint)
    return number


def sizes(value: JSON, pointer: str, key: str, least: int = 0) -> tuple[int, ...]:
    """Read a list of whole numbers from `least` to 2**63 - 1.

    Raises:
        MetadataError: It is not such a list; the pointer leads to the first number that is not.
    """
    if not isinstance(value, list):
        raise MetadataError(f"a list of whole numbers is needed, not {describe(value)}", pointer=pointer, key=key)
    for at, size in enumerate(value):
        if type(size) is not int or not least <= size <= MAX_SIZE:
            message = f"a whole number from {least} to 2**63 - 1 is needed, not {describe(size)}"
            raise MetadataError(message, pointer=f"{pointer}/{at}", key=key)
    return tuple(cast("list[int]", value))


def integer(value: JSON, pointer: str, key: str, least: int, most: int) -> int:
    """Read a whole number within bounds.

    Raises:
        MetadataError: It is something else.
    """
    if type(value) is int and least <= value <= most:
        return value
    message = f"a whole number from {least} to {most} is needed, not {describe(value)}"
    raise MetadataError(message, pointer=pointer, key=key)


def choice(value: JSON, pointer: str, key: str, allowed: Collection[str]) -> str:
    """Read one of a few words.

    Raises:
        MetadataError: It is something else.
    """
    if isinstance(value, str) and value in allowed:
        return value
    words = ", ".join(repr(word) for word in allowed)
    raise MetadataError(f"one of {words} is needed, not {describe(value)}", pointer=pointer, key=key)


def mapping(value: JSON, pointer: str, key: str) -> dict[str, JSON]:
    """Read an object.

    Raises:
        MetadataError: It is something else.
    """
    if isinstance(value, dict):
        return value
    raise MetadataError(f"an object is needed, not {describe(value)}", pointer=pointer, key=key)


def shape(value: JSON, key: str, limits: Limits) -> tuple[int, ...]:
    """Read the shape of an array from the field `shape`.

    Raises:
        MetadataError: A size is not one, or there are 2**63 elements or more.
        LimitError: There are too many dimensions.
    """
    if isinstance(value, list) and len(value) > limits.max_dimensions:
        message = f"the array has {len(value)} dimensions; at most {limits.max_dimensions} are read (at /shape)"
        raise LimitError(message, key=key)
    found = sizes(value, "/shape", key)
    if product(found) > MAX_SIZE:
        raise MetadataError("the array has 2**63 elements or more", pointer="/shape", key=key)
    return found


def chunk_shape(value: JSON, array: tuple[int, ...], pointer: str, key: str) -> tuple[int, ...]:
    """Read the shape of a grid's chunks.

    Raises:
        MetadataError: A size is not one, or zero although the array has a length there, or there are too few or many.
    """
    found = sizes(value, pointer, key)
    if len(found) != len(array):
        message = f"there are {len(found)} chunk sizes for {len(array)} dimensions"
        raise MetadataError(message, pointer=pointer, key=key)
    if 0 in found:  # written by zarr-python for dimensions of no length, though the specification wants 1 or more
        for at, size in enumerate(found):
            if size == 0 and array[at]:
                message = f"chunks of length 0 cannot hold a dimension of length {array[at]}"
                raise MetadataError(message, pointer=f"{pointer}/{at}", key=key)
    return found


def writable(chunk: tuple[int, ...]) -> list[JSON]:
    """Give the chunk sizes to write: 1 for 0, which means the same where the array has no length and is legal."""
    return [size or 1 for size in chunk]


def even_chunks(grid: Grid, dialect: str) -> list[JSON]:
    """Give the one chunk shape to write, for dialects that have no other grid.

    Args:
        grid: The array's grid.
        dialect: The dialect as users know it, for the message.

    Raises:
        UnsupportedError: The chunks have different shapes.
    """
    if isinstance(grid, RegularGrid):
        return writable(grid.chunk_shape)
    hint = 'Give chunks of one shape, or pass format="zarr3".'
    raise UnsupportedError(f"{dialect} has only chunks of one shape", hint=hint)


def chunk_bytes(chunk: tuple[int, ...], dtype: DType, pointer: str, key: str, limits: Limits) -> None:
    """Check that one decoded chunk is not too large to hold.

    Raises:
        LimitError: It is.
    """
    size = product(chunk) * dtype.itemsize
    if size > limits.max_chunk_bytes:
        message = f"a chunk takes {size} bytes; at most {limits.max_chunk_bytes} are read (at {pointer})"
        hint = "Pass limits=Limits()._replace(max_chunk_bytes=...) if that much fits in memory."
        raise LimitError(message, key=key, hint=hint)


def product(numbers: tuple[int, ...]) -> int:
    """Multiply whole numbers exactly."""
    total = 1
    for number in numbers:
        total *= number
    return total


def part(name: str) -> str:
    """Escape a name for use in a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def missing(field: str, key: str) -> NoReturn:
    """Complain of a field that must be there.

    Raises:
        MetadataError: Always.
    """
    raise MetadataError(f"the field {field!r} is missing", pointer="/", key=key)


def unknown_type(name: str, pointer: str, key: str) -> NoReturn:
    """Complain of an element type that Omnizarr does not have.

    Raises:
        UnsupportedError: Always.
    """
    raise UnsupportedError(f"the data type {name!r} is not supported", pointer=pointer, key=key)
