"""One run over a store: all rules, and if asked for repairs and another run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Final, NamedTuple

from omnizarr.errors import OmnizarrWarning
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.opening import Place, missing
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.store.protocol import Store, place_name
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.nodes import context_of
from omnizarr.tools.progress import Progress, silent
from omnizarr.tools.validate.archive import check_archive
from omnizarr.tools.validate.chunks import Look, check_chunks
from omnizarr.tools.validate.consolidated import check_consolidated
from omnizarr.tools.validate.keys import check_keys
from omnizarr.tools.validate.nodes import check_hierarchy, check_nodes
from omnizarr.tools.validate.repair import apply, cures_of, levels
from omnizarr.tools.validate.report import Finding, Report, Sink
from omnizarr.tools.validate.rules import Selection, selection
from omnizarr.tools.validate.scene import survey_scene

_ROUNDS: Final = 4
"""How often what a repair brings to light is repaired, too."""

_ORDER: Final = {"error": 0, "warning": 1, "note": 2}


class _Run(NamedTuple):
    """What one call was asked for."""

    wanted: Selection
    decode: bool
    limits: Limits
    progress: Progress
    crew: Crew | None = None


def validate(
    where: object,
    *,
    path: str | None = None,
    decode: bool = False,
    repair: bool | str = False,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] | None = None,
    progress: Progress | None = None,
    cluster: object = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Report:
    """Check a store, or a part of it, against the specifications of its format.

    Documents, keys, the sizes of chunks, the indexes of shards and consolidated metadata are looked at. Chunks that
    are not stored are no fault; the census counts them.

    Args:
        where: Any place that `omnizarr.open` takes, or an array or group.
        path: Path of a node within it.
        decode: Whether to decode every chunk, too.
        repair: Whether to mend what can be mended. `True` or "safe": what loses nothing and guesses nothing. "all":
            also what does, such as erasing chunks outside the array. "zarr3" or "zarr2": also erases the documents of
            the other format where both are there. Several are joined by commas. Nothing else should write meanwhile.
        select: Ids of rules, what they begin with, or their names; only these count.
        ignore: The same of rules that do not count.
        progress: Called now and then with how far the work has come.
        cluster: Who looks at chunks, if not the threads of this process: the address of a Dask scheduler, `"local:4"`
            for so many workers on this machine, or a client of Dask's.
        limits: Bounds on what documents may claim.

    Returns:
        What was found, after the repair if there was one.

    Raises:
        NotFoundError: Nothing is there.
        SelectionError: No rule has such an id.
        StoreError: The store cannot be listed, or refuses a repair.

    >>> import omnizarr as oz
    >>> store = {}
    >>> a = oz.create_array(store, shape=(4, 4), chunks=(2, 2), dtype="i4")
    >>> a[:2] = 1
    >>> store["c/5/5"] = b"left over"
    >>> report = validate(store)
    >>> for one in report.findings:
    ...     print(one.rule, one.name, one.key)
    OZ605 chunk-outside c/5/5
    >>> report.census[0].present, report.census[0].missing
    (2, 2)
    >>> validate(store, repair="all").clean
    True
    """
    run = _Run(selection(select, ignore), decode, limits, progress or silent)
    sorts = levels(repair)
    if cluster is not None:
        with Crew(cluster) as crew:
            return _validated(where, path, run._replace(crew=crew), sorts)
    return _validated(where, path, run, sorts)


def _validated(where: object, path: str | None, run: _Run, sorts: frozenset[str]) -> Report:
    with warnings.catch_warnings():
        # What is tolerated is a finding here, so it need not be warned of.
        warnings.simplefilter("ignore", OmnizarrWarning)
        report = _look(where, path, run)
        return _mended(where, path, run, report, sorts) if sorts else report


def _mended(where: object, path: str | None, run: _Run, report: Report, sorts: frozenset[str]) -> Report:
    done: list[str] = []
    for _ in range(_ROUNDS):
        cures = cures_of(report.findings, sorts)
        if not cures:
            break
        place = _Opened(where, path, "r+", run.limits)
        try:
            done += apply(place.store, run.limits, cures)
        finally:
            place.close()
        report = _look(where, path, run)
    return report._replace(repaired=tuple(done))


class _Opened:
    """A place whose store is closed in the end, unless it is the caller's."""

    def __init__(self, where: object, path: str | None, mode: str, limits: Limits) -> None:
        self.place: Place | None = None
        self._own = not hasattr(where, "get_range")
        if isinstance(where, (Array, Group)):
            self._own = False
            self.store: Store = context_of(where).store
            self.start = where.path if path is None else f"{where.path}/{path}".strip("/")
            return
        self.place = Place(where, mode, path, limits=limits)
        self.place.look()
        self.store, self.start = self.place.context.store, self.place.path

    def close(self) -> None:
        """Close the store, or at least write what waits in it."""
        store: object = self.store
        while store is not None:
            end = getattr(store, "close" if self._own else "flush", None)
            if end is not None:
                end()
                return
            store = getattr(store, "inner", None)


def _look(where: object, path: str | None, run: _Run) -> Report:
    place = _Opened(where, path, "r", run.limits)
    try:
        return _report(place, run)
    finally:
        place.close()


def _report(place: _Opened, run: _Run) -> Report:
    sink = Sink(run.wanted)
    done = nbytes = 0

    def tick(keys: int) -> None:
        run.progress(keys, None, 0)

    def chunks(count: int, size: int) -> None:
        nonlocal done, nbytes
        done, nbytes = done + count, nbytes + size
        run.progress(done, max(done, len(scene.others)), nbytes)

    scene = survey_scene(place.store, place.start, run.limits, sink, tick)
    nodes = check_nodes(scene, sink, lambda _: None)
    if not nodes and not sink.findings and place.place is not None:
        raise missing(place.place)
    if run.crew is not None:
        run.crew.check_reach(place.store, None)
        for inner, texts in [*scene.texts.items()][:1]:
            run.crew.check_sees(place.store, scene.key(inner, next(iter(texts))))
    check_archive(place.store, sink)
    check_hierarchy(scene, nodes, sink)
    check_consolidated(scene, nodes, sink)
    odd, census = check_chunks(Look(scene, sink, run.decode, chunks, run.crew), nodes)
    check_keys(scene, nodes, odd, sink)
    findings = sorted(sink.findings, key=_order)
    location = place_name(place.store, place.start)
    return Report(location, place.store.uri, tuple(findings), tuple(census), len(nodes), scene.keys, run.decode)


def _order(finding: Finding) -> tuple[object, ...]:
    return finding.path, _ORDER[finding.severity], finding.key or "", finding.rule, finding.pointer or ""
