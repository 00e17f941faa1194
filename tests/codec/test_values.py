"""scale_offset and cast_value, against exact arithmetic."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import omnizarr as oz
from omnizarr.codec.casting import ROUNDINGS, Cast
from omnizarr.codec.numbers import numbers_of
from omnizarr.errors import CodecError, CorruptError, MetadataError, UnsupportedError

NATIVE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
SMALL = ["int2", "int4", "uint2", "uint4", "bfloat16", "float8_e4m3", "float8_e5m2fnuz", "float4_e2m1fn"]


def whole(number, rounding):
    """A fraction rounded to a whole number."""
    down = math.floor(number)
    rest = number - down
    up = {
        "nearest-even": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down % 2),
        "nearest-away": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and number > 0),
        "towards-zero": number < 0,
        "towards-positive": True,
        "towards-negative": False,
    }[rounding]
    return down + (1 if rest and up else 0)


def model(value, target, rounding, out_of_range):  # noqa: PLR0911 - as many as there are rules
    """One value, by the text of the registry; None for an error."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return value if target.is_float and (target.nan if math.isnan(value) else target.infinite) else None
    exact = Fraction(value)
    if target.is_float:
        if not exact:
            return value
        size = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
        size -= abs(exact) < Fraction(2) ** size
        unit = Fraction(2) ** (max(size, target.lowest) - target.digits)
        rounded = whole(exact / unit, rounding) * unit
        if abs(rounded) <= Fraction(target.high):
            return float(rounded)
        edge = math.inf if target.infinite else target.high
        return (edge if rounded > 0 else -edge) if out_of_range == "clamp" else None
    rounded = whole(exact, rounding)
    if target.low <= rounded <= target.high:
        return rounded
    if out_of_range == "clamp":
        return target.low if rounded < target.low else target.high
    if out_of_range == "wrap":
        return (rounded - target.low) % (1 << target.bits) + target.low
    return None


def check(values, source, target, rounding, out_of_range):
    cast = Cast(numbers_of(source), numbers_of(target), rounding, out_of_range)
    wide = values.astype(np.float64 if cast.source.is_float else values.dtype)
    if not cast.source.is_float and not cast.source.is_native:
        wide = values.astype(np.int64)
    expected = [model(value, cast.target, rounding, out_of_range) for value in wide.flat]
    if None in expected:
        with pytest.raises(CodecError, match="cast_value"):
            cast(values)
        expected = [value for value in expected if value is not None]
        values = np.array([v for v in values if model(v.astype(wide.dtype), *cast[1:]) is not None], values.dtype)
    made = cast(values)
    assert made.dtype == cast.target.dtype
    got = (
        made.astype(np.float64) if cast.target.is_float else made.astype(object if cast.target.is_native else np.int64)
    )
    np.testing.assert_array_equal(got, np.array(expected, got.dtype if cast.target.is_float else object))


def drawn(data, name):
    numbers = numbers_of(name)
    if numbers.is_native:
        return data.draw(hn.arrays(name, 6))
    if numbers.is_float:
        return data.draw(hn.arrays("float32", 6, elements={"min_value": -1000, "max_value": 1000})).astype(
            numbers.dtype
        )
    return np.array(data.draw(st.lists(st.integers(numbers.low, numbers.high), min_size=6, max_size=6))).astype(
        numbers.dtype
    )


@pytest.mark.parametrize("source", NATIVE)
@pytest.mark.parametrize("target", NATIVE)
@settings(max_examples=30)  # of each of the 121 pairs
@given(data=st.data())
def test_casts_by_exact_arithmetic(source, target, data):
    rounding = data.draw(st.sampled_from(sorted(ROUNDINGS)))
    allowed = [None, "clamp"] if target.startswith("float") else [None, "clamp", "wrap"]
    with np.errstate(all="ignore"):
        check(drawn(data, source), source, target, rounding, data.draw(st.sampled_from(allowed)))


