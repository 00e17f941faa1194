"""Codecs in the words of xarray's encoding: `compressors`, `filters`, `serializer`.

They are plain mappings, as documents spell them: those of v3 (`name`, `configuration`), those of v2 (`id`, …). Both are
understood by whatever writes, here and in zarr-python; but that takes filters of v2 only as objects of numcodecs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from omnizarr.codec.registry import kind_of
from omnizarr.errors import UnsupportedError
from omnizarr.format.v2_codecs import render_codecs
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType

_known: dict[tuple[int, int, DType, bool], tuple[tuple[Codec, ...], dict[str, Any]]] = {}
"""By the identity of the codecs, which stay alive here."""
_MOST_KNOWN: Final = 256

_OF_TYPES: Final = frozenset(("vlen-utf8", "vlen-bytes"))
"""Filters of v2 that follow from the type: who writes the type knows that it needs them."""


def words_of(codecs: tuple[Codec, ...], ndim: int, dtype: DType, *, new: bool) -> dict[str, Any]:
    """Return the entries of an encoding that say how chunks are stored.

    Args:
        codecs: What encodes a chunk, in the order of writing.
        ndim: Number of dimensions.
        dtype: The array's type.
        new: Whether in the words of v3, else in those of v2 where it has words.
    """
    # Arrays of a dataset are much alike, and those that are share what was parsed.
    key = id(codecs), ndim, dtype, new
    known = _known.get(key)
    if known is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        known = _known[key] = codecs, _in_v3(codecs) if new else _in_v2(codecs, ndim, dtype)
    # Whoever changes an encoding changes that of no other dataset.
    words = {name: copied(word) for name, word in known[1].items()}
    if words["filters"] and "id" in words["filters"][0]:
        words["filters"] = _objects(words["filters"])
    return words


def _objects(filters: tuple[dict[str, Any], ...]) -> tuple[Any, ...]:
    """Return filters of v2 as objects of numcodecs where it is installed and has them."""
    try:
        registry = import_module("numcodecs.registry")  # optional, and slow to import
    except ImportError:
        return filters
    return tuple(_object(registry, one) for one in filters)


def _object(registry: ModuleType, words: dict[str, Any]) -> Any:  # noqa: ANN401 - numcodecs has no types
    try:
        return registry.get_codec(words)
    except (
        ImportError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
    ):  # one that it does not have, or not with such settings
        return words


def copied(word: Any) -> Any:  # noqa: ANN401 - JSON, and tuples of it
    """Copy what is made of dictionaries, lists and tuples: as `deepcopy`, in a fraction of its time."""
    if isinstance(word, dict):
        return {name: copied(value) for name, value in word.items()}
    if isinstance(word, tuple):
        return tuple(map(copied, word)) if word else word
    return list(map(copied, word)) if isinstance(word, list) else word


def _in_v3(codecs: tuple[Codec, ...]) -> dict[str, Any]:
    found: dict[str, list[dict[str, Any]]] = {"array": [], "array-bytes": [], "bytes": []}
    for codec in codecs:
        found[kind_of(codec.name) or "bytes"].append(_plain(codec))
    return {
        "compressors": tuple(found["bytes"]),
        "filters": tuple(found["array"]),
        "serializer": found["array-bytes"][0] if found["array-bytes"] else "auto",
    }


def _plain(codec: Codec) -> dict[str, Any]:
    words: dict[str, Any] = {"name": codec.name}
    if codec.configuration:
        words["configuration"] = dict(codec.configuration)
    return words


def _in_v2(codecs: tuple[Codec, ...], ndim: int, dtype: DType) -> dict[str, Any]:
    try:
        pipeline = render_codecs(codecs, ndim, dtype)
    except UnsupportedError:  # of another old format
        return _in_v3(codecs)
    filters: list[Any] = pipeline.filters or []
    words: dict[str, Any] = {
        "compressors": () if pipeline.compressor is None else (pipeline.compressor,),
        "filters": tuple(one for one in filters if one["id"] not in _OF_TYPES),
    }
    if pipeline.order == "F":
        words["order"] = "F"
    return words


def codecs_from(words: Mapping[str, Any]) -> object:
    """Return what an encoding asks for as `codecs=` of `omnizarr.create_array`.

    `compressor` is the word of older versions; `codecs`, the word of Omnizarr, says all by itself.
    """
    if "codecs" in words:
        return words["codecs"]
    if not any(name in words for name in ("compressors", "compressor", "filters", "serializer")):
        return "auto"
    compressors = _listed(words.get("compressors", words.get("compressor", "auto")))
    filters, serializer = _listed(words.get("filters", "auto")), _listed(words.get("serializer", "auto"))
    if compressors is None and not filters and not serializer:
        return "auto"
    chain = [*(filters or ()), *(serializer or ()), *(compressors or ())]
    return chain or None


def _listed(value: object) -> list[object] | None:
    """Return codecs as a list; `None` where the choice is left to whoever writes."""
    if isinstance(value, str) and value == "auto":
        return None
    if value is None:
        return []
    if isinstance(value, Iterable) and not isinstance(value, (str, Mapping, Codec)):
        return list(value)
    return [value]
