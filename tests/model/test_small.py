"""Numbers of ml_dtypes as bits."""

from __future__ import annotations

import bisect
import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnizarr.model.small import (
    NO_ZERO,
    PAIRS,
    SMALL_FLOATS,
    SMALL_INTEGERS,
    is_pair,
    pack_small_float,
    pack_small_int,
    pair_numpy,
    small_numpy,
)

pytest.importorskip("ml_dtypes")

NANS = {
    "bfloat16": 0x7FC0, "float8_e3m4": 0x78, "float8_e4m3": 0x7C, "float8_e4m3b11fnuz": 0x80, "float8_e4m3fn": 0x7F,
    "float8_e4m3fnuz": 0x80, "float8_e5m2": 0x7E, "float8_e5m2fnuz": 0x80, "float8_e8m0fnu": 0xFF,
}  # fmt: skip
INFINITIES = {"bfloat16": 0x7F80, "float8_e3m4": 0x70, "float8_e4m3": 0x78, "float8_e5m2": 0x7C}


@functools.cache
def values_of(name: str) -> dict[int, float]:
    """Every number of the type by its bits."""
    codes = np.arange(1 << SMALL_FLOATS[name], dtype=f"<u{small_numpy(name).itemsize}")
    with np.errstate(all="ignore"):
        return dict(enumerate(codes.view(small_numpy(name)).astype("f8").tolist()))


@functools.cache
def finite(name: str) -> tuple[dict[float, int], list[float]]:
    """The bits of each finite number, and the numbers in order."""
    known = {number: bits for bits, number in values_of(name).items() if math.isfinite(number)}
    return known, sorted(known)


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_nan_and_infinity_have_the_bits_of_the_registry(name):
    for number, known in ((math.nan, NANS), (math.inf, INFINITIES)):
        if name in known:
            assert int.from_bytes(pack_small_float(number, name), "little") == known[name]
        else:
            with pytest.raises(OverflowError):
                pack_small_float(number, name)


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_every_number_survives(name):
    for bits, number in values_of(name).items():
        if math.isfinite(number):
            assert int.from_bytes(pack_small_float(number, name), "little") == bits


@pytest.mark.parametrize("name", SMALL_FLOATS)
@given(st.data())
def test_rounding_is_to_the_nearest_and_half_to_even(name, data):
    known, ordered = finite(name)
    number = data.draw(st.floats(ordered[0], ordered[-1]))
    if data.draw(st.booleans()):  # exactly between two neighbours, or a little beside
        at = data.draw(st.integers(0, len(ordered) - 2))
        number = (ordered[at] + ordered[at + 1]) / 2
        beside = [math.nextafter(number, math.inf), math.nextafter(number, -math.inf)]
        number = data.draw(st.sampled_from([number, *beside]))
    exact = Fraction(number)
    place = bisect.bisect(ordered, number)
    near = ordered[max(0, place - 1) : place + 1]
    distance = min(abs(Fraction(one) - exact) for one in near)
    nearest = [one for one in near if abs(Fraction(one) - exact) == distance]
    found = values_of(name)[int.from_bytes(pack_small_float(number, name), "little")]
    assert found in nearest
    if len(nearest) == 2 and name != NO_ZERO:
        assert known[found] % 2 == 0
    assert math.copysign(1, found) == math.copysign(1, number) or "fnuz" in name or found


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_what_is_too_large_is_infinite_or_refused(name):
    for number in (1e300, -1e300, 1.7976931348623157e308):
        if name in INFINITIES:
            stored = np.frombuffer(pack_small_float(number, name), small_numpy(name)).astype("f8")[0]
            assert stored == math.copysign(math.inf, number)
        else:
            with pytest.raises(OverflowError):
                pack_small_float(number, name)


def test_powers_of_two_alone_have_no_zero_and_no_sign():
    for number in (0.0, -0.0, -1.0, 1e-60):
        with pytest.raises(OverflowError):
            pack_small_float(number, NO_ZERO)


@pytest.mark.parametrize("name", SMALL_INTEGERS)
def test_integers_have_zeros_above_their_bits(name):
    bits = SMALL_INTEGERS[name]
    low, high = (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for number in range(low, high + 1):
        packed = pack_small_int(number, name)
        assert packed == np.array(number).astype(small_numpy(name)).tobytes()
        assert packed[0] < 2**bits
    for number in (low - 1, high + 1):
        with pytest.raises(OverflowError):
            pack_small_int(number, name)


@pytest.mark.parametrize(
    ("dtype", "pair"),
    [
        ([("real", "<f2"), ("imag", "<f2")], True),
        ([("real", "<f4"), ("imag", "<f4")], False),
        ([("real", "<f2"), ("imag", ">f2")], False),
        ([("real", "<f2"), ("imag", "<i2")], False),
        ([("imag", "<f2"), ("real", "<f2")], False),
        ([("real", "<f2"), ("imag", "<f2"), ("x", "<f2")], False),
        ({"names": ["real", "imag"], "formats": ["<f2", "<f2"], "offsets": [0, 4]}, False),
        ([("real", small_numpy("int4")), ("imag", small_numpy("int4"))], True),
        ([("real", small_numpy("bfloat16")), ("imag", "<f2")], False),
        ("<c8", False),
    ],
    ids=str,
)
def test_which_structures_are_complex_numbers(dtype, pair):
    assert is_pair(np.dtype(dtype)) is pair


@pytest.mark.parametrize("name", PAIRS)
def test_the_parts_of_a_complex_number(name):
    assert pair_numpy(name).names == ("real", "imag")
    assert is_pair(pair_numpy(name))
