"""From what a user asks for to the metadata of a new array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

import numpy as np

from omnizarr.array.defaults import Extents, layout
from omnizarr.array.values import as_values
from omnizarr.codec.chain import Layout, build_chain
from omnizarr.errors import MetadataError, ShapeError
from omnizarr.format.v2 import DIMENSIONS
from omnizarr.hierarchy.attrs import to_json_object
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.grid import RegularGrid
from omnizarr.model.keys import Keys, default_keys, v2_keys
from omnizarr.model.structs import packed

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
    fill = options.get("fill_value")
    return "" if fill != fill else repr((dialect, limits, *options.values()))  # noqa: PLR0124 - a NaN has many forms


_ALL: Final = ArrayOptions.__annotations__.keys()
# Types whose text says all there is to say; iterators and objects of other packages are not among them.
_PLAIN: Final = frozenset(
    (NoneType, bool, int, float, str, tuple, list, type, DType, _Zero, *map(type, map(np.dtype, "fdbhilqBHILQ")))
)


def _array_meta(options: ArrayOptions, dialect: str, limits: Limits) -> ArrayMeta:
    check_format(dialect)
    options = _without_inner_shape(options)
    wanted, shape = _dtype_and_shape(options)
    memory = _in_memory(wanted, dialect)
    chunks, shards = layout(shape, wanted.itemsize, options.get("chunks", "auto"), options.get("shards"))
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
        grid=RegularGrid(shards or chunks),
        keys=_keys(options.get("separator"), dialect),
        fill=_fill(options.get("fill_value", ZERO), memory),
        codecs=build_chain(options.get("codecs", "auto"), asked, limits),
        dims=dims,
        attributes=attributes,
        format=dialect,
    )


def _in_memory(wanted: DType, dialect: str) -> DType:
    """Return the type as the array will have it.

    In v3 the `bytes` codec swaps the elements, so that in memory they can be in the machine's order; not the fields of
    a structure, which lie as they are stored, and all in one order. Padding is left out: most readers do not know it.
    """
    if wanted.family == "struct":
        wanted = wanted._replace(numpy=packed(wanted.numpy))
        return wanted if dialect == "zarr2" else wanted.with_byteorder(wanted.byteorder or "native")
    return wanted if dialect == "zarr2" else wanted.with_byteorder("native")


def check_format(dialect: str) -> None:
    """Raise if a format cannot be written.

    Raises:
        MetadataError: If so.
    """
    if dialect not in FORMATS:
        raise MetadataError(f"format is {dialect!r}, not one of {', '.join(FORMATS)}")


def _without_inner_shape(options: ArrayOptions) -> ArrayOptions:
    """Make the array larger by the dimensions of its elements, where these are to be arrays, as zarr-python 2 did."""
    given = options.get("dtype")
    if isinstance(given, tuple) and not isinstance(given, DType):
        try:
            given = np.dtype(given)
        except (TypeError, ValueError):
            return options  # what is no type is complained of by whoever needs it
    inner = given.subdtype if isinstance(given, np.dtype) else None
    if inner is None:
        return options
    base, tail = inner
    options = {**options, "dtype": base}
    lengths = options.get("shape")
    if options.get("data") is not None or lengths is None:
        return options
    whole = tuple(lengths) if isinstance(lengths, Iterable) else (lengths,)
    options["shape"] = (*whole, *tail)
    for name in ("chunks", "shards"):
        extents = options.get(name)
        if isinstance(extents, (tuple, list)) and len(extents) == len(whole):
            options[name] = (*extents, *tail)
    return options


def _dtype_and_shape(options: ArrayOptions) -> tuple[DType, tuple[int, ...]]:
    data, given, lengths = options.get("data"), options.get("dtype"), options.get("shape")
    if data is not None and not isinstance(data, np.ndarray) and given is not None:
        wanted = DType.of(given)
        if wanted.family == "struct":  # only the type tells where a tuple is an element
            data = as_values(data, wanted.numpy, "", "")
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


def _keys(separator: str | None, dialect: str) -> Keys:
    if separator not in (None, "/", "."):
        raise MetadataError(f"separator is {separator!r}, not '/' or '.'")
    return v2_keys(separator or ".") if dialect == "zarr2" else default_keys(separator or "/")


def _dims(names: Sequence[str | None] | None, shape: tuple[int, ...]) -> tuple[str | None, ...] | None:
    if names is None:
        return None
    dims = (names,) if isinstance(names, str) else tuple(names)
    if len(dims) != len(shape) or not all(name is None or isinstance(name, str) for name in dims):
        raise ShapeError(f"dims {dims!r} do not name the {len(shape)} dimensions of the shape {shape}")
    return dims


def _fill(value: object, dtype: DType) -> Fill:
    if isinstance(value, _Zero):
        return Fill.of(NAT, dtype) if dtype.family == "time" else Fill.zero(dtype)
    return Fill.of(value, dtype)
