"""Elements as Zarr stores them, and the values of netCDF that they stand for.

On one side is what arrays of `omnizarr.hierarchy` give and take; on the other what `omnizarr.nc.types` says. Numbers go
through as they are.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from omnizarr.errors import CorruptError, warn
from omnizarr.nc.source import Values
from omnizarr.nc.types import CHAR, STRING, Compound, Type, Vlen, is_fixed
from omnizarr.nc.zarr.packed import little_endian, pack, unpack

DEFAULT_LENGTH: Final = 128
"""Bytes of a stored string, unless an attribute says otherwise."""

_NOTHING: Final = b"\0\1"
"""Stands for the string that is not there: empty to all who stop at the first NUL, as netCDF does."""


def is_packed(kind: Type) -> bool:
    """Whether elements of a type are stored as bytes of varying number, each packed."""
    return isinstance(kind, Vlen) or (isinstance(kind, Compound) and not is_fixed(kind))


def to_values(stored: Values, kind: Type) -> Values:
    r"""Return stored elements as values of a type, in native byte order.

    The result may share memory with `stored` where nothing has to change.

    Raises:
        CorruptError: If elements do not fit the type.

    >>> to_values(np.array([b"ab", b"c\xc3\xa9"]), STRING)
    array(['ab', 'cé'], dtype=object)
    """
    if kind == STRING:
        return _texts(stored)
    if is_packed(kind):
        return _unpacked(stored, kind)
    if kind == CHAR and stored.dtype.kind in "iu":
        return stored.view("S1")
    try:
        if isinstance(kind, Compound) and stored.dtype.names is None:
            stored = np.ascontiguousarray(stored).view(little_endian(kind)).reshape(stored.shape)
        return np.asarray(stored).astype(kind.numpy, copy=False)
    except (TypeError, ValueError) as error:
        raise CorruptError(f"elements of {stored.dtype} are no values of the type {kind.name}: {error}") from None


def to_stored(values: Values, kind: Type, dtype: np.dtype[Any]) -> Values:
    """Return values of a type as elements to be stored in an array whose elements have a NumPy type.

    Strings that are longer than a fixed number of bytes are cut between two characters; `longest` tells beforehand.

    >>> to_stored(np.array(["ab", "cé"], object), STRING, np.dtype("S2"))
    array([b'ab', b'c'], dtype='|S2')
    """
    if kind == STRING:
        if dtype.kind == "S":
            return _encoded(values, dtype.itemsize)
        made = np.empty(values.shape, object)
        made.reshape(-1)[:] = [_NOTHING.decode() if text is None else _whole(str(text)) for text in values.reshape(-1)]
        return made
    if is_packed(kind):
        made = np.empty(values.shape, object)
        made.reshape(-1)[:] = [pack(value, kind) for value in values.reshape(-1)]
        return made
    if isinstance(kind, Compound) and dtype.names is None:
        return np.ascontiguousarray(values.astype(little_endian(kind))).view(dtype).reshape(values.shape)
    return values.astype(dtype, copy=False)


def stored_fill(fill: Any, kind: Type) -> Any:  # noqa: ANN401 - an element of any type
    """Return a fill value of a type as the element that stands for it: bytes for strings and what is packed."""
    if kind == STRING:
        return ("" if fill is None else str(fill)).encode("utf-8", "surrogateescape")
    if is_packed(kind):
        return pack(fill, kind)
    return np.asarray(fill, kind.numpy).astype(little_endian(kind))[()]


def longest(values: Values) -> int:
    """Return the most bytes that a string among values takes.

    >>> longest(np.array(["a", "é", None], object))
    2
    """
    return max((len(text.encode("utf-8", "surrogateescape")) for text in values.reshape(-1) if text), default=0)


def cut(data: bytes, size: int) -> bytes:
    r"""Return the whole characters among the first bytes of a text in UTF-8.

    >>> cut("aé".encode(), 2), cut("aé".encode(), 3)
    (b'a', b'a\xc3\xa9')
    """
    if len(data) <= size:
        return data
    end = size
    while end > max(0, size - 3) and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[: end if data[end] & 0xC0 != 0x80 else size]


def _texts(stored: Values) -> Values:
    made = np.empty(stored.shape, object)
    flat: list[Any] = np.asarray(stored).reshape(-1).tolist()
    if stored.dtype.kind == "S":
        flat = [data.decode("utf-8", "surrogateescape") for data in flat]
    elif stored.dtype.kind not in "UTO":
        raise CorruptError(f"elements of {stored.dtype} are no text")
    elif stored.dtype.kind == "O":
        flat = [one.decode("utf-8", "surrogateescape") if isinstance(one, bytes) else one for one in flat]
    nothing = _NOTHING.decode()
    made.reshape(-1)[:] = [None if text == nothing else text for text in flat]
    return made


def _encoded(values: Values, size: int) -> Values:
    nothing = _NOTHING if size >= len(_NOTHING) else b""
    flat = [
        nothing if text is None else cut(str(text).encode("utf-8", "surrogateescape"), size)
        for text in values.reshape(-1)
    ]
    return np.array(flat, f"S{size}").reshape(values.shape)


def _whole(text: str) -> str:
    """Return text without bytes that are no UTF-8, which arrays of text cannot hold, shown as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        warn(f"{text!r} has bytes that are no UTF-8, which this array cannot hold; U+FFFD stands for them")
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text


def _unpacked(stored: Values, kind: Type) -> Values:
    made = np.empty(stored.shape, kind.numpy)
    flat = made.reshape(-1)
    for at, data in enumerate(stored.reshape(-1)):
        flat[at] = unpack(bytes(data or b""), kind)
    return made
