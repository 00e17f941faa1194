"""From a variable of xarray to the values and options of an array to be created."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod
from typing import Any, Final

import numpy as np
from xarray import Variable, conventions
from xarray.backends import common
from xarray.coding import strings

from omnizarr.errors import MetadataError
from omnizarr.hierarchy.attrs import to_json_object
from omnizarr.hierarchy.create import ZERO, ArrayOptions
from omnizarr.interop.xarray import fills
from omnizarr.interop.xarray.words import codecs_from
from omnizarr.model.jsonvalue import JSON

_FILL: Final = "_FillValue"
_DROPPED: Final = frozenset(("source", "original_shape", "preferred_chunks", "unlimited_dims", "cache_metadata"))
_KNOWN: Final = frozenset(
    (
        *("chunks", "shards", "compressors", "compressor", "filters", "serializer", "codecs", "order"),
        *("chunk_key_encoding", "chunk_keys", "separator", "write_empty_chunks"),
    )
)


def encode_variable(var: Variable, name: str) -> Variable:
    """Return a variable whose values are those to be stored: packed, times as numbers, text as an array can hold it.

    Args:
        var: The variable; it is not changed.
        name: Its name, for messages.
    """
    coders = getattr(conventions, "ZARR_CODERS", None)  # older versions store booleans as bytes everywhere
    more = {} if coders is None else {"coders": coders}
    try:
        var = conventions.encode_cf_variable(var, name=name, **more)
        ensure = without_objects()
        var = ensure(var, name=name)
    except Exception as error:
        error.add_note(f"Raised while encoding variable {name!r}")
        raise
    if var.dtype.kind == "T" and var.dtype == np.dtypes.StringDType():  # which knows no missing values
        return var
    var = strings.EncodedStringCoder(allows_unicode=True).encode(var, name=name)
    return strings.ensure_fixed_length_bytes(var)


def array_options(var: Variable, name: str, *, new: bool, checked: bool) -> ArrayOptions:
    """Return the options that create the array of an encoded variable.

    Args:
        var: The variable, as `encode_variable` gives it.
        name: Its name, for messages.
        new: Whether for Zarr v3.
        checked: Whether the user gave the encoding for this very call, so that a word nobody knows is an error.

    Raises:
        ValueError: If the encoding holds such a word.
        TypeError: If chunks are no whole numbers.
    """
    words = known_words(var.encoding, name, new=new, checked=checked)
    attrs: dict[str, Any] = json_attributes({one: value for one, value in var.attrs.items() if one != _FILL}, name)
    fill: object = words.get("fill_value")
    given = var.attrs.get(_FILL)
    if new:
        if given is not None:
            attrs[_FILL] = fills.to_json(var.attrs[_FILL], var.dtype)
        if fill is None:
            # Of what was never written nothing is known: as xarray has it since v3.
            fill = np.nan if var.dtype.kind == "f" else ZERO
    else:
        fill = var.attrs.get(_FILL)
    options: ArrayOptions = {
        "shape": var.shape,
        "dtype": str if strings.check_vlen_dtype(var.dtype) is str else var.dtype,
        "chunks": chunks_of(var, words, name),
        "shards": words.get("shards") if checked else _inherited_shards(var, words, new=new),
        "codecs": codecs_from(words),
        "fill_value": fill,
        "dims": [str(dim) for dim in var.dims],
        "attrs": attrs,
        "order": words.get("order", "C"),
        "separator": words.get("separator"),
        "chunk_keys": _keys(words.get("chunk_keys", words.get("chunk_key_encoding"))),
    }
    return options


def known_words(
    encoding: Mapping[str, Any], name: str, *, new: bool, checked: bool, more: Collection[str] = ()
) -> dict[str, Any]:
    """Return the entries of an encoding that say something about an array.

    Raises:
        ValueError: If the user gave one that nobody knows.
    """
    known = {*_KNOWN, *more, "fill_value"} if new else {*_KNOWN, *more}
    words = {word: value for word, value in encoding.items() if word in known}
    unknown = [word for word in encoding if word not in known and word not in _DROPPED and word != _FILL]
    if encoding.get(_FILL) is not None:
        raise ValueError(f"the encoding of {name!r} has a _FillValue that its attributes contradict")
    if checked and unknown:
        hint = " Use `_FillValue` to set the fill value of an array." if "fill_value" in unknown else ""
        raise ValueError(f"unexpected encoding parameters for variable {name!r}: {unknown!r}.{hint}")
    return words


def chunks_of(var: Variable, words: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - what create_array takes
    """Return the shape of chunks: what the encoding says, else that of Dask's chunks, else "auto".

    Raises:
        TypeError: If the encoding says something that is no shape of chunks.
    """
    given = words.get("chunks")
    if given is not None and not isinstance(given, str):
        if isinstance(given, (int, np.integer)):
            return (int(given),) * var.ndim if var.ndim else "auto"
        lengths = tuple(given)
        if not all(isinstance(one, (int, np.integer, tuple, list)) for one in lengths):
            raise TypeError(
                f"chunks of variable {name!r} are {lengths!r}: each must be a whole number, or several of them"
            )
        if len(lengths) == var.ndim and _fits(lengths, var.shape):
            return lengths or "auto"
    if var.chunks is None or not var.ndim or not prod(var.shape):
        return "auto"
    # One shape for all: Dask's chunks may differ, since parts of a chunk can be written by several tasks.
    return tuple(max(1, *lengths) for lengths in var.chunks)


def _inherited_shards(var: Variable, words: Mapping[str, Any], *, new: bool) -> Any:  # noqa: ANN401 - as above
    """Return the shape of shards that came with the values, unless these have another shape or format by now."""
    given, chunks = words.get("shards"), words.get("chunks")
    for lengths in (given, chunks):
        if isinstance(lengths, (tuple, list)) and not (len(lengths) == var.ndim and _fits(tuple(lengths), var.shape)):
            return None
    return given if new and var.ndim else None


def _fits(lengths: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Whether lengths of chunks that differ are those of this shape, and not of the one that it was cut from."""
    return all(isinstance(one, (int, np.integer)) or sum(one) == size for one, size in zip(lengths, shape, strict=True))


def _keys(given: Any) -> Any:  # noqa: ANN401 - whatever says how chunks are named
    describe = getattr(given, "to_dict", None)
    return describe() if callable(describe) else given


def json_attributes(attrs: Mapping[Any, Any], name: str) -> dict[str, JSON]:
    """Return attributes as documents hold them.

    Raises:
        TypeError: If a value has no form in JSON.
    """
    plain = {
        one: value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value for one, value in attrs.items()
    }
    try:
        return to_json_object(plain)
    except MetadataError as error:
        raise TypeError(f"Invalid attribute in Dataset.attrs: {error} ({name})") from error


def without_objects() -> Any:  # noqa: ANN401 - a function of xarray's
    """Return xarray's function that finds out which type elements of no type have; it has moved between releases."""
    found = getattr(common, "ensure_dtype_not_object", None)
    return found or getattr(conventions, "ensure_dtype_not_object")  # noqa: B009 - not known to newer releases
