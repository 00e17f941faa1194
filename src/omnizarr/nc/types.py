"""The types of netCDF: twelve atomic ones, and those that a dataset defines itself.

How values of each type lie in memory, everywhere in this package:

=========  ==============================================================================================
char       `S1`
string     `object`, each element a `str`, or `None` for the string that is not there (CDL's `NIL`)
enum       the integers of its base
opaque     `V<size>`
compound   a structured type; members with a shape are sub-arrays
vlen       `object`, each element a one-dimensional array of the base
others     the NumPy type of that name, in the machine's byte order
=========  ==============================================================================================
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np


class Atomic(NamedTuple):
    """One of the twelve types that every dataset has."""

    name: str
    """As CDL spells it."""
    code: int
    """The number that the C library gives it (`nc_type`)."""
    text: str
    """NumPy's word for values in memory."""
    fill: Any
    """What elements hold that were never written, unless a variable says otherwise."""

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type of values in memory."""
        return np.dtype(self.text)


BYTE: Final = Atomic("byte", 1, "i1", -127)
CHAR: Final = Atomic("char", 2, "S1", b"\0")
SHORT: Final = Atomic("short", 3, "i2", -32767)
INT: Final = Atomic("int", 4, "i4", -2147483647)
FLOAT: Final = Atomic("float", 5, "f4", 9.969209968386869e36)
DOUBLE: Final = Atomic("double", 6, "f8", 9.969209968386869e36)
UBYTE: Final = Atomic("ubyte", 7, "u1", 255)
USHORT: Final = Atomic("ushort", 8, "u2", 65535)
UINT: Final = Atomic("uint", 9, "u4", 4294967295)
INT64: Final = Atomic("int64", 10, "i8", -9223372036854775806)
UINT64: Final = Atomic("uint64", 11, "u8", 18446744073709551614)
STRING: Final = Atomic("string", 12, "O", "")

ATOMIC: Final = (BYTE, CHAR, SHORT, INT, FLOAT, DOUBLE, UBYTE, USHORT, UINT, INT64, UINT64, STRING)
BY_NAME: Final = {one.name: one for one in ATOMIC}
BY_CODE: Final = {one.code: one for one in ATOMIC}
NUMERIC: Final = tuple(one for one in ATOMIC if one not in (CHAR, STRING))
_BY_NUMPY: Final = {one.text: one for one in NUMERIC}


class Enum(NamedTuple):
    """Integers with names."""

    name: str
    base: Atomic
    members: tuple[tuple[str, int], ...]
    home: str = "/"
    """Path of the group that defines the type."""

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type of values in memory."""
        return self.base.numpy


class Opaque(NamedTuple):
    """Bytes of a fixed number, without a meaning."""

    name: str
    size: int
    home: str = "/"

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type of values in memory."""
        return np.dtype((np.void, self.size))


class Field(NamedTuple):
    """A member of a compound type."""

    name: str
    type: Type
    shape: tuple[int, ...] = ()


class Compound(NamedTuple):
    """Named members, one after the other."""

    name: str
    fields: tuple[Field, ...]
    home: str = "/"

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type of values in memory."""
        return np.dtype([(field.name, field.type.numpy, field.shape) for field in self.fields])


class Vlen(NamedTuple):
    """Sequences of elements of one type."""

    name: str
    base: Type
    home: str = "/"

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type of values in memory."""
        return np.dtype(object)


User: TypeAlias = Enum | Opaque | Compound | Vlen
Type: TypeAlias = Atomic | Enum | Opaque | Compound | Vlen


def of_numpy(dtype: np.dtype[Any]) -> Atomic | None:
    """Return the atomic type of values of a NumPy type, or `None` if netCDF has none.

    >>> of_numpy(np.dtype(">f4")).name, of_numpy(np.dtype("S1")).name, of_numpy(np.dtype("c8"))
    ('float', 'char', None)
    """
    if dtype.kind in "iuf":
        return _BY_NUMPY.get(f"{dtype.kind}{dtype.itemsize}")
    if dtype.kind == "S":
        return CHAR if dtype.itemsize == 1 else STRING
    return STRING if dtype.kind in "UOT" else None


def type_path(one: Type) -> str:
    """Return the name under which a type can be found from anywhere: `int`, `/grid/point`.

    >>> type_path(INT), type_path(Opaque("blob", 4)), type_path(Opaque("blob", 4, "/a"))
    ('int', '/blob', '/a/blob')
    """
    return one.name if isinstance(one, Atomic) else f"{one.home.rstrip('/')}/{one.name}"


def is_fixed(one: Type) -> bool:
    """Whether all values of a type take the same number of bytes: no strings and no sequences in it."""
    if isinstance(one, Compound):
        return all(is_fixed(field.type) for field in one.fields)
    return one != STRING and not isinstance(one, Vlen)


def default_fill(one: Type) -> Any:  # noqa: ANN401 - a scalar of the type
    """Return what elements of a type hold that were never written.

    >>> default_fill(SHORT), default_fill(STRING)
    (np.int16(-32767), '')
    """
    if isinstance(one, Atomic):
        return one.fill if one in (CHAR, STRING) else one.numpy.type(one.fill)
    if isinstance(one, Vlen):
        return np.empty(0, one.base.numpy)
    if isinstance(one, Enum):
        return one.numpy.type(0)
    return zeros((), one)[()]


def zeros(shape: tuple[int, ...], one: Type) -> np.ndarray[Any, Any]:
    """Return an array of nothing: zeros, empty strings, empty sequences.

    >>> zeros((2,), STRING)
    array(['', ''], dtype=object)
    """
    array = np.zeros(shape, one.numpy)
    _empty_objects(array, one)
    return array


def _empty_objects(array: np.ndarray[Any, Any], one: Type) -> None:
    if one == STRING:
        array[...] = ""
    elif isinstance(one, Vlen):
        for index in np.ndindex(array.shape):
            array[index] = np.empty(0, one.base.numpy)
    elif isinstance(one, Compound) and not is_fixed(one):
        for field in one.fields:
            _empty_objects(array[field.name], field.type)
