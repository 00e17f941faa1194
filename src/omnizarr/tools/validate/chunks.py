"""Rules about chunks and shards, which the kernel looks at; and the census of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from math import prod
from time import monotonic
from typing import Final, NamedTuple

from omnizarr.array.io import Access
from omnizarr.errors import OmnizarrError, StoreError
from omnizarr.format.dialects import DIALECTS
from omnizarr.format.names import ZARRAY, ZMETADATA, join
from omnizarr.hierarchy.real_keys import with_real_keys
from omnizarr.model.array import ArrayMeta
from omnizarr.native import Checked, Survey
from omnizarr.store.wrap import listing_view
from omnizarr.tools.cluster.checking import CheckedThere, check_on
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.cluster.moving import Side
from omnizarr.tools.validate.keys import Odd
from omnizarr.tools.validate.nodes import Node
from omnizarr.tools.validate.report import ArrayCensus, Cure, Sink
from omnizarr.tools.validate.scene import Scene

_FIRST: Final = 64
"""Chunks that the kernel looks at in its first call; later ones have as many as take a moment."""

_LARGEST: Final = 65_536

_MOMENT: Final = 0.2
_MOST_KEYS: Final = 100_000
_MOST_TOLD: Final = 20
_MOST_HOLLOW: Final = 4096
"""Shards beyond this are not looked at one by one to find those that hold nothing, which is no fault."""

_OWN: Final = (ZMETADATA, *(name for one in DIALECTS.values() for name in one.documents))

_RULES: Final = {
    "empty": "OZ701",
    "size": "OZ702",
    "checksum": "OZ704",
    "shard-checksum": "OZ706",
    "shard-range": "OZ707",
    "shard-overlap": "OZ708",
    "corrupt-shard": "OZ711",
    "store": "OZ712",
    "read-only": "OZ712",
    "unsafe": "OZ712",
}


class Look(NamedTuple):
    """What all arrays of one run share."""

    scene: Scene
    sink: Sink
    decode: bool
    tick: Callable[[int, int], None]
    """Called with the numbers of chunks and of bytes that were just looked at."""

    crew: Crew | None = None
    """Workers that look at chunks, if this process does not."""


def check_chunks(look: Look, nodes: dict[str, Node]) -> tuple[dict[str, Odd], list[ArrayCensus]]:
    """Look at the chunks of all arrays; nodes whose chunks are elsewhere than they say are replaced in `nodes`."""
    odd: dict[str, Odd] = {}
    census: list[ArrayCensus] = []
    for path, node in list(nodes.items()):
        if not isinstance(node.meta, ArrayMeta):
            continue
        meta = _real(look, node.meta, path)
        nodes[path] = node._replace(meta=meta)
        try:
            access = Access(listing_view(look.scene.store), path, meta, limits=look.scene.limits)
            survey = access.kernel.survey(_OWN, _MOST_KEYS)
        except OmnizarrError as error:
            rule = "OZ712" if isinstance(error, StoreError) else "OZ713"
            message = f"the chunks cannot be looked at: {error.message}"
            look.sink.add(rule, (path, error.key), message, hint=error.hint)
            continue
        odd[path] = Odd(survey.outside, survey.noutside, [*survey.stray, *survey.debris])
        try:
            census.append(_check_array(look, path, meta, survey))
        except OmnizarrError as error:
            look.sink.add("OZ712", (path, error.key), error.message, hint=error.hint)
    return odd, census


def _real(look: Look, meta: ArrayMeta, path: str) -> ArrayMeta:
    try:
        real = with_real_keys(look.scene.store, path, meta, near=True)
    except OmnizarrError as error:
        look.sink.add("OZ712", (path, error.key), error.message, hint=error.hint)
        return meta
    if real.keys != meta.keys and meta.shape:
        key = join(path, ZARRAY)
        cure = Cure("edit", key, "/dimension_separator", "/")
        message = "chunks lie in folders, but the document does not say so: other readers see none of them"
        look.sink.add("OZ324", (path, key), message, pointer="/dimension_separator", cures=(cure,))
    return real


def _check_array(look: Look, path: str, meta: ArrayMeta, survey: Survey) -> ArrayCensus:
    told: Counter[str] = Counter()
    cells = filled = 0
    for start, stop, checked in _checks(look, path, meta, survey):
        cells += checked.cells_present
        filled += checked.filled
        for key, kind, message in checked.faults:
            _tell(look, path, (key, kind, message), told)
        if checked.cells_present < checked.cells and survey.present <= _MOST_HOLLOW:
            _tell_hollow(look, path, survey, start, stop)
        look.tick(stop - start, checked.nbytes)
    for rule, count in told.items():
        if count > _MOST_TOLD:
            rest = count - _MOST_TOLD
            look.sink.add(rule, (path, None), f"{rest} more chunks are like this", times=rest)
    total = prod(meta.cells.counts(meta.shape)) if meta.is_sharded else survey.total
    present = cells if meta.is_sharded else survey.present
    return ArrayCensus(path, total, present, filled if look.decode else None, survey.present, survey.nbytes)


def _checks(
    look: Look, path: str, meta: ArrayMeta, survey: Survey
) -> Iterator[tuple[int, int, Checked | CheckedThere]]:
    """Look at all chunks, some at a time."""
    if look.crew is not None:
        side = Side(look.scene.store, path, meta, look.scene.limits)
        yield from check_on(look.crew, side, (_OWN, _MOST_KEYS), survey.present, decode=look.decode)
        return
    size, stop = _FIRST, 0
    while stop < survey.present:
        start, stop, began = stop, min(stop + size, survey.present), monotonic()
        checked = survey.check(start, stop, look.decode)
        size = max(1, size // 2) if monotonic() - began > 2 * _MOMENT else min(2 * size, _LARGEST)
        yield start, stop, checked


def _tell(look: Look, path: str, fault: tuple[str, str, str], told: Counter[str]) -> None:
    inner, kind, message = fault
    rule = _RULES.get(kind, "OZ703")
    if rule == "OZ707" and "half" in message:
        rule = "OZ709"
    elif rule == "OZ711" and "alone takes" in message:
        rule = "OZ705"
    elif rule == "OZ703" and '"n5_default"' in message:
        rule = "OZ714"
    told[rule] += 1
    if told[rule] <= _MOST_TOLD or rule == "OZ701":
        key = look.scene.chunk(path, inner)
        cures = (Cure("erase", key),) if rule == "OZ701" and look.scene.draft is None else ()
        look.sink.add(rule, (path, key), message, cures=cures)


def _tell_hollow(look: Look, path: str, survey: Survey, start: int, stop: int) -> None:
    keys = survey.keys(start, stop)
    for at, inner in enumerate(keys, start):
        one = survey.check(at, at + 1)
        if one.chunks and not one.gone and one.cells and not one.cells_present and not one.nfaults:
            key = look.scene.chunk(path, inner)
            cures = (Cure("erase", key),) if look.scene.draft is None else ()
            look.sink.add("OZ710", (path, key), "the shard holds no chunk", cures=cures)
