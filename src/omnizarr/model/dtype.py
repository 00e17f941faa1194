"""Element types: a NumPy dtype where there is one, and the types of variable length.

The names are those of the Zarr v3 core and of the zarr-extensions registry, because they are the only complete set:
https://zarr-specs.readthedocs.io/en/latest/v3/data-types/index.html
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from omnizarr.errors import UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

VLEN_ITEMSIZE = 16
"""Bytes of the record that stands for one value of variable length in the kernel's buffers."""

STRING_NUMPY: np.dtype[Any] = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else np.dtype(object)
"""What users see for variable-length strings: NumPy 2 has a type for them, NumPy 1 only `object`."""

_FIXED_NAMES = {"S": "null_terminated_bytes", "U": "fixed_length_utf32", "V": "raw_bytes"}
_TIME_NAMES = {"M": "numpy.datetime64", "m": "numpy.timedelta64"}


class DType(NamedTuple):
    """An element type; a NamedTuple rather than a dataclass because opening an array and importing make many of them.

    >>> DType.of("<u2").name, DType.of(str).name, DType.of("S5").name
    ('uint16', 'string', 'null_terminated_bytes')
    """

    numpy: np.dtype[Any]
    """What users see, with its byte order; `object` (or NumPy's StringDType) for the types of variable length."""

    name: str
    """The neutral name: `int32`, `string`, `bytes`, `fixed_length_utf32`, …"""

    vlen: Literal["", "string", "bytes", "object"] = ""
    """Which of the types of variable length it is, or the empty string."""

    item: Literal["", "json", "msgpack", "array", "optional"] = ""
    """Of objects, how one of them becomes bytes in the kernel's buffers; see `omnizarr.model.items`."""

    inner: DType | None = None
    """Of objects, the type of what an `array` or an `optional` holds."""

    @classmethod
    def of(cls, what: DType | npt.DTypeLike) -> DType:
        """Make a type from whatever NumPy accepts, or from `str`, `bytes`, "string" or "bytes".

        Raises:
            UnsupportedError: The type has no place in the model: `object`, zero bytes, structures, long doubles.
        """
        if isinstance(what, DType):
            return what
        if what is str or (isinstance(what, str) and what in ("string", "str")):
            return STRING
        if what is bytes or (isinstance(what, str) and what == "bytes"):
            return BYTES
        try:
            dtype = np.dtype(what)
        except TypeError as error:
            raise UnsupportedError(f"{what!r} is not an element type: {error}") from error
        if dtype.kind == "T":
            return STRING
        return cls(dtype, _name(dtype))

    @property
    def is_vlen(self) -> bool:
        """Whether the values vary in length."""
        return self.vlen != ""

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory; for variable length those of the kernel's record."""
        return VLEN_ITEMSIZE if self.vlen else self.numpy.itemsize

    @property
    def swap_unit(self) -> int:
        """Bytes of the unit that a change of byte order reverses; 1 where byte order means nothing."""
        if self.vlen:
            return 1
        dtype = self.numpy
        kind = dtype.kind
        if kind in "SVb":
            return 1
        if kind == "U":
            return 4
        return dtype.itemsize // 2 if kind == "c" else dtype.itemsize

    @property
    def byteorder(self) -> Literal["", "little", "big"]:
        """The byte order in memory, or the empty string where it means nothing."""
        if self.swap_unit == 1:
            return ""
        order = self.numpy.byteorder
        if order == "=":
            return sys.byteorder
        return "big" if order == ">" else "little"

    def with_byteorder(self, order: Literal["little", "big", "native"]) -> DType:
        """Give the same type in another byte order; types without a byte order come back unchanged."""
        if self.byteorder in ("", sys.byteorder if order == "native" else order):
            return self
        return self._replace(numpy=self.numpy.newbyteorder(order))


def _name(dtype: np.dtype[Any]) -> str:
    kind = dtype.kind
    if dtype.names is not None or dtype.subdtype is not None:
        raise UnsupportedError(f"the structured type {dtype} is not supported yet")
    if kind == "O":
        hint = (
            'Say which objects: dtype="string" or dtype="bytes"; or, in format "zarr2", name a codec for any objects: '
            'codecs=["json2"].'
        )
        raise UnsupportedError("arrays of Python objects cannot be stored", hint=hint)
    if dtype.itemsize == 0:
        hint = f'Give a length as in "{kind}10", or take "string" or "bytes" for values of any length.'
        raise UnsupportedError(f"the type {dtype} has no bytes", hint=hint)
    if kind in _FIXED_NAMES:
        return _FIXED_NAMES[kind]
    if kind in _TIME_NAMES:
        return _TIME_NAMES[kind]
    if kind in "biufc" and dtype.itemsize <= (16 if kind == "c" else 8):
        return dtype.name
    raise UnsupportedError(f"the element type {dtype} is not supported")


STRING = DType(STRING_NUMPY, "string", "string")
"""Unicode text of any length."""

BYTES = DType(np.dtype(object), "bytes", "bytes")
"""Byte strings of any length."""

JSON_OBJECTS = DType(np.dtype(object), "object", "object", "json")
"""Whatever JSON can say: text, numbers, lists, mappings, None."""

MSGPACK_OBJECTS = DType(np.dtype(object), "object", "object", "msgpack")
"""Whatever MessagePack can say: as JSON, and byte strings."""


def arrays_of(inner: DType) -> DType:
    """Make the type whose elements are arrays of one dimension and any length."""
    return DType(np.dtype(object), "object", "object", "array", inner)


def optional_of(inner: DType) -> DType:
    """Make the type whose elements are those of another type, or None."""
    return DType(np.dtype(object), "zarrs.optional", "object", "optional", inner)
