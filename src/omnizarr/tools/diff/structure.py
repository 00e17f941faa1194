"""What two nodes are, as their documents say: shape, type, dimensions, fill value; encodings if asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from omnizarr.format.v2 import DIMENSIONS, parse_dims
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.consolidated import load_block
from omnizarr.hierarchy.group import Group
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec, canonical
from omnizarr.model.fill import Fill
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.diff.kinds import kinds_of, same_type
from omnizarr.tools.diff.result import Change
from omnizarr.tools.diff.typed import Rules
from omnizarr.tools.nodes import Node, context_of


def kind_of(node: Node) -> str:
    """Return `array` or `group`."""
    return "array" if isinstance(node, Array) else "group"


def dims_of(meta: ArrayMeta) -> tuple[str | None, ...] | None:
    """Return the names of dimensions, in whatever place the dialect keeps them; `None` if none has a name."""
    dims = meta.dims
    if dims is None:
        dims = parse_dims(meta.attributes.get(DIMENSIONS), meta.ndim)
    return None if dims is None or all(name is None for name in dims) else dims


def attributes_of(node: Node) -> Mapping[str, JSON]:
    """Return the attributes; without that which only names the dimensions."""
    meta = node.metadata
    if isinstance(meta, ArrayMeta) and DIMENSIONS in meta.attributes:
        dims = parse_dims(meta.attributes[DIMENSIONS], meta.ndim)
        if dims is not None and (dims or None) == dims_of(meta):
            return {name: value for name, value in meta.attributes.items() if name != DIMENSIONS}
    return meta.attributes


def changes(a: Node, b: Node, rules: Rules, *, encoding: bool) -> tuple[Change, ...]:
    """List what differs between two nodes but for attributes and values."""
    if isinstance(a, Array) and isinstance(b, Array):
        found = list(_of_arrays(a.metadata, b.metadata, rules))
        if encoding:
            found += _of_encodings(a.metadata, b.metadata)
    elif isinstance(a, Group) and isinstance(b, Group):
        found = list(_of_groups(a, b)) if encoding else []
    else:
        found = [Change("kind", kind_of(a), kind_of(b))]
    return tuple(found)


def _of_arrays(a: ArrayMeta, b: ArrayMeta, rules: Rules) -> Iterator[Change]:
    if a.shape != b.shape:
        yield Change("shape", a.shape, b.shape)
    if not same_type(a.dtype, b.dtype):
        yield Change("dtype", a.dtype.label, b.dtype.label)
    ours, theirs = dims_of(a), dims_of(b)
    if ours != theirs:
        yield Change("dims", ours, theirs)
    if not same_fill(a, b, rules):
        yield Change("fill_value", a.fill.value(a.dtype), b.fill.value(b.dtype))


def same_fill(a: ArrayMeta, b: ArrayMeta, rules: Rules) -> bool:
    """Whether elements that were never written read the same; an undefined fill reads as zero."""
    kinds = kinds_of(a.dtype, b.dtype, rules._replace(rtol=0.0, atol=0.0, equal_nan=True))
    if isinstance(kinds, str):
        return False
    one, other = (_one(meta) for meta in (a, b))
    for kind in kinds:
        x, y = kind.pick(one), kind.pick_b(other)
        unequal = kind.unequal(x, y)
        if kind.missing is not None and not rules.bits:
            unequal &= ~(kind.missing(x) & kind.missing(y))
        if unequal.any():
            return False
    return True


def _one(meta: ArrayMeta) -> Any:  # noqa: ANN401 - an array of the array's type
    fill = Fill.zero(meta.dtype) if meta.fill.bits is None else meta.fill
    box = np.empty(1, object if meta.dtype.vlen else meta.dtype.numpy)
    box[0] = fill.value(meta.dtype)
    return box


def _of_encodings(a: ArrayMeta, b: ArrayMeta) -> Iterator[Change]:
    for what, ours, theirs in (
        ("format", a.format, b.format),
        ("chunks", a.chunks, b.chunks),
        ("shards", a.shards, b.shards),
        ("codecs", _codecs(a.codecs), _codecs(b.codecs)),
        ("keys", _example(a), _example(b)),
        ("fill bits", *((_bits(a), _bits(b)) if same_type(a.dtype, b.dtype) else ("", ""))),
        ("other fields", dict(a.extra), dict(b.extra)),
    ):
        if ours != theirs:
            yield Change(what, ours, theirs)


def _example(meta: ArrayMeta) -> str:
    """Return the key of a chunk that shows prefix, separator, suffix and order of indices."""
    return meta.keys.key(tuple(range(meta.ndim)))


def _bits(meta: ArrayMeta) -> str:
    if meta.fill.bits is None:
        return "undefined"
    turned = meta.dtype.with_byteorder("big")
    bits = meta.fill.bits if turned == meta.dtype else Fill.of(meta.fill.value(meta.dtype), turned).bits
    return "" if bits is None else bits.hex()


def _codecs(codecs: tuple[Codec, ...]) -> list[dict[str, Any]]:
    return [{"name": canonical(one.name), "configuration": dict(one.configuration)} for one in codecs]


def _of_groups(a: Group, b: Group) -> Iterator[Change]:
    if a.format != b.format:
        yield Change("format", a.format, b.format)
    ours, theirs = _is_consolidated(a), _is_consolidated(b)
    if ours != theirs:
        yield Change("consolidated", ours, theirs)
    if dict(a.metadata.extra) != dict(b.metadata.extra):
        yield Change("other fields", dict(a.metadata.extra), dict(b.metadata.extra))


def _is_consolidated(group: Group) -> bool:
    context = context_of(group)
    return load_block(context.store, group.path, context.limits) is not None
