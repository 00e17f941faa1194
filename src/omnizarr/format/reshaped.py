"""Documents of an array that has got another shape, made from those that it had before.

Whoever appends changes nothing else, and to render a document and to parse it again takes longer than to write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from omnizarr.format.check import shape
from omnizarr.format.names import ZARR_JSON, ZARRAY
from omnizarr.format.parsed import Meta, remember
from omnizarr.format.v2_netcdf import writer_of
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import RegularGrid

_MOST_KEPT: Final = 64


# By the identities of all that is no shape, which stays alive here: what documents mean, those without a shape, the
# name of the one with it, and its text before and after that.
_kept: dict[tuple[int, ...], tuple[ArrayMeta, dict[str, bytes], str, bytes, bytes]] = {}


def keep(meta: Meta, texts: Mapping[str, bytes]) -> None:
    """Keep the documents of a node in mind if it is an array; `meta` is what they mean, as parsing them has told."""
    name = next((name for name in (ZARR_JSON, ZARRAY) if name in texts), None)
    if name is None or not isinstance(meta, ArrayMeta) or not isinstance(meta.grid, RegularGrid) or 0 in meta.shape:
        return
    if writer_of(meta.extra, meta.attributes):  # what netcdf-c writes of codecs depends on the shape, too
        return
    before, line, after = texts[name].partition(_line(meta.shape))
    if line:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        others = {other: text for other, text in texts.items() if other != name}
        _kept[_all_but_shape(meta)] = meta, others, name, before, after


def reshaped(meta: Meta, start: str, limits: Limits) -> tuple[ArrayMeta, dict[str, bytes]] | None:
    """Return an array as its documents say it, and these, if they are known but for the shape.

    Args:
        meta: The node.
        start: What the keys of the documents begin with.
        limits: Bounds on what they may claim.

    Returns:
        Both, or `None` where they are not, or what they were checked for depends on the shape: render and parse then.

    Raises:
        MetadataError: If no array can have the shape.
    """
    if limits is not DEFAULT_LIMITS or not isinstance(meta, ArrayMeta):
        return None
    known = _kept.get(_all_but_shape(meta))
    if known is None or len(meta.shape) != len(known[0].shape) or 0 in meta.shape:
        return None
    old, others, name, before, after = known
    seen = ArrayMeta(shape(list(meta.shape), start + name, limits), *old[1:])
    texts = {**others, name: before + _line(seen.shape) + after}
    remember(texts, seen)
    return seen, texts


def _all_but_shape(meta: ArrayMeta) -> tuple[int, ...]:
    return tuple(map(id, meta[1:]))


def _line(lengths: tuple[int, ...]) -> bytes:
    """Return the shape as a document has it: in the lines before it is nothing that anybody can choose."""
    return b'\n  "shape": %a' % list(lengths)
