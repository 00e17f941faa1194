"""The attribute `_FillValue`, which tells readers which value means "no data", as each format has it.

Older formats spell it as JSON spells numbers and text. In Zarr v3 it is as xarray reads and writes it there: floats in
base64 of their value as eight bytes, byte strings in base64. Of the latter xarray reads back none, and opens no dataset
that has one; so where the array's own fill value says the same, that has to do.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from omnizarr.model.jsonvalue import JSON

FILL: Final = "_FillValue"


def fill_attribute(value: float | None, dtype: np.dtype[Any], dialect: str) -> dict[str, JSON]:
    """Return the attribute, if there is such a value and JSON has it.

    >>> fill_attribute(-1, np.dtype("i2"), "zarr3"), fill_attribute(0.5, np.dtype("f4"), "zarr2")
    ({'_FillValue': -1}, {'_FillValue': 0.5})
    """
    if value is None:
        return {}
    if dialect == "zarr3":
        return as_v3({FILL: value}, dtype)
    return {FILL: value} if math.isfinite(value) else {}


def as_v3(attributes: Mapping[str, JSON], dtype: np.dtype[Any], bits: bytes | None = None) -> dict[str, JSON]:
    """Return attributes of an older format as Zarr v3 has them.

    Args:
        attributes: Those of an array.
        dtype: Its data type.
        bits: Its fill value.

    >>> as_v3({"units": "K", "_FillValue": 0.5}, np.dtype("f4"))
    {'units': 'K', '_FillValue': 'AAAAAAAA4D8='}
    """
    value = attributes.get(FILL)
    if isinstance(value, list) and len(value) == 1:  # as files have it that do not tell one value from a list of one
        value = value[0]
    if dtype.kind == "f":
        number = _number(value)
        return dict(attributes) if number is None else {**attributes, FILL: packed(number)}
    if dtype.kind == "S" and isinstance(value, str):
        if bits is not None and bits.rstrip(b"\0") == value.encode().rstrip(b"\0"):
            return {name: one for name, one in attributes.items() if name != FILL}
        return {**attributes, FILL: as_base64(value.encode())}
    return dict(attributes)


def with_mask(attributes: Mapping[str, JSON], dtype: np.dtype[Any], bits: bytes | None) -> dict[str, JSON]:
    r"""Return attributes as Zarr v3 has them, for an array whose fill value alone said which elements are missing.

    That is how xarray reads older formats, and writes them: the fill value is the mask. In v3 only the attribute is.

    Args:
        attributes: Those of an array with named dimensions, as v3 has them; one that is there stays.
        dtype: Its data type.
        bits: Its fill value, as stored in memory.

    >>> with_mask({}, np.dtype("i2"), b"\xff\xff"), with_mask({}, np.dtype("i2"), None)
    ({'_FillValue': -1}, {})
    """
    if bits is None or FILL in attributes or is_netcdf(attributes) or dtype.kind not in "biufc":
        return dict(attributes)
    value = np.frombuffer(bits, dtype)[0].item()
    if value != value:  # noqa: PLR0124 - NaN stands for itself, masked or not
        return dict(attributes)
    made: JSON = value
    if isinstance(value, float):
        made = packed(value)
    elif isinstance(value, complex):
        made = [packed(value.real), packed(value.imag)]
    return {**attributes, FILL: made}


def is_netcdf(attributes: Mapping[str, JSON]) -> bool:
    """Whether attributes are those of an array of NCZarr, which has the attribute wherever it has a mask."""
    return any(name[:3].lower() == "_nc" for name in attributes)


def without_nan(attributes: Mapping[str, JSON], fill: object) -> dict[str, JSON]:
    """Return attributes of an older format without a NaN that the fill value says as well.

    JSON has no such number, and readers that make v3 of the documents stumble over it.

    Args:
        attributes: Those of an array.
        fill: Its fill value, None if it has none.

    >>> nan = float("nan")
    >>> without_nan({"units": "K", "_FillValue": nan}, nan), without_nan({"_FillValue": 0.5}, 0.5)
    ({'units': 'K'}, {'_FillValue': 0.5})
    """
    number = _number(attributes.get(FILL))
    if number is None or not math.isnan(number) or not isinstance(fill, (float, np.floating)) or not np.isnan(fill):
        return dict(attributes)
    return {name: value for name, value in attributes.items() if name != FILL}


def as_v2(attributes: Mapping[str, JSON], dtype: np.dtype[Any]) -> dict[str, JSON]:
    """Return attributes of Zarr v3 as older formats have them; what is not spelled as above stays.

    >>> as_v2({"units": "K", "_FillValue": "AAAAAAAA4D8="}, np.dtype("f4"))
    {'units': 'K', '_FillValue': 0.5}
    """
    value = attributes.get(FILL)
    if dtype.kind not in "fS" or not isinstance(value, str):
        return dict(attributes)
    try:
        made: JSON = from_base64(value).decode() if dtype.kind == "S" else unpacked(value)
    except ValueError:
        return dict(attributes)
    return {**attributes, FILL: made}


def _number(value: JSON) -> float | None:
    """Return a value as a float, also where it is one that JSON has no number for."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return float(value) if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity") else None


