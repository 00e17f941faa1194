"""From what a user asks for to the metadata of a new array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, cast

import numpy as np

from omnizarr.array.defaults import Extents, as_lists, grid_layout
from omnizarr.array.uneven import is_uneven
from omnizarr.array.values import as_values
from omnizarr.codec.chain import Layout, as_codecs, build_chain
from omnizarr.codec.object_type import is_object, object_type
from omnizarr.errors import MetadataError, ShapeError, UnsupportedError
from omnizarr.format.dialects import DIALECTS, WRITABLE, ZARR0, ZARR1, ZARR2, Dialect
from omnizarr.format.v2 import DIMENSIONS
from omnizarr.format.v3_codecs import parse_named
from omnizarr.format.v3_dtype import parse_dtype
from omnizarr.format.v3_keys import parse_keys
from omnizarr.hierarchy.attrs import to_json_object
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec, blosc_shuffle, canonical
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys
from omnizarr.model.structs import packed

if TYPE_CHECKING:
    import numpy.typing as npt

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
    dtype: npt.DTypeLike | DType | Mapping[str, JSON] | None
    data: Any
    chunks: Extents | Literal["auto"] | bool | None
    shards: Extents | Literal["auto"] | bool | None
    codecs: object
    fill_value: object
    dims: Sequence[str | None] | None
    attrs: Mapping[str, object] | None
    order: Literal["C", "F"]
    separator: Literal["/", "."] | None
    cname: str | None
    clevel: int | None
    shuffle: int | str | None
    chunk_keys: Keys | str | Mapping[str, object] | None


def array_meta(options: ArrayOptions, dialect: str, limits: Limits = DEFAULT_LIMITS) -> ArrayMeta:
    """Return the metadata of an array to be created.

    Args:
        options: What the user said; see `omnizarr.create_array`.
        dialect: The name of the format.
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
    if options.get("attrs") or options.keys() != _ALL or not _PLAIN.issuperset(map(type, options.values())):
        return ""
    if is_uneven(options.get("chunks")) or is_uneven(options.get("shards")):
        return ""  # the text of a long array leaves some of it out
    fill = options.get("fill_value")
    if fill != fill:  # noqa: PLR0124 - a NaN has many forms
        return ""
    try:
        return repr((dialect, None if limits is DEFAULT_LIMITS else limits, *options.values()))
    except ValueError:  # an integer of more digits than Python writes
        return ""


_ALL: Final = ArrayOptions.__annotations__.keys()
# Types whose text says all there is to say; iterators and objects of other packages are not among them.
_PLAIN: Final = frozenset(
    (NoneType, bool, int, float, str, tuple, list, type, DType, _Zero, *map(type, map(np.dtype, "fdbhilqBHILQ")))
)


def _array_meta(options: ArrayOptions, dialect: str, limits: Limits) -> ArrayMeta:
    form = check_format(dialect)
    options = _without_inner_shape(options)
    wanted, shape = _dtype_and_shape(options)
    if wanted.name == "object" and form is not ZARR2:
        raise UnsupportedError("only Zarr v2 has arrays of Python objects", hint='Pass format="zarr2".')
    memory = _in_memory(wanted, form, options.get("codecs", "auto"))
    grid, chunks, shards = grid_layout(shape, wanted.itemsize, options.get("chunks", "auto"), options.get("shards"))
    if options.get("order", "C") not in ("C", "F"):
        raise MetadataError(f"order is {options.get('order')!r}, not 'C' or 'F'")
    asked = Layout(memory, chunks, shards, options.get("order", "C"), wanted.byteorder or None)
    dims = _dims(options.get("dims"), shape)
    attributes = to_json_object(options.get("attrs") or {})
    if form.attributes and dims is not None and attributes.get(DIMENSIONS, list(dims)) != list(dims):
        raise ShapeError(f"dims are {dims!r}, but the attribute {DIMENSIONS} says {attributes[DIMENSIONS]!r}")
    return ArrayMeta(
        shape=shape,
        dtype=memory,
        grid=grid,
        keys=_keys(options.get("chunk_keys"), options.get("separator"), form),
        fill=_fill(options.get("fill_value", ZERO), memory),
        codecs=build_chain(_codecs(options, form), asked, limits),
        dims=dims,
        attributes=attributes,
        format=dialect,
    )


def _in_memory(wanted: DType, form: Dialect, codecs: object) -> DType:
    """Return the type as the array will have it.

    In v3 the `bytes` codec swaps the elements, so that in memory they can be in the machine's order; not the fields of
    a structure, which lie as they are stored, and all in one order. Padding is left out: most readers do not know it.
    """
    if wanted.family == "struct":
        wanted = wanted._replace(numpy=packed(wanted.numpy))
        if form.keeps_byte_order:
            return wanted
        orders = [codec.configuration.get("endian") for codec in as_codecs(codecs) if canonical(codec.name) == "bytes"]
        if any(orders):
            return wanted.with_byteorder("big" if orders[0] == "big" else "little")
        return wanted.with_byteorder(wanted.byteorder or "native")
    return wanted if form.keeps_byte_order else wanted.with_byteorder("native")


def check_format(name: str) -> Dialect:
    """Return the format of a name, if it can be written.

    Raises:
        MetadataError: If not.
    """
    if name not in WRITABLE:
        hint = f"{name} can only be read." if name in DIALECTS else None
        raise MetadataError(f"format is {name!r}, not one of {', '.join(WRITABLE)}", hint=hint)
    return DIALECTS[name]


