"""Arrays as nested lists, in JSON or MessagePack: `json2` and `msgpack2` of numcodecs, and their forerunners.

The stored list holds the outermost lists of the array, then its type as v2 spells it, then its shape; a single element
without dimensions is a list of that one. `json` and `msgpack`, which numcodecs gave up, leave the shape out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from omnizarr.codec.framing import join, split
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.codec.steps import Lowered
from omnizarr.errors import CorruptError, MetadataError
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import JSON_OBJECTS, MSGPACK_OBJECTS
from omnizarr.model.items import msgpack_module, packer, unpacker
from omnizarr.model.jsonvalue import JSON

Bytes = bytes | memoryview
_Dump = Callable[[list[Any]], bytes]
_Load = Callable[[bytes], Any]


def lower_nested(codec: Codec, stage: Stage) -> Lowered:
    """Return the steps of `json2`, `msgpack2`, `json` or `msgpack`.

    Raises:
        MetadataError: If an option does not suit it.
        UnsupportedError: If MessagePack is not installed, or the elements have no form in it.
    """
    options = Options(codec.name, codec.configuration)
    is_json = "json" in codec.name
    config, dump, load = _json(options) if is_json else _msgpack(options, codec.name)
    options.done()
    lists = Lists(codec.name, stage, dump, load, with_shape=codec.name.endswith("2"))
    after = stage.to_bytes(None, typed=False)
    step = {"name": codec.name, "encoded_size": None, "decoded_size": stage.size}
    if stage.vlen == "object":
        items = JSON_OBJECTS if is_json else MSGPACK_OBJECTS
        if stage.objects is not None and stage.objects.item != items.item:
            raise MetadataError(f"the codec holds {items.item} objects, not {stage.objects.item}", codec=codec.name)
        objects = ObjectLists(lists, prod(stage.shape), packer(items), unpacker(items))
        return Lowered(config, ("vlen", {}), after, then=(("python", {**step, "codec": objects, "kind": "bytes"}),))
    if stage.vlen or stage.dtype.kind not in "biufU":
        raise MetadataError(f"the codec cannot hold the type {stage.vlen or stage.dtype.str}", codec=codec.name)
    return Lowered(config, ("python", {**step, "codec": lists, "kind": "array-bytes"}), after)


def _json(options: Options) -> tuple[dict[str, JSON], _Dump, _Load]:
    json = import_module("json")  # most programs never need it
    encoding = options.raw("encoding", "utf-8")
    if not isinstance(encoding, str):
        raise options.wrong("encoding", encoding, "the name of a text encoding")
    indent = options.raw("indent")
    if not (indent is None or isinstance(indent, bool | int | str)):
        raise options.wrong("indent", indent, "a number, text or null")
    separators = options.raw("separators") or ([",", ":"] if indent is None else [", ", ": "])
    if not isinstance(separators, list | tuple) or len(separators) != 2 or not all(type(s) is str for s in separators):
        raise options.wrong("separators", separators, "a list of two texts")
    flags: dict[str, JSON] = {
        name: options.boolean(name, default=default)
        for name, default in (
            *(("skipkeys", False), ("ensure_ascii", True), ("check_circular", True)),
            *(("allow_nan", True), ("sort_keys", True)),
        )
    }
    strict = options.boolean("strict", default=True)
    encode = json.JSONEncoder(**flags, indent=indent, separators=tuple(separators)).encode
    decode = json.JSONDecoder(strict=strict).decode
    try:
        "[]".encode(encoding).decode(encoding)
    except (LookupError, UnicodeError):
        raise options.wrong("encoding", encoding, "the name of a text encoding") from None
    config = {"encoding": encoding, **flags, "indent": indent, "separators": list(separators), "strict": strict}
    return config, lambda items: encode(items).encode(encoding), lambda data: decode(data.decode(encoding))


def _msgpack(options: Options, name: str) -> tuple[dict[str, JSON], _Dump, _Load]:
    module = msgpack_module()
    config: dict[str, JSON]
    if name.endswith("2"):
        config = {
            "raw": options.boolean("raw", default=False),
            "use_bin_type": options.boolean("use_bin_type", default=True),
            "use_single_float": options.boolean("use_single_float", default=False),
        }
        settings, raw = {field: config[field] for field in ("use_bin_type", "use_single_float")}, config["raw"]
    else:
        # Text was the only kind of string; the encoding was never another.
        config = {"encoding": options.choice("encoding", "utf-8", ("utf-8", "utf8"))}
        settings, raw = {"use_bin_type": False}, False
    return (
        config,
        lambda items: module.packb(items, **settings),
        lambda data: module.unpackb(data, raw=raw, strict_map_key=False),
    )


class Lists:
    """The step between an array of numbers or text and its nested lists."""

    __slots__ = ("_dtype", "_dump", "_load", "_name", "_shape", "_with_shape")

    def __init__(self, name: str, stage: Stage, dump: _Dump, load: _Load, *, with_shape: bool) -> None:
        self._name = name
        self._dtype = stage.dtype
        self._shape = stage.shape
        self._dump = dump
        self._load = load
        self._with_shape = with_shape

    def encode(self, data: Bytes, shape: tuple[int, ...]) -> bytes:
        """Encode the dense bytes of one chunk."""
        return self.store(np.frombuffer(data, self._dtype).tolist(), shape)

    def decode(self, data: Bytes, size: int | None, shape: tuple[int, ...]) -> bytes:
        """Decode to the dense bytes of one chunk."""
        del size  # the kernel checks it
        items = self.items(data, shape)
        try:
            return np.array(items, self._dtype).reshape(shape).tobytes()
        except (TypeError, ValueError, OverflowError) as error:
            raise CorruptError(f"not elements of type {self._dtype.str}: {error}", codec=self._name) from error

    def store(self, items: list[Any], shape: tuple[int, ...] | None = None) -> bytes:
        """Store elements, given in C order."""
        shape = self._shape if shape is None else shape
        nested = _nested(items, shape) if shape else items
        tail: list[Any] = [self._dtype.str, list(shape)] if self._with_shape else [self._dtype.str]
        return self._dump([*nested, *tail])

    def items(self, data: Bytes, shape: tuple[int, ...] | None = None) -> list[Any]:
        """Return the elements in C order."""
        shape = self._shape if shape is None else shape
        try:
            stored = self._load(bytes(data))
        except (ValueError, RecursionError) as error:
            raise CorruptError(f"the list does not decode: {error}", codec=self._name) from error
        tail = 2 if self._with_shape else 1
        if not isinstance(stored, list) or len(stored) < tail:
            raise CorruptError("what is stored is not a list that ends with a type", codec=self._name)
        if self._with_shape:
            shape = self._checked(stored[-1], shape)
        items = _flat(stored[:-tail], shape or (1,))
        if items is None:
            raise CorruptError(f"the lists do not have the shape {shape}", codec=self._name)
        return items

    def _checked(self, found: object, shape: tuple[int, ...]) -> tuple[int, ...]:
        # A filter before this one makes a single dimension of all.
        for known in (shape, (prod(shape),)):
            if found == list(known):
                return known
        raise CorruptError(f"a chunk of shape {found!r} where {list(shape)} is expected", codec=self._name)


class ObjectLists:
    """The step between framed objects and their nested lists."""

    __slots__ = ("_count", "_lists", "_pack", "_unpack")

    def __init__(self, lists: Lists, count: int, pack: Callable[[Any], bytes], unpack: Callable[[bytes], Any]) -> None:
        self._lists = lists
        self._count = count
        self._pack = pack
        self._unpack = unpack

    def encode(self, data: Bytes) -> bytes:
        """Store framed objects."""
        return self._lists.store([self._unpack(item) for item in split(data, self._count, "vlen-bytes")])

    def decode(self, data: Bytes, size: int | None) -> bytes:
        """Frame the stored objects."""
        del size  # nobody can know it
        return join([self._pack(item) for item in self._lists.items(data)])


def _nested(items: Sequence[Any], shape: tuple[int, ...]) -> list[Any]:
    """Nest elements in lists, which gives lists of the shape's first length."""
    level = list(items)
    for axis in range(len(shape) - 1, 0, -1):
        length = shape[axis]
        level = [level[at * length : (at + 1) * length] for at in range(prod(shape[:axis]))]
    return level


def _flat(items: list[Any], shape: tuple[int, ...]) -> list[Any] | None:
    """Take elements out of nested lists; `None` where these have another shape."""
    level: list[Any] = [items]
    for length in shape:
        if not all(isinstance(part, list) and len(part) == length for part in level):
            return None
        level = [item for part in level for item in part]
    return level
