"""Elements whose number of bytes varies, packed into bytes: sequences, and compounds with strings or sequences in them.

docs/reference/nczarr.md says how the bytes lie.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from omnizarr.errors import CorruptError
from omnizarr.nc.source import Values
from omnizarr.nc.types import STRING, Compound, Type, Vlen, is_fixed

_NOT_THERE: Final = 0xFFFFFFFF


def little_endian(kind: Type) -> np.dtype[Any]:
    """Return the NumPy type of stored elements of a type without strings and sequences: packed and little-endian."""
    if isinstance(kind, Compound):
        return np.dtype([(field.name, little_endian(field.type), field.shape) for field in kind.fields])
    return kind.numpy.newbyteorder("<")


def pack(value: Any, kind: Type) -> bytes:  # noqa: ANN401 - an element of any type
    r"""Return one element as bytes; a sequence without the number of its elements.

    >>> from omnizarr.nc.types import SHORT
    >>> pack(np.array([1, 2]), Vlen("v", SHORT)), pack("é", STRING)
    (b'\x01\x00\x02\x00', b'\x02\x00\x00\x00\xc3\xa9')
    """
    if isinstance(kind, Vlen):
        return _pack_all(_sequence(value, kind.base), kind.base)
    return _pack_all(_one(value, kind), kind)


def unpack(data: bytes, kind: Type) -> Any:  # noqa: ANN401 - as above
    """Return the element that bytes stand for.

    Raises:
        CorruptError: If they are too few or too many.
    """
    if isinstance(kind, Vlen):
        base = kind.base
        if is_fixed(base):
            size = little_endian(base).itemsize
            if len(data) % size:
                raise CorruptError(f"a sequence of {kind.name} has {len(data)} bytes, and its elements {size} each")
            return _fixed(data, 0, len(data) // size, base)
        values: list[Any] = []
        at = 0
        while at < len(data):
            value, at = _unpack(data, at, base)
            values.append(value)
        return _gathered(values, base)
    value, at = _unpack(data, 0, kind)
    if at != len(data):
        raise CorruptError(f"an element of {kind.name} has {len(data) - at} bytes too many")
    return value


def _pack_all(values: Values, kind: Type) -> bytes:
    """Return the elements of an array, one after the other."""
    if is_fixed(kind):
        return values.astype(little_endian(kind)).tobytes()
    flat = values.reshape(-1)
    if isinstance(kind, Compound):
        rows = (flat[at : at + 1] for at in range(len(flat)))  # of which members stay arrays, whatever they hold
        return b"".join(_pack_all(row[field.name], field.type) for row in rows for field in kind.fields)
    if isinstance(kind, Vlen):
        parts: list[bytes] = []
        for one in flat:
            inner = _sequence(one, kind.base)
            parts += (_count(len(inner)), _pack_all(inner, kind.base))
        return b"".join(parts)
    return b"".join(_pack_text(one) for one in flat)


def _pack_text(text: str | None) -> bytes:
    if text is None:
        return _NOT_THERE.to_bytes(4, "little")
    data = text.encode("utf-8", "surrogateescape")
    return _count(len(data)) + data


def _count(number: int) -> bytes:
    return number.to_bytes(4, "little")


def _sequence(value: Any, base: Type) -> Values:  # noqa: ANN401 - whatever an array can be made of
    if isinstance(value, np.ndarray) and value.dtype == base.numpy:
        return value.reshape(-1)
    if base.numpy.kind != "O":
        return np.asarray(value, base.numpy).reshape(-1)
    return _gathered(list(value), base)


def _one(value: Any, kind: Type) -> Values:  # noqa: ANN401 - as above
    made = np.empty(1, kind.numpy)
    made[0] = value
    return made


def _gathered(values: list[Any], kind: Type) -> Values:
    made = np.empty(len(values), kind.numpy)
    for at, value in enumerate(values):
        made[at] = value
    return made


def _unpack(data: bytes, at: int, kind: Type) -> tuple[Any, int]:
    """Return the element at a place, and the place behind it."""
    if is_fixed(kind):
        return _fixed(data, at, 1, kind)[0], at + little_endian(kind).itemsize
    if isinstance(kind, Compound):
        made = np.empty(1, kind.numpy)
        for field in kind.fields:
            inner = made[field.name]
            for index in np.ndindex(field.shape):
                value, at = _unpack(data, at, field.type)
                inner[(0, *index)] = value
        return made[0], at
    count = int.from_bytes(_cut(data, at, 4), "little")
    at += 4
    if kind == STRING:
        if count == _NOT_THERE:
            return None, at
        return _cut(data, at, count).decode("utf-8", "surrogateescape"), at + count
    assert isinstance(kind, Vlen)  # noqa: S101 - nothing else is left
    if is_fixed(kind.base):
        return _fixed(data, at, count, kind.base), at + count * little_endian(kind.base).itemsize
    values: list[Any] = []
    for _ in range(count):  # each takes bytes, so that a number that is too large ends with them
        value, at = _unpack(data, at, kind.base)
        values.append(value)
    return _gathered(values, kind.base), at


def _fixed(data: bytes, at: int, count: int, kind: Type) -> Values:
    stored = little_endian(kind)
    return np.frombuffer(_cut(data, at, count * stored.itemsize), stored).astype(kind.numpy)


def _cut(data: bytes, at: int, size: int) -> bytes:
    if size > len(data) - at:
        raise CorruptError(f"an element ends after {len(data)} bytes, where {at + size} are needed")
    return data[at : at + size]
