"""Between attributes of the tree and what users give and get for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.errors import StoreError
from omnizarr.nc.dataset.errors import BadOptionError, BadTypeError
from omnizarr.nc.dataset.usertypes import find_compound, packed_members, unpacked
from omnizarr.nc.tree import Attr, Group
from omnizarr.nc.types import CHAR, INT, INT64, STRING, Compound, Type, of_numpy


def to_attr(name: str, value: object, group: Group, *, as_string: bool = False, model: str = "NETCDF4") -> Attr:
    """Return the attribute that a value makes.

    Text is stored as characters if it is ASCII, else as a string; several texts are strings.

    Args:
        name: Its name.
        value: A number, text, bytes, or a one-dimensional sequence of them.
        group: Where user types are looked for.
        as_string: Store text as a string in any case.
        model: The data model; only NETCDF4 has strings.

    Raises:
        BadTypeError: If netCDF has no type for the value.
        BadOptionError: If it has more than one dimension.
    """
    array = np.array(value)
    if array.ndim > 1:
        raise BadOptionError(f"attribute {name}: multi-dimensional array attributes not supported")
    if array.dtype.kind in "SUT":
        return _text(name, array, as_string=as_string, plain=model != "NETCDF4")
    if array.dtype.names is not None:
        compound = find_compound(group, array.dtype)
        return Attr(name, compound, packed_members(compound, np.atleast_1d(array)))
    kind = of_numpy(array.dtype)
    if kind is None or kind in (STRING, CHAR):
        raise BadTypeError(f"illegal data type for attribute {name}: {array.dtype}")
    if kind == INT64 and model not in ("NETCDF4", "NETCDF3_64BIT_DATA"):
        kind = INT
    return Attr(name, kind, np.atleast_1d(array).astype(kind.numpy))


def typed_attr(name: str, value: object, kind: Type) -> Attr:
    """Return an attribute of the type of its variable, as `_FillValue` is."""
    if kind == STRING:
        return Attr.of_values(name, STRING, value.decode() if isinstance(value, bytes) else str(value))
    if kind == CHAR:
        given = np.asarray(value, "S1").item()
        return Attr.of_text(name, given or b"\0")
    given = np.atleast_1d(np.array(value))
    if kind.numpy.kind in "iu" and given.dtype.kind in "iuf":
        limits = np.iinfo(kind.numpy)
        if not all(limits.min <= one <= limits.max for one in given.tolist()):
            raise BadOptionError(f"{name} {value} is out of range for {kind.name}")
    return Attr(name, kind, given.astype(kind.numpy))


def from_attr(attr: Attr, encoding: str = "utf-8") -> Any:  # noqa: ANN401 - text, a number or an array
    """Return the value of an attribute: text, a list of texts, a number of NumPy, or an array."""
    if attr.type == CHAR:
        raw: bytes = attr.value
        return raw if attr.name == "_FillValue" else raw.decode(encoding, "replace").replace("\0", "")
    if attr.type == STRING:
        texts = [_decoded(text or "", encoding) for text in attr.value]
        return texts[0] if len(texts) == 1 else texts
    values = attr.value
    if isinstance(attr.type, Compound):
        values = unpacked(attr.type, values, as_text=True)
    return values[0] if len(values) == 1 else values.copy()


def _decoded(text: str, encoding: str) -> str:
    """Return a string whose bytes are of another encoding than the one that they were taken for."""
    if encoding == "utf-8" and text.isascii():
        return text
    raw = text.encode("utf-8", "surrogateescape")
    return raw.decode(encoding, "replace").replace("\0", "")


def _text(name: str, array: np.ndarray[Any, Any], *, as_string: bool, plain: bool) -> Attr:
    texts = [one.decode("utf-8", "surrogateescape") if isinstance(one, bytes) else str(one) for one in array.flat]
    if len(texts) > 1:
        if plain:
            raise StoreError(f"attribute {name}: array string attributes can only be written with NETCDF4")
        return Attr.of_values(name, STRING, texts)
    text = texts[0] if texts else ""
    if not plain and (as_string or (array.dtype.kind != "S" and not text.isascii())):
        return Attr.of_values(name, STRING, text)
    return Attr.of_text(name, text)