@pytest.mark.parametrize("small", SMALL)
@pytest.mark.parametrize("other", ["int8", "uint64", "float32", "float64", "int4", "bfloat16"])
@settings(max_examples=30)
@given(data=st.data())
def test_casts_of_small_types(small, other, data):
    pytest.importorskip("ml_dtypes")
    source, target = data.draw(st.permutations([small, other]))
    rounding = data.draw(st.sampled_from(sorted(ROUNDINGS)))
    allowed = [None, "clamp"] if numbers_of(target).is_float else [None, "clamp", "wrap"]
    with np.errstate(all="ignore"):
        check(drawn(data, source), source, target, rounding, data.draw(st.sampled_from(allowed)))


def stored(values, codecs, **options):
    array = oz.create_array({}, data=values, chunks=values.shape, codecs=codecs, write_empty=True, **options)
    return array, array.store.get("/".join(["c", *["0"] * values.ndim]))


def test_the_examples_of_the_registry():
    for out_of_range, expected in (("clamp", 127), ("wrap", -128)):
        _, raw = stored(np.array([128.0]), [oz.codec.cast_value("int8", out_of_range=out_of_range)])
        assert np.frombuffer(raw, "i1") == expected
    with pytest.raises(CodecError, match=r"128\.0"):
        stored(np.array([128.0]), [oz.codec.cast_value("int8")])
    _, raw = stored(np.array([32768, 32769, -32769]), [oz.codec.cast_value("int16", out_of_range="wrap")])
    assert np.frombuffer(raw, "<i2").tolist() == [-32768, -32767, 32767]


def test_floats_as_bytes_with_nan_kept():
    table = {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}
    codecs = [oz.codec.scale_offset(-10, 0.1), oz.codec.cast_value("uint8", scalar_map=table)]
    values = np.array([0, 2540, np.nan, 1270.0])
    array, raw = stored(values, codecs, fill_value=np.nan)
    assert raw == b"\x01\xff\x00\x80"
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)
    assert json.loads(array.store.get("zarr.json"))["codecs"][1]["configuration"]["scalar_map"] == table


def test_the_first_of_equal_keys_counts():
    table = {"encode": [[1, 10], [1, 20], [2, 1]], "decode": [[10, 1], [1, 2]]}
    values = np.array([1, 2, 3], "i4")
    array, raw = stored(values, [oz.codec.cast_value("uint8", scalar_map=table)])
    assert list(raw) == [10, 1, 3]
    np.testing.assert_array_equal(array[...], values)


def test_like_numpy():
    table = {"encode": [["NaN", 0], ["+Infinity", 0], ["-Infinity", 0]]}
    codec = oz.codec.cast_value("uint8", rounding="towards-zero", out_of_range="wrap", scalar_map=table)
    _, raw = stored(np.array([1.9, -1.9, 300, np.nan, np.inf]), [codec])
    assert list(raw) == [1, 255, 44, 0, 0]


