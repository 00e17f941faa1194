"""Element types: a NumPy dtype where there is one, and the types of variable length.

The names are those of the Zarr v3 core and of the zarr-extensions registry, because they are the only complete set:
https://zarr-specs.readthedocs.io/en/latest/v3/data-types/index.html
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.model.small import PAIRS, SMALL, is_pair, is_small, pair_numpy, small_numpy
from omnizarr.model.structs import check_struct, in_order, struct_order

if TYPE_CHECKING:
    import numpy.typing as npt

VLEN_ITEMSIZE = 16
"""Bytes of the record that stands for one value of variable length in the kernel's buffers."""

MAX_ITEM: Final = 2**31 - 1
"""Most bytes that a NumPy dtype can have."""

STRING_NUMPY: np.dtype[Any] = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else np.dtype(object)
"""What users see for variable-length strings: NumPy 2 has a type for them, NumPy 1 only `object`."""

Family: TypeAlias = Literal[
    "bool",
    "int",
    "uint",
    "float",
    "complex",
    "time",
    "text",
    "fixed",
    "raw",
    "struct",
    "small",
    "pair",
    "string",
    "bytes",
    "object",
]
"""What a type is made of, whatever its size; NumPy's letter "V" stands for four of these.

"text" and "fixed" are strings and bytes of one length, "small" the numbers of ml_dtypes, "pair" complex ones of those.
"""

_FIXED_NAMES: Final = {"S": "null_terminated_bytes", "U": "fixed_length_utf32", "V": "raw_bytes"}
_TIME_NAMES: Final = {"M": "numpy.datetime64", "m": "numpy.timedelta64"}
_RAW_BITS: Final = r"r([1-9][0-9]{0,9})"  # which in bytes is less than MAX_ITEM
_ALIASES: Final = {"complex_float32": "complex64", "complex_float64": "complex128"}
_LONG: Final = (np.dtype("longdouble"), np.dtype("clongdouble"))

_FAMILIES: Final[dict[str, Family]] = {
    "bool": "bool",
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "int"),
    **dict.fromkeys(("uint8", "uint16", "uint32", "uint64"), "uint"),
    **dict.fromkeys(("float16", "float32", "float64", _LONG[0].name), "float"),
    **dict.fromkeys(("complex64", "complex128", _LONG[1].name), "complex"),
    **dict.fromkeys(_TIME_NAMES.values(), "time"),
    **dict.fromkeys(("struct", "structured"), "struct"),
    **dict.fromkeys(SMALL, "small"),
    **dict.fromkeys(PAIRS, "pair"),
    "null_terminated_bytes": "fixed",
    "fixed_length_utf32": "text",
    "raw_bytes": "raw",
}


