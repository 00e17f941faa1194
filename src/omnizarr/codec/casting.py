"""Numbers from one type to another, by value: rounded and brought into range as the codec `cast_value` says.

https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/cast_value
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from omnizarr.codec.numbers import Numbers
from omnizarr.errors import CodecError

if TYPE_CHECKING:
    import numpy.typing as npt

_EXACT: Final = 1 << 53
"""Integers up to here are doubles too."""


def _nearest_away(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    whole = np.trunc(x)
    made: npt.NDArray[Any] = whole + np.copysign(np.abs(x - whole) >= 0.5, x)
    return made


ROUNDINGS: Final[dict[str, Callable[[npt.NDArray[Any]], npt.NDArray[Any]]]] = {
    "nearest-even": np.rint,
    "towards-zero": np.trunc,
    "towards-positive": np.ceil,
    "towards-negative": np.floor,
    "nearest-away": _nearest_away,
}
"""Each way of rounding doubles to whole numbers."""


class Cast(NamedTuple):
    """One direction of a cast; the rules are the same for both."""

    source: Numbers
    target: Numbers
    rounding: str
    out_of_range: str | None

    def __call__(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Cast values of the source type, in the machine's byte order.

        Raises:
            CodecError: A value has none to be cast to.
        """
        if not values.size:
            return np.empty(values.shape, self.target.dtype)
        if self.target.is_float:
            return self._to_float(values)
        return self._float_to_int(values) if self.source.is_float else self._int_to_int(values)

    def fail(self, what: str) -> CodecError:
        """Return the error for a value that cannot be cast."""
        return CodecError(f"{what} is no value of {self.target.name}", codec="cast_value")

    def _int_to_int(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        wide = values if self.source.is_native else values.astype(np.int64)
        low, high = int(wide.min()), int(wide.max())
        least, most = int(self.target.low), int(self.target.high)
        if least <= low and high <= most:
            return wide.astype(self.target.dtype)
        if self.out_of_range is None:
            raise self.fail(str(low if low < least else high))
        if self.out_of_range == "wrap":
            return self._wrapped(wide)
        bounds = np.iinfo(wide.dtype)
        clipped: npt.NDArray[Any] = np.clip(wide, max(least, int(bounds.min)), min(most, int(bounds.max)))
        return clipped.astype(self.target.dtype)

    def _wrapped(self, wide: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Keep the low bits of integers of 8 bits at least."""
        if self.target.is_native:
            return wide.astype(self.target.dtype)
        low = wide.astype(np.uint8) & np.uint8((1 << self.target.bits) - 1)
        return low.view(self.target.dtype)

    def _float_to_int(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        exact = values.astype(np.float64)
        finite = np.isfinite(exact)
        if not finite.all():
            raise self.fail(str(exact[~finite].flat[0]))
        whole = ROUNDINGS[self.rounding](exact)
        # One above the greatest value is a power of two, and so a double; the greatest itself may be none.
        least, above = float(self.target.low), float(int(self.target.high) + 1)
        outside = (whole < least) | (whole >= above)
        if not outside.any():
            return self._from_whole(whole)
        if self.out_of_range is None:
            raise self.fail(str(exact[outside].flat[0]))
        if self.out_of_range == "wrap":
            rest = np.fmod(whole, float(1 << 64))  # exact
            magnitude = np.abs(rest).astype(np.uint64)
            return self._wrapped(np.where(rest < 0, np.uint64(0) - magnitude, magnitude))
        made = self._from_whole(np.where(outside, 0.0, whole))
        made[whole < least] = self._integer(int(self.target.low))
        made[whole >= above] = self._integer(int(self.target.high))
        return made

    def _integer(self, value: int) -> npt.NDArray[Any]:
        native = self.target.is_native
        return np.array(value, self.target.dtype) if native else np.array(value).astype(self.target.dtype)

    def _from_whole(self, whole: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.target.is_native:
            return whole.astype(self.target.dtype)
        return whole.astype(np.int64).astype(self.target.dtype)

    def _to_float(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.source.is_float:
            exact = values.astype(np.float64)
        else:
            wide = values if self.source.is_native else values.astype(np.int64)
            if max(abs(int(wide.min())), abs(int(wide.max()))) > _EXACT:
                exact = _round_integers(wide, self.target.digits, self.rounding)
            else:
                exact = wide.astype(np.float64)
        self._check_special(exact)
        if self.target.dtype == np.float64:
            return exact
        with np.errstate(all="ignore"):
            rounded = self._rounded(exact)
            outside = np.isfinite(exact) & (np.abs(rounded) > self.target.high)
            if outside.any():
                if self.out_of_range != "clamp":
                    raise self.fail(str(exact[outside].flat[0]))
                edge = math.inf if self.target.infinite else float(self.target.high)
                rounded[outside] = np.copysign(edge, rounded[outside])
            return rounded.astype(self.target.dtype)

    def _rounded(self, exact: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Round doubles to multiples of the last digit that the target has at their size."""
        _, exponent = np.frexp(exact)
        last = np.maximum(exponent - 1, self.target.lowest) - self.target.digits
        rounded = ROUNDINGS[self.rounding](np.ldexp(exact, -last))
        return np.where(np.isfinite(exact), np.copysign(np.ldexp(rounded, last), exact), exact)

    def _check_special(self, exact: npt.NDArray[Any]) -> None:
        if not self.target.nan and np.isnan(exact).any():
            raise self.fail("NaN")
        if not self.target.infinite and np.isinf(exact).any():
            raise self.fail("infinity")


def _round_integers(values: npt.NDArray[Any], digits: int, rounding: str) -> npt.NDArray[Any]:
    """Round integers that are too long for doubles to so many bits after the first, and return them as doubles."""
    return np.array([_round_integer(int(value), digits, rounding) for value in values.flat]).reshape(values.shape)


def _round_integer(value: int, digits: int, rounding: str) -> float:
    dropped = abs(value).bit_length() - digits - 1
    if dropped <= 0:
        return float(value)
    unit = 1 << dropped
    down, rest = divmod(value, unit)
    up = {
        "nearest-even": 2 * rest > unit or (2 * rest == unit and down % 2 == 1),
        "nearest-away": 2 * rest > unit or (2 * rest == unit and value > 0),
        "towards-zero": value < 0,
        "towards-positive": True,
        "towards-negative": False,
    }[rounding]
    return float((down + (rest > 0 and up)) * unit)
