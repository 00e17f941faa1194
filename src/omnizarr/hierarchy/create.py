"""From what a user asks for to the metadata of a new array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

import numpy as np

from omnizarr.array.defaults import Extents, grid_layout
from omnizarr.array.uneven import is_uneven
from omnizarr.codec.chain import Layout, build_chain
from omnizarr.errors import MetadataError, ShapeError
from omnizarr.format.v2 import DIMENSIONS
from omnizarr.format.v3_codecs import parse_named
from omnizarr.format.v3_keys import DEFAULT, V2, parse_keys
from omnizarr.hierarchy.attrs import to_json_object
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.keys import Keys

if TYPE_CHECKING:
    import numpy.typing as npt

FORMATS: Final = ("zarr3", "zarr2")

NAT: Final = -(1 << 63)


class _Zero:
    """Stands for the fill value that a type has by default."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<zero>"


ZERO: Final = _Zero()
"""Default of `fill_value`: zero, false, empty, or not-a-time."""


class ArrayOptions(TypedDict, total=False):
    """The keywords that describe a new array; see `omnizarr.create_array`."""

    shape: int | Iterable[int] | None
    dtype: npt.DTypeLike | DType | None
    data: Any
    chunks: Extents | Literal["auto"] | bool | None
    shards: Extents | Literal["auto"] | bool | None
    codecs: object
    fill_value: object
    dims: Sequence[str | None] | None
    attrs: Mapping[str, object] | None
    order: Literal["C", "F"]
    separator: Literal["/", "."] | None
    chunk_keys: Keys | str | Mapping[str, object] | None


def array_meta(options: ArrayOptions, dialect: str, limits: Limits = DEFAULT_LIMITS) -> ArrayMeta:
    """Return the metadata of an array to be created.

    Args:
        options: What the user said; see `omnizarr.create_array`.
        dialect: "zarr3" or "zarr2".
        limits: Bounds on the size of chunks.

    Raises:
        ShapeError: If shape, chunks, shards, names of dimensions or the fill value do not fit each other.
        MetadataError: If the codecs do not fit the type, or attributes have no form in JSON.
        UnsupportedError: If the type or a codec is not to be had.
    """
    key = _key(options, dialect, limits)
    known = _made.get(key) if key else None
    if known is not None:
        return known
    meta = _array_meta(options, dialect, limits)
    if key:
        if len(_made) >= _MOST_MADE:
            _made.clear()
        _made[key] = meta
    return meta


# Creating many arrays that are alike is common, and settling the layout takes as long as writing the document.
_made: dict[str, ArrayMeta] = {}
_MOST_MADE: Final = 64


def _key(options: ArrayOptions, dialect: str, limits: Limits) -> str:
    """Return a text that stands for all options, or the empty string where no text does."""
    if options.get("attrs") or options.keys() != _ALL or not all(type(value) in _PLAIN for value in options.values()):
        return ""
    if is_uneven(options.get("chunks")) or is_uneven(options.get("shards")):
        return ""  # the text of a long array leaves some of it out
    fill = options.get("fill_value")
    return "" if fill != fill else repr((dialect, limits, *options.values()))  # noqa: PLR0124 - a NaN has many forms


_ALL: Final = ArrayOptions.__annotations__.keys()
# Types whose text says all there is to say; iterators and objects of other packages are not among them.
_PLAIN: Final = frozenset(
    (NoneType, bool, int, float, str, tuple, list, type, DType, _Zero, *map(type, map(np.dtype, "fdbhilqBHILQ")))
)


def _array_meta(options: ArrayOptions, dialect: str, limits: Limits) -> ArrayMeta:
    check_format(dialect)
    wanted, shape = _dtype_and_shape(options)
    memory = wanted if dialect == "zarr2" else wanted.with_byteorder("native")
    grid, chunks, shards = grid_layout(shape, wanted.itemsize, options.get("chunks", "auto"), options.get("shards"))
    if options.get("order", "C") not in ("C", "F"):
        raise MetadataError(f"order is {options.get('order')!r}, not 'C' or 'F'")
    asked = Layout(memory, chunks, shards, options.get("order", "C"), wanted.byteorder or None)
    dims = _dims(options.get("dims"), shape)
    attributes = to_json_object(options.get("attrs") or {})
    if dialect == "zarr2" and dims is not None and attributes.get(DIMENSIONS, list(dims)) != list(dims):
        raise ShapeError(f"dims are {dims!r}, but the attribute {DIMENSIONS} says {attributes[DIMENSIONS]!r}")
    return ArrayMeta(
        shape=shape,
        dtype=memory,
        grid=grid,
        keys=_keys(options.get("chunk_keys"), options.get("separator"), dialect),
        fill=_fill(options.get("fill_value", ZERO), memory),
        codecs=build_chain(options.get("codecs", "auto"), asked, limits),
        dims=dims,
        attributes=attributes,
        format=dialect,
    )


def check_format(dialect: str) -> None:
    """Raise if a format cannot be written.

    Raises:
        MetadataError: If so.
    """
    if dialect not in FORMATS:
        raise MetadataError(f"format is {dialect!r}, not one of {', '.join(FORMATS)}")


def _dtype_and_shape(options: ArrayOptions) -> tuple[DType, tuple[int, ...]]:
    data, given, lengths = options.get("data"), options.get("dtype"), options.get("shape")
    if data is not None:
        # A list of text is variable-length text; an array says itself what it is.
        array = np.asarray(data)
        if given is None:
            given = str if not isinstance(data, np.ndarray) and array.dtype.kind == "U" else array.dtype
        lengths = array.shape if lengths is None else lengths
    if lengths is None:
        raise ShapeError("a new array needs a shape", hint="pass shape=(…), or data=")
    shape = (index(lengths),) if not isinstance(lengths, Iterable) else tuple(index(length) for length in lengths)
    if any(length < 0 for length in shape):
        raise ShapeError(f"the shape {shape} has a negative length")
    return DType.of("float64" if given is None else given), shape


def _keys(given: Keys | str | Mapping[str, object] | None, separator: str | None, dialect: str) -> Keys:
    if separator not in (None, "/", "."):
        raise MetadataError(f"separator is {separator!r}, not '/' or '.'")
    if given is None:
        given = V2 if dialect == "zarr2" else DEFAULT
    elif separator is not None and not isinstance(given, str):
        raise MetadataError("separator= and chunk_keys= exclude each other", hint="chunk_keys says what separates")
    if isinstance(given, Keys):
        return given
    if isinstance(given, str):
        return parse_keys(Codec(given, {} if separator is None else {"separator": separator}), "")
    if not isinstance(given, Mapping):
        raise MetadataError(f"chunk_keys is a name, a mapping or a template of keys, not {given!r}")
    return parse_keys(parse_named(to_json_object(given), "/chunk_key_encoding", ""), "")


def _dims(names: Sequence[str | None] | None, shape: tuple[int, ...]) -> tuple[str | None, ...] | None:
    if names is None:
        return None
    dims = (names,) if isinstance(names, str) else tuple(names)
    if len(dims) != len(shape) or not all(name is None or isinstance(name, str) for name in dims):
        raise ShapeError(f"dims {dims!r} do not name the {len(shape)} dimensions of the shape {shape}")
    return dims


def _fill(value: object, dtype: DType) -> Fill:
    if isinstance(value, _Zero):
        return Fill.of(NAT, dtype) if not dtype.vlen and dtype.numpy.kind in "mM" else Fill.zero(dtype)
    return Fill.of(value, dtype)
