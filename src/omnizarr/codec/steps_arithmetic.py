"""Codecs of numcodecs that compute with each number: `astype`, `quantize` and `fixedscaleoffset`.

Types that the kernel does not compute with (half precision, booleans, complex numbers) are left to numcodecs itself.
https://numcodecs.readthedocs.io/en/stable/filter/fixedscaleoffset.html and its neighbours.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from omnizarr.codec.lowered import Lower, Lowered, Step
from omnizarr.codec.made_for import check_made_for
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.model.jsonvalue import JSON

_EXACT: Final = 2**53
"""Whole numbers up to here are floats too, without a loss."""


def _astype(options: Options, stage: Stage) -> Lowered | None:
    if stage.vlen:
        return None
    source = options.dtype("decode_dtype", stage.dtype)
    target = options.dtype("encode_dtype", source)
    check_made_for("numcodecs.astype", source, stage)
    if not _numbers(source, target, halves=True):
        return None
    step: Step = ("cast", {"from": source.str, "to": target.str})
    config: dict[str, JSON] = {"encode_dtype": target.str, "decode_dtype": source.str}
    return Lowered(config, step, stage.to_array(target, stage.shape))


def _quantize(options: Options, stage: Stage) -> Lowered | None:
    digits = options.integer("digits", 1 << 20, -300, 300)
    found = _types("numcodecs.quantize", options, stage)
    if found is None or found[0].kind != "f" or found[1].kind != "f":
        return None
    source, target = found
    step: Step = ("quantize", {"from": source.str, "to": target.str, "scale": _binary_scale(digits)})
    config: dict[str, JSON] = {"digits": digits, "dtype": source.str, "astype": target.str}
    return Lowered(config, step, stage.to_array(target, stage.shape))


def _binary_scale(digits: int) -> float:
    """Return the power of two that numcodecs takes for a number of decimal digits."""
    exponent = math.log10(10.0**-digits)
    exponent = math.floor(exponent) if exponent < 0 else math.ceil(exponent)
    return float(2.0 ** math.ceil(math.log2(10.0**-exponent)))


def _fixed_scale_offset(options: Options, stage: Stage) -> Lowered | None:
    offset, scale = options.raw("offset"), options.raw("scale")
    for name, value in (("offset", offset), ("scale", scale)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise options.wrong(name, value, "a number")
    found = _types("numcodecs.fixedscaleoffset", options, stage)
    if found is None or not (_suits(offset, found[0]) and _suits(scale, found[0])):
        return None
    source, target = found
    step: Step = ("scale", {"from": source.str, "to": target.str, "offset": offset, "scale": scale})
    config: dict[str, JSON] = {"offset": offset, "scale": scale, "dtype": source.str, "astype": target.str}
    return Lowered(config, step, stage.to_array(target, stage.shape))


def _types(name: str, options: Options, stage: Stage) -> tuple[np.dtype[np.generic], np.dtype[np.generic]] | None:
    """Return the types before and after, if the kernel computes with them."""
    if stage.vlen:
        return None
    source = options.dtype("dtype", stage.dtype)
    target = options.dtype("astype", source)
    check_made_for(name, source, stage)
    return (source, target) if _numbers(source, target, halves=False) else None


def _numbers(*dtypes: np.dtype[np.generic], halves: bool) -> bool:
    least = 2 if halves else 4
    return all(d.kind in "iu" or (d.kind == "f" and least <= d.itemsize <= 8) for d in dtypes)


def _suits(value: JSON, dtype: np.dtype[np.generic]) -> bool:
    """Whether NumPy would take the number for one of the type, where it computes in the type."""
    if not isinstance(value, int):
        return True
    if dtype.kind == "f":
        return abs(value) <= _EXACT
    bits = 8 * dtype.itemsize
    low, high = (0, 2**bits) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return low <= value < min(high, 2**63) and abs(value) <= _EXACT


CODECS: Final[dict[str, Lower]] = {
    "numcodecs.astype": _astype,
    "numcodecs.quantize": _quantize,
    "numcodecs.fixedscaleoffset": _fixed_scale_offset,
}