@pytest.mark.parametrize("options", [{"chunks": (4, 5)}, {"chunks": (2, 5), "shards": (4, 10)}, {"order": "F"}])
def test_ranges_of_integers(options):
    values = np.arange(1000, 1080, dtype="u2").reshape(8, 10)
    codecs = [oz.codec.scale_offset(1000), oz.codec.cast_value("uint8"), "zstd"]
    array = oz.create_array({}, data=values, codecs=codecs, fill_value=1000, **options)
    np.testing.assert_array_equal(oz.open_array(array.store)[1:7, ::3], values[1:7, ::3])


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i4", ">u2", "i8", "u8"])
@given(data=st.data())
def test_scaled_integers(dtype, data):
    values = data.draw(hn.arrays(dtype, 5))
    info = np.iinfo(dtype)
    bounds = {"min_value": int(info.min), "max_value": int(info.max)}
    offset, scale = data.draw(st.integers(**bounds)), data.draw(st.integers(**bounds).filter(bool))
    exact = [int(value) - offset for value in values]
    fits = all(info.min <= x <= info.max and info.min <= x * scale <= info.max for x in exact)
    codec = oz.codec.scale_offset(offset, scale)
    try:
        array, raw = stored(values, [codec], fill_value=offset)
    except CodecError:
        assert not fits
        return
    assert fits
    assert np.frombuffer(raw, np.dtype(dtype).newbyteorder("<" if dtype[0] != ">" else ">")).tolist() == [
        x * scale for x in exact
    ]
    np.testing.assert_array_equal(oz.open_array(array.store)[...], values)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_scaled_floats(dtype):
    values = np.linspace(-5, 5, 20).astype(dtype)
    array, raw = stored(values, [oz.codec.scale_offset(1.5, 0.1)])
    kind = np.dtype(dtype).type
    expected = (values - kind(1.5)) * kind(0.1)
    np.testing.assert_array_equal(np.frombuffer(raw, dtype), expected)
    np.testing.assert_array_equal(oz.open_array(array.store)[...], expected / kind(0.1) + kind(1.5))
    with pytest.raises(CodecError, match="scale_offset"):
        stored(np.full(3, np.finfo(dtype).max), [oz.codec.scale_offset(0, 10)])
    special = np.array([np.nan, np.inf], dtype)
    np.testing.assert_array_equal(stored(special, [oz.codec.scale_offset(1, 10)])[0][...], special)


def test_a_stored_number_between_the_steps():
    array, _ = stored(np.array([3, 6], "i4"), [oz.codec.scale_offset(0, 3)])
    array.store.put("c/0", np.array([9, 10], "<i4").tobytes())
    with pytest.raises(CodecError, match="multiple"):
        array[...]
    array.store.put("c/0", bytes(3))
    with pytest.raises(CorruptError):
        array[...]


def test_the_fill_value_must_survive():
    for fill in (0.5, np.nan, 300):
        with pytest.raises(MetadataError, match="fill value"):
            oz.create_array({}, shape=4, dtype="f8", fill_value=fill, codecs=[oz.codec.cast_value("uint8")])[...]
    array = oz.create_array({}, shape=4, dtype="f8", fill_value=300, codecs=[oz.codec.cast_value("uint16")])
    assert array[...].tolist() == [300] * 4


@pytest.mark.parametrize(
    ("codec", "dtype"),
    [
        (oz.codec.scale_offset("x"), "f4"),
        (oz.codec.scale_offset(300), "u1"),
        (oz.codec.scale_offset(0.5), "i4"),
        (oz.codec.scale_offset(0, 0), "f4"),
        (oz.codec.scale_offset("NaN"), "f4"),
        (oz.codec.scale_offset(1), "bool"),
        (oz.codec.scale_offset(1), "M8[s]"),
        (oz.codec.cast_value("string"), "f4"),
        (oz.codec.cast_value("float32", out_of_range="wrap"), "f8"),
        (oz.codec.cast_value("uint8", scalar_map={"encode": [["NaN", 300]]}), "f8"),
        (oz.codec.cast_value("uint8", scalar_map={"other": []}), "f8"),
        ({"name": "cast_value", "configuration": {"data_type": "uint8", "more": 1}}, "f8"),
        ({"name": "cast_value", "configuration": {}}, "f8"),
        ({"name": "scale_offset", "configuration": {"more": 1}}, "f8"),
    ],
)
def test_wrong_settings(codec, dtype):
    with pytest.raises((MetadataError, UnsupportedError)):
        oz.create_array({}, shape=4, dtype=dtype, codecs=[codec])


def test_gdeflate_is_named():
    array = oz.create_array({}, shape=4, dtype="u1", codecs=[])
    document = json.loads(array.store.get("zarr.json"))
    document["codecs"].append({"name": "zarrs.gdeflate", "configuration": {"level": 5}})
    with pytest.raises(UnsupportedError, match="GDeflate"):
        oz.open_array({"zarr.json": json.dumps(document).encode()})[...]