def _codecs(options: ArrayOptions, form: Dialect) -> object:
    """Return the codecs asked for; `cname`, `clevel` and `shuffle` are short for Blosc."""
    codecs = options.get("codecs", "auto")
    blosc: dict[str, JSON] = {
        "cname": options.get("cname"),
        "clevel": options.get("clevel"),
        "shuffle": options.get("shuffle"),
    }
    given = {name: value for name, value in blosc.items() if value is not None}
    automatic = isinstance(codecs, str) and codecs == "auto"
    # The first format has nothing but Blosc, and the next one no other codec for the order F.
    needed = form is ZARR0 or (form is ZARR1 and options.get("order") == "F")
    if not given and not (automatic and needed):
        return codecs
    if not automatic:
        raise MetadataError("codecs= excludes cname=, clevel= and shuffle=, which are short for Blosc")
    shuffle = given.get("shuffle", 1)
    # blosclz is what the first versions took unless told otherwise.
    default = "blosclz" if form is ZARR0 else "lz4"
    return [Codec("blosc", {"cname": default, "clevel": 5, **given, "shuffle": blosc_shuffle(shuffle, 0) or shuffle})]


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
        extents = as_lists(options.get(name))
        if isinstance(extents, (tuple, list)) and len(extents) == len(whole):
            options[name] = (*extents, *tail)
    return options


def _dtype_and_shape(options: ArrayOptions) -> tuple[DType, tuple[int, ...]]:
    data, given, lengths = options.get("data"), options.get("dtype"), options.get("shape")
    wanted = None if given is None else _dtype(given, options)
    # Only the type tells where a tuple is an element.
    if data is not None and not isinstance(data, np.ndarray) and wanted is not None and wanted.family == "struct":
        data = as_values(data, wanted.numpy, "", "")
    if data is not None:
        # A list of text is variable-length text; an array says itself what it is.
        try:
            array = np.asarray(data, object if is_object(given) else None)
        except ValueError as error:  # lists of different lengths
            raise ShapeError(f"the data are no array: {error}") from error
        if wanted is None:
            text = not isinstance(data, np.ndarray) and array.dtype.kind == "U"
            wanted = _dtype(str if text else array.dtype, options)
        lengths = array.shape if lengths is None else lengths
    if lengths is None:
        raise ShapeError("a new array needs a shape", hint="pass shape=(…), or data=")
    return DType.of("float64") if wanted is None else wanted, as_shape(lengths)


def as_shape(given: object) -> tuple[int, ...]:
    """Return lengths as users give them, one or several, as a tuple.

    Raises:
        ShapeError: If they are no whole numbers, or out of range.
    """
    # An array without dimensions is one length, though its type says that it is many.
    lengths: Any = given if isinstance(given, Iterable) and getattr(given, "ndim", 1) != 0 else (given,)
    try:
        shape = tuple(int(index(length)) for length in lengths)
    except TypeError:
        shape = None
    if shape is None or isinstance(given, (str, bytes, Mapping)):
        raise ShapeError(f"the shape is {given!r}, and lengths are whole numbers")
    if any(length >> 63 not in (0, -1) for length in shape):
        raise ShapeError("the shape has a length that 64 bits cannot hold")
    if any(length < 0 for length in shape):
        raise ShapeError(f"the shape {shape} has a negative length")
    return shape


def _dtype(given: object, options: ArrayOptions) -> DType:
    if isinstance(given, dict) and "name" in given:  # as a v3 document spells it
        return parse_dtype(cast("JSON", given), "dtype")
    if is_object(given):
        return object_type(options.get("codecs", "auto"))
    return DType.of(cast("npt.DTypeLike", given))


def _keys(given: Keys | str | Mapping[str, object] | None, separator: str | None, form: Dialect) -> Keys:
    if separator not in (None, "/", "."):
        raise MetadataError(f"separator is {separator!r}, not '/' or '.'")
    if given is None:
        return form.keys(separator)
    if separator is not None and not isinstance(given, str):
        raise MetadataError("separator= and chunk_keys= exclude each other", hint="chunk_keys says what separates")
    if isinstance(given, Keys):
        return given
    if isinstance(given, str):
        return parse_keys(Codec(given, {} if separator is None else {"separator": separator}), "chunk_keys")
    if not isinstance(given, Mapping):
        raise MetadataError(f"chunk_keys is a name, a mapping or a template of keys, not {given!r}")
    return parse_keys(parse_named(to_json_object(given), "/chunk_key_encoding", "chunk_keys"), "chunk_keys")


def _dims(names: Sequence[str | None] | None, shape: tuple[int, ...]) -> tuple[str | None, ...] | None:
    if names is None:
        return None
    try:
        dims = (names,) if isinstance(names, str) else tuple(names)
    except TypeError:
        hint = 'Pass one name, or None, for each dimension: dims=("time", None).'
        raise ShapeError(f"dims is {names!r}, which is no sequence of names", hint=hint) from None
    if len(dims) != len(shape) or not all(name is None or isinstance(name, str) for name in dims):
        raise ShapeError(f"dims {dims!r} do not name the {len(shape)} dimensions of the shape {shape}")
    return dims


def _fill(value: object, dtype: DType) -> Fill:
    if isinstance(value, _Zero):
        return Fill.of(NAT, dtype) if dtype.family == "time" else Fill.zero(dtype)
    return Fill.of(value, dtype)