def as_base64(value: bytes) -> str:
    """Return bytes as the attribute has them."""
    return base64.standard_b64encode(value).decode()


def from_base64(text: str) -> bytes:
    """Return the bytes that `as_base64` made a text of.

    Raises:
        ValueError: If it did not.
    """
    return binascii.a2b_base64(text, strict_mode=True)


def packed(number: float) -> str:
    """Return a float as the attribute has it.

    >>> packed(0.5), unpacked("AAAAAAAA4D8=")
    ('AAAAAAAA4D8=', 0.5)
    """
    return as_base64(struct.pack("<d", number))


def unpacked(text: str) -> float:
    """Return the float that `packed` made a text of.

    Raises:
        ValueError: If it did not.
    """
    try:
        number: float = struct.unpack("<d", from_base64(text))[0]
    except struct.error as error:
        raise ValueError(f"{text!r} is no float") from error
    return number


def from_json(value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - JSON in, a scalar out
    """Return the fill value that the attribute says in Zarr v3; what says none of the type is returned as it is.

    Whoever else than xarray wrote the attribute wrote a number, which is taken as it is.

    >>> from_json("AAAAAAAA4D8=", np.dtype("f4")).item(), from_json(255, np.dtype("i1")).item()
    (0.5, -1)
    """
    kind = dtype.kind
    try:
        if kind == "c" and isinstance(value, list) and len(value) == 2:
            return dtype.type(complex(_float(value[0]), _float(value[1])))
        if kind == "S" and isinstance(value, str):
            return from_base64(value)
        if kind == "f" and isinstance(value, str):
            return np.dtype(dtype.newbyteorder("=")).type(_float(value))
        if kind in "iu" and isinstance(value, (int, float)):
            return _whole(value, dtype)
        if kind in "fb" and isinstance(value, (int, float)):
            return dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        pass
    return value


def _whole(value: float, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - as above
    """Return a whole number of a type; 255 is taken for the signed byte that has the same bits, as others do.

    Raises:
        ValueError: If it is no whole number, or has too many bits.
        OverflowError: If it is infinite.
    """
    number, bits = int(value), 8 * dtype.itemsize
    if number != value or not -(1 << bits - 1) <= number < 1 << bits:
        raise ValueError(f"{value!r} is not of type {dtype}")
    return np.array(number % (1 << bits), f"u{dtype.itemsize}").astype(dtype.newbyteorder("="))[()]


def _float(text: object) -> float:
    """Return a float from base64, or from what JSON has for those that it has no number for."""
    if not isinstance(text, str):
        raise TypeError
    try:
        return unpacked(text)
    except ValueError:
        return float(text)
