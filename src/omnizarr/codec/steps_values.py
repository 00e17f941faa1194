"""Codecs of the registry that compute with values: `scale_offset` and `cast_value`, by NumPy, a chunk at a time.

https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/scale_offset and its neighbour `cast_value`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from omnizarr.codec.casting import ROUNDINGS, Cast
from omnizarr.codec.lowered import Lower, Lowered, Step
from omnizarr.codec.numbers import Numbers, numbers_of, parse_scalar
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.errors import CodecError, MetadataError
from omnizarr.model.jsonvalue import JSON

if TYPE_CHECKING:
    import numpy.typing as npt

Bytes = bytes | memoryview
_Map = list[tuple[int | float, int | float]]


def _numbers(codec: str, stage: Stage) -> Numbers:
    found = None if stage.vlen or stage.dtype.kind in "mM" else numbers_of(stage.label)
    if found is None:
        raise MetadataError(f"the codec takes integers and floats, and not {stage.label}", codec=codec)
    return found


class ScaleOffset(NamedTuple):
    """`(x - offset) * scale`, and back, in the arithmetic of the type; what the type cannot hold is an error."""

    numbers: Numbers
    dtype: np.dtype[Any]
    offset: int | float
    scale: int | float

    def encode(self, data: Bytes, shape: tuple[int, ...]) -> bytes:
        """Encode the dense bytes of an array."""
        values = self._load(data, shape)
        made = self._float(values, forward=True) if self.numbers.is_float else self._multiplied(values)
        return made.astype(self.dtype).tobytes()

    def decode(self, data: Bytes, size: int | None, shape: tuple[int, ...]) -> bytes:
        """Decode to the dense bytes of an array."""
        del size  # the kernel checks it
        values = self._load(data, shape)
        made = self._float(values, forward=False) if self.numbers.is_float else self._divided(values)
        return made.astype(self.dtype).tobytes()

    def _load(self, data: Bytes, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        values = np.frombuffer(data, self.dtype).reshape(shape).astype(self.numbers.dtype)
        return values if self.numbers.is_native or self.numbers.is_float else values.astype(np.int64)

    def _float(self, values: npt.NDArray[Any], *, forward: bool) -> npt.NDArray[Any]:
        offset, scale = (np.array(number).astype(self.numbers.dtype) for number in (self.offset, self.scale))
        with np.errstate(all="ignore"):
            made: npt.NDArray[Any] = (values - offset) * scale if forward else values / scale + offset
            lost = np.isfinite(values.astype(np.float64)) & ~np.isfinite(made.astype(np.float64))
        if lost.any():
            raise self._fail(values[lost].flat[0])
        return made

    def _multiplied(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        offset, scale = int(self.offset), int(self.scale)
        for number in _extremes(values):
            self._check(number - offset, number)
            self._check((number - offset) * scale, number)
        kind = values.dtype.type
        made: npt.NDArray[Any] = (values - kind(offset)) * kind(scale)
        return made

    def _divided(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        offset, scale = int(self.offset), int(self.scale)
        kind = values.dtype.type
        if values.size and (values % kind(scale)).any():
            raise CodecError(f"a stored number is no multiple of the scale {scale}", codec="scale_offset")
        for number in _extremes(values):
            self._check(number // scale, number)
            self._check(number // scale + offset, number)
        made: npt.NDArray[Any] = values // kind(scale) + kind(offset)
        return made

    def _check(self, result: int, number: int) -> None:
        if not self.numbers.low <= result <= self.numbers.high:
            raise self._fail(number)

    def _fail(self, number: object) -> CodecError:
        return CodecError(f"{number} leads to numbers that {self.numbers.name} cannot hold", codec="scale_offset")


def _extremes(values: npt.NDArray[Any]) -> tuple[int, ...]:
    """Return the least and the greatest value: what lies between them behaves like them."""
    return (int(values.min()), int(values.max())) if values.size else ()


def _scale_offset(options: Options, stage: Stage) -> Lowered:
    numbers = _numbers("scale_offset", stage)
    config: dict[str, JSON] = {}
    given: dict[str, int | float] = {"offset": 0, "scale": 1}
    for name in given:
        value = options.raw(name)
        if value is None:
            continue
        scalar = parse_scalar(value, numbers)
        if scalar is None or not math.isfinite(scalar) or (name == "scale" and scalar == 0):
            raise options.wrong(name, value, f"a number of type {numbers.name}, and not zero for the scale")
        config[name], given[name] = value, scalar
    codec = ScaleOffset(numbers, stage.dtype, given["offset"], given["scale"])
    return Lowered(config, _step("scale_offset", codec, stage.size, stage.size), stage)


class CastValue(NamedTuple):
    """Values of one type as those of another, and back; some of them by a table."""

    forward: Cast
    backward: Cast
    dtype: np.dtype[Any]
    encode_map: _Map
    decode_map: _Map

    def encode(self, data: Bytes, shape: tuple[int, ...]) -> bytes:
        """Encode the dense bytes of an array."""
        values = np.frombuffer(data, self.dtype).reshape(shape).astype(self.forward.source.dtype)
        return _mapped(values, self.forward, self.encode_map).tobytes()

    def decode(self, data: Bytes, size: int | None, shape: tuple[int, ...]) -> bytes:
        """Decode to the dense bytes of an array."""
        del size  # the kernel checks it
        values = np.frombuffer(data, self.backward.source.dtype).reshape(shape)
        return _mapped(values, self.backward, self.decode_map).astype(self.dtype).tobytes()


def _mapped(values: npt.NDArray[Any], cast: Cast, table: _Map) -> npt.NDArray[Any]:
    """Cast values; those that a table has are looked up instead, the first entry first."""
    if not table:
        return cast(values)
    left = np.ones(values.shape, bool)
    made = np.zeros(values.shape, cast.target.dtype)
    wide = values if cast.source.is_native else values.astype(np.float64)
    for key, value in table:
        found = left & (np.isnan(wide) if math.isnan(key) else wide == wide.dtype.type(key))
        made[found] = np.array(value).astype(cast.target.dtype)
        left &= ~found
    made[left] = cast(values[left])
    return made


def _cast_value(options: Options, stage: Stage) -> Lowered:
    source = _numbers("cast_value", stage)
    given = options.raw("data_type")
    name = given.get("name") if isinstance(given, dict) else given
    target = numbers_of(name) if isinstance(name, str) else None
    if target is None:
        raise options.wrong("data_type", given, "the name of an integer or float type")
    rounding = options.choice("rounding", "nearest-even", tuple(ROUNDINGS))
    out_of_range = options.raw("out_of_range")
    if out_of_range not in (None, "clamp", "wrap") or not isinstance(out_of_range, str | None):
        raise options.wrong("out_of_range", out_of_range, "clamp or wrap")
    if out_of_range == "wrap" and target.is_float:
        raise options.wrong("out_of_range", out_of_range, "clamp, for floats do not wrap")
    config: dict[str, JSON] = {"data_type": given}
    config.update((key, options.raw(key)) for key in ("rounding", "out_of_range", "scalar_map") if key in options)
    # Back in the type of the array nothing can wrap around that did not before, unless it is one of integers.
    back = None if out_of_range == "wrap" and source.is_float else out_of_range
    codec = CastValue(
        Cast(source, target, rounding, out_of_range),
        Cast(target, source, rounding, back),
        stage.dtype,
        _table(options, "encode", source, target),
        _table(options, "decode", target, source),
    )
    after = stage.to_array(target.dtype, stage.shape)._replace(name=target.name)
    return Lowered(config, _step("cast_value", codec, after.size, stage.size), after)


def _table(options: Options, direction: str, source: Numbers, target: Numbers) -> _Map:
    given = options.raw("scalar_map", {})
    entries = given.get(direction, []) if isinstance(given, dict) and not given.keys() - {"encode", "decode"} else None
    if not isinstance(entries, list):
        raise options.wrong("scalar_map", given, "an object of the lists encode and decode")
    table: _Map = []
    for entry in entries:
        pair = entry if isinstance(entry, list) and len(entry) == 2 else [None, None]
        key, value = parse_scalar(pair[0], source), parse_scalar(pair[1], target)
        if key is None or value is None:
            raise options.wrong("scalar_map", entry, f"a pair of a {source.name} and a {target.name}")
        table.append((key, value))
    return table


def _step(
    name: str, codec: ScaleOffset | CastValue, encoded: int | None, decoded: int | None
) -> tuple[str, dict[str, Any]]:
    options = {"codec": codec, "name": name, "kind": "array", "encoded_size": encoded, "decoded_size": decoded}
    return "python", options


CODECS: Final[dict[str, Lower]] = {"scale_offset": _scale_offset, "cast_value": _cast_value}


def check_fill(steps: list[Step], fill: bytes | None) -> None:
    """Check that the fill value survives the casts at the head of a chain.

    Raises:
        MetadataError: It does not, or cannot be encoded at all.
    """
    for _, config in steps:
        codec = config.get("codec")
        if fill is None or not isinstance(codec, ScaleOffset | CastValue):
            return
        try:
            encoded = codec.encode(fill, ())
            kept = isinstance(codec, ScaleOffset) or _alike(codec.decode(encoded, None, ()), fill, codec.dtype)
        except CodecError as error:
            raise MetadataError(f"the fill value cannot be encoded: {error.args[0]}", codec=error.codec) from error
        if not kept:
            hint = "choose a fill value that the codec keeps, or map it with scalar_map"
            raise MetadataError("the fill value is another after the codec", codec="cast_value", hint=hint)
        fill = encoded


def _alike(one: bytes, other: bytes, dtype: np.dtype[Any]) -> bool:
    """Whether two elements have the same value; those that are not numbers do, whatever their bits."""
    a, b = (float(np.frombuffer(bits, dtype)[0]) for bits in (one, other))
    return a == b or (math.isnan(a) and math.isnan(b))
