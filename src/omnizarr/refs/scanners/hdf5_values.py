"""Values that go into the set themselves: text, sequences, and small arrays that no reference can describe."""

from __future__ import annotations

import struct
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.errors import LimitError, UnsupportedError
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.scanners.hdf5_elements import Element
from omnizarr.refs.scanners.hdf5_filters import CodecJSON
from omnizarr.refset.model import Chunks

MOST_EMBEDDED: Final = 1 << 20
"""Most bytes of numbers that are taken into the set because there is no other way."""

_MOST_TEXT: Final = 1 << 24
"""Most bytes of text and sequences of one array, and most of their elements."""


class Laid(NamedTuple):
    """How the elements of a dataset lie, or are made to lie.

    Attributes:
        chunks: The shape of a chunk, the dimensions of elements that are arrays included.
        codecs: What turns bytes into elements, in the order of writing.
        rows: The references, or None if nothing was ever written.
        complete: Whether there is a row for every chunk, so that no fill value is ever seen.
        dtype: What elements are, where only their values could tell.
    """

    chunks: tuple[int, ...]
    codecs: list[CodecJSON]
    rows: Chunks | None
    complete: bool
    dtype: np.dtype[Any] | None = None


def embedded(h5py: Any, dataset: Any, element: Element, why: str = "") -> Laid:  # noqa: ANN401 - a package without types
    """Read all values of a dataset.

    Args:
        h5py: The package.
        dataset: The dataset.
        element: Its elements.
        why: What keeps references from describing it; empty where its values belong into the set in any case.

    Raises:
        LimitError: If that is more than a set should hold.
    """
    shape = (*dataset.shape, *element.tail)
    if element.kind == "records":
        return _records(h5py, dataset, element)
    if element.kind != "plain":
        return _ragged(h5py, dataset, element)
    size = prod(shape) * element.dtype.itemsize
    if why and size > MOST_EMBEDDED:
        raise UnsupportedError(
            f"{why}, and its {size} bytes are too many to be taken into the set",
            hint=f"Up to {MOST_EMBEDDED} bytes are.",
        )
    chunks = tuple(max(length, 1) for length in shape)
    if 0 in shape:
        return Laid(chunks, [], None, complete=True)
    values = read(h5py, dataset, element)
    rows = Chunks.of_bytes((1,) * len(shape), {0: np.ascontiguousarray(values, element.dtype).tobytes()})
    return Laid(chunks, [], rows, complete=True)


def read(h5py: Any, dataset: Any, element: Element, space: Any = None, count: tuple[int, ...] = ()) -> Any:  # noqa: ANN401 - as above
    """Read a dataset, or what a selection of it holds."""
    h5s = h5py.h5s
    values = np.zeros((*(dataset.shape if space is None else count), *element.tail), element.memory)
    whole = element.memory if not element.tail else np.dtype((element.memory, element.tail))
    mtype = h5py.h5t.py_create(whole) if element.tail or not element.exact else None
    memory = h5s.ALL if space is None else h5s.create_simple(count)
    dataset.read(memory, h5s.ALL if space is None else space, values, mtype)
    return values


def _ragged(h5py: Any, dataset: Any, element: Element) -> Laid:  # noqa: ANN401 - as above
    """Read text or sequences, which become one chunk."""
    shape = tuple(dataset.shape)
    chunks = tuple(max(length, 1) for length in shape)
    text = element.kind == "text"
    codec: dict[str, JSON] = {"id": "vlen-utf8"} if text else {"id": "vlen-array", "dtype": element.dtype.str}
    if 0 in shape:
        return Laid(chunks, [codec], None, complete=True)
    if prod(shape) > _MOST_TEXT:
        raise LimitError(f"its {prod(shape)} elements of variable length are too many to be taken into the set")
    if text and dataset.get_create_plist().get_external_count():
        raise UnsupportedError("its text is in another file")
    values = np.zeros(shape, element.memory)
    dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, values)
    items = [_bytes(one, element) for one in values.reshape(-1).tolist()]
    data = b"".join([struct.pack("<I", len(items)), *(part for one in items for part in (_length(one), one))])
    if len(data) > _MOST_TEXT:
        raise LimitError(f"its {len(data)} bytes of variable length are too many to be taken into the set")
    return Laid(chunks, [codec], Chunks.of_bytes((1,) * len(shape), {0: data}), complete=True)


def _records(h5py: Any, dataset: Any, element: Element) -> Laid:  # noqa: ANN401 - as above
    """Read structures with text in them; all text of a field gets the length of its longest."""
    shape = tuple(dataset.shape)
    if prod(shape) * element.memory.itemsize > _MOST_TEXT:
        raise LimitError(f"its {prod(shape)} structures with text in them are too many to be taken into the set")
    values = np.zeros(shape, element.memory)
    dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, values)
    fields: dict[str, np.ndarray[Any, Any]] = {}
    for name in element.memory.names or ():
        column = values[name]
        if column.dtype == object:
            column = _texts([_raw(one) for one in column.reshape(-1).tolist()]).reshape(shape)
        fields[name] = column
    made = np.zeros(shape, [(name, column.dtype.base, column.shape[len(shape) :]) for name, column in fields.items()])
    for name, column in fields.items():
        made[name] = column
    if made.nbytes > _MOST_TEXT:
        raise LimitError(f"its {made.nbytes} bytes of structures are too many to be taken into the set")
    chunks = tuple(max(length, 1) for length in shape)
    rows = None if 0 in shape else Chunks.of_bytes((1,) * len(shape), {0: made.tobytes()})
    return Laid(chunks, [], rows, complete=True, dtype=made.dtype)


def _texts(values: list[bytes]) -> np.ndarray[Any, Any]:
    """Return text as characters, of one length; as bytes where it is no UTF-8."""
    try:
        made = [one.decode() for one in values]
    except UnicodeDecodeError:
        return np.array(values, f"S{max(map(len, values), default=0) or 1}")
    return np.array(made, f"<U{max(map(len, made), default=0) or 1}")


def _raw(value: Any) -> bytes:  # noqa: ANN401 - whatever h5py gives
    return value if isinstance(value, bytes) else str(value or "").encode("utf-8", "surrogateescape")


def _length(data: bytes) -> bytes:
    return struct.pack("<I", len(data))


def _bytes(value: Any, element: Element) -> bytes:  # noqa: ANN401 - whatever h5py gives
    if element.kind == "ragged":
        return np.ascontiguousarray(value, element.dtype).tobytes() if isinstance(value, np.ndarray) else b""
    data = _raw(value)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise UnsupportedError(f"its text is not UTF-8: {data[:40]!r}") from error
    return data
