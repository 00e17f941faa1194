"""The attribute that tells readers which value means "no data"."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from omnizarr.model.jsonvalue import JSON

FILL: Final = "_FillValue"


def fill_attribute(value: float | None, dtype: np.dtype[Any], dialect: str) -> dict[str, JSON]:
    """Return the attribute `_FillValue`, if there is such a value and JSON has it.

    In Zarr v3 it is what xarray looks at, which there spells floats as the base64 of their eight bytes.

    >>> fill_attribute(-1, np.dtype("i2"), "zarr3"), fill_attribute(0.5, np.dtype("f4"), "zarr2")
    ({'_FillValue': -1}, {'_FillValue': 0.5})
    """
    if value is None:
        return {}
    if dialect == "zarr3" and dtype.kind == "f":
        return {FILL: base64.standard_b64encode(struct.pack("<d", value)).decode()}
    return {FILL: value} if math.isfinite(value) else {}


def as_v3(attributes: Mapping[str, JSON], dtype: np.dtype[Any]) -> dict[str, JSON]:
    """Return attributes as Zarr v3 has them: xarray opens no array of floats whose `_FillValue` is spelled as a number.

    >>> as_v3({"units": "K", "_FillValue": 0.5}, np.dtype("f4"))
    {'units': 'K', '_FillValue': 'AAAAAAAA4D8='}
    """
    value = attributes.get(FILL)
    if dtype.kind != "f" or isinstance(value, bool) or not isinstance(value, (int, float)):
        return dict(attributes)
    return {**attributes, **fill_attribute(value, dtype, "zarr3")}