class DType(NamedTuple):
    """An element type; a NamedTuple rather than a dataclass because opening an array and importing make many of them.

    >>> DType.of("<u2").name, DType.of(str).name, DType.of("S5").name, DType.of([("x", "f4"), ("y", "f4")]).name
    ('uint16', 'string', 'null_terminated_bytes', 'struct')
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
        """Make a type from whatever NumPy accepts, from a name of the registry, or from `str` or `bytes`.

        Raises:
            UnsupportedError: The type has no place in the model: `object`, zero bytes, arrays as elements.
        """
        if isinstance(what, DType):
            return what
        if what is str or (isinstance(what, str) and what in ("string", "str")):
            return STRING
        if what is bytes or (isinstance(what, str) and what == "bytes"):
            return BYTES
        if isinstance(what, str):
            named = registered(what)
            if named is not None:
                return named
        try:
            dtype = np.dtype(what)
        except (TypeError, ValueError) as error:
            raise UnsupportedError(f"{what!r} is not an element type: {error}") from error
        if dtype.kind == "T":
            return STRING
        return cls(dtype, _name(dtype))

    @property
    def family(self) -> Family:
        """What the type is made of: a word for each kind that is packed, written and read in its own way."""
        return self.vlen or _FAMILIES.get(self.name, "raw")

    @property
    def is_vlen(self) -> bool:
        """Whether the values vary in length."""
        return self.vlen != ""

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory; for variable length those of the kernel's record."""
        return VLEN_ITEMSIZE if self.vlen else self.numpy.itemsize

    @property
    def components(self) -> int:
        """How many numbers one element holds: two in complex ones, one for each byte or letter in those of a length."""
        family = self.family
        if family in ("complex", "pair"):
            return 2
        if family in ("fixed", "raw", "struct"):
            return self.numpy.itemsize
        return self.numpy.itemsize // 4 if family == "text" else 1

    @property
    def bits(self) -> int:
        """How many bits of one component count: 1 of a bool, 4 of an `int4`, else all of its bytes."""
        name = PAIRS.get(self.name, self.name)
        if name in SMALL:
            return SMALL[name]
        return 1 if name == "bool" else 8 * self.itemsize // self.components

    @property
    def swap_unit(self) -> int:
        """Bytes of the unit that a change of byte order reverses; 1 where there is none, as in structures."""
        family = self.family
        if family in ("complex", "pair"):
            return self.numpy.itemsize // 2
        if family == "text":
            return 4
        return self.numpy.itemsize if family in ("int", "uint", "float", "time", "small") else 1

    @property
    def has_order(self) -> bool:
        """Whether byte order means something to the type, or to a field of it."""
        return self.swap_unit > 1 or (self.family == "struct" and struct_order(self.numpy) != "")

    @property
    def byteorder(self) -> Literal["", "little", "big"]:
        """The byte order in memory; the empty string where it means nothing, or the fields of a structure differ."""
        numpy = self.numpy
        order = numpy.byteorder
        if order == "|" or self.vlen:
            if numpy.names is None:
                return ""
            if self.family == "pair":  # which is always in the machine's order
                return sys.byteorder if self.swap_unit > 1 else ""
            found = struct_order(numpy)
            return "" if found == "mixed" else found
        if numpy.itemsize == 1:  # ml_dtypes gives its types an order, whatever their size
            return ""
        if order == "=":
            return sys.byteorder
        return "big" if order == ">" else "little"

    @property
    def label(self) -> str:
        """A short text for people."""
        if self.vlen or self.family == "pair":
            return self.vlen or self.name
        text = str(self.numpy)
        return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"

    def with_byteorder(self, order: Literal["little", "big", "native"]) -> DType:
        """Give the same type in another byte order; types without a byte order come back unchanged.

        So do the types that NumPy does not have itself: in memory they only ever are in the machine's order.

        Raises:
            UnsupportedError: A structure has a field of such a type.
        """
        wanted = sys.byteorder if order == "native" else order
        family = self.family
        if family == "struct":
            made = in_order(self.numpy, wanted)
            return self if made == self.numpy else self._replace(numpy=made)
        if self.byteorder in ("", wanted) or family in ("small", "pair"):
            return self
        return self._replace(numpy=self.numpy.newbyteorder(order))


_LABEL: Final = 80


def registered(name: str) -> DType | None:
    """Find a type that is its name alone and that NumPy does not know by it; `None` if there is none.

    Raises:
        UnsupportedError: The package that has it is not installed.

    >>> registered("r24").numpy, registered("complex_float16").itemsize, registered("float32")
    (dtype('V3'), 4, None)
    """
    if name in SMALL:
        return DType(small_numpy(name), name)
    if name in PAIRS:
        return DType(pair_numpy(name), name)
    if name in _ALIASES:
        return DType(np.dtype(_ALIASES[name]), _ALIASES[name])
    if name[:1] == "r":
        found = re.fullmatch(_RAW_BITS, name)
        if found is not None:
            size, rest = divmod(int(found[1]), 8)
            if rest:
                raise UnsupportedError(f"the data type {name!r} does not have a whole number of bytes")
            return DType(np.dtype(f"V{size}"), name)
    return None


def field_type(dtype: np.dtype[Any]) -> DType:
    """Make the type of a field from its NumPy type.

    Two equal numbers of ml_dtypes called `real` and `imag` are taken for the complex type, of which NumPy has no other
    form; two of float16 are not, because more readers know a structure than `complex_float16`.
    """
    if is_pair(dtype) and is_small(dtype["real"]):
        return DType(dtype, f"complex_{dtype['real'].name}")
    return DType.of(dtype)


def _name(dtype: np.dtype[Any]) -> str:
    kind = dtype.kind
    if dtype.subdtype is not None:
        hint = "Make the array larger by its dimensions instead."
        raise UnsupportedError(f"the elements of an array cannot be arrays themselves ({dtype})", hint=hint)
    if dtype.names is not None:
        check_struct(dtype)
        return "struct"
    if is_small(dtype):
        # Packages may give their types any name, so only the very type counts.
        if dtype.name in SMALL and small_numpy(dtype.name) == dtype:
            return dtype.name
        hint = 'For complex numbers of two bytes say dtype="complex_float16" or "complex_bfloat16".'
        raise UnsupportedError(f"the element type {dtype} is not supported", hint=hint if dtype.kind != "V" else None)
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
    if kind in "biufc":
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
