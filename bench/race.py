"""The master: runs every cell on every engine in turns, and keeps the best quiet sample of each."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import data, engines, machine
from bench.peers import NoSample, Peer, Place, Sample
from bench.workloads import Workload

_NEEDS_NO_INPUT = frozenset(
    {
        "full_write",
        "box_writes",
        "inner_writes",
        "append",
        "read_unwritten",
        "memory_boxes",
        "memory_read",
        "group_create",
    }
)
# Input is made by a peer where there is one, so that reading it proves that the documents are understood.
_MAKERS = ("zarr", "zarr-fused", "tensorstore", engines.OURS)
_TOO_SLOW = 20.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a cell is measured."""

    rounds: int = 3
    max_rounds: int = 8
    cell_seconds: float = 45.0
    quiet: float = 0.3
    """Cores that others may use while a sample still counts as quiet."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One engine in one cell."""

    value: float | None
    median: float | None = None
    samples: int = 0
    quiet: int = 0
    reason: str = ""
    failed: bool = False


def run(
    cells: list[Workload], names: list[str], place: Place, pace: Pace, saved: Path, *, before: str | None, keep: bool
) -> None:
    """Run the cells and write what was measured into `saved` after each of them.

    `before` is the Python of an environment with another build of Omnizarr, which takes part too.
    """
    place.root.mkdir(parents=True, exist_ok=True)
    pythons = dict.fromkeys(names, sys.executable)
    if before is not None:
        pythons[engines.BEFORE] = before
    peers = list(_start(pythons, place))
    if not peers:
        raise SystemExit("no engine could be started")
    results = _Results(saved, place, peers)
    try:
        for number, cell in enumerate(cells):
            taking_part = [peer for peer in peers if cell.only is None or peer.name in cell.only]
            if taking_part:
                _prepare(cell, taking_part)
                results.add(cell, _measure(cell, taking_part, pace))
            _tidy(cell, cells[number + 1 :], peers, place)
    finally:
        for peer in peers:
            peer.close()
        if not keep:
            shutil.rmtree(place.root, ignore_errors=True)


def _start(pythons: dict[str, str], place: Place) -> Iterator[Peer]:
    from bench.sizes import BY_NAME

    data.make(place.root, BY_NAME[place.scale])
    for name, python in pythons.items():
        peer = Peer(name, place, python)
        if peer.problem is None:
            print(f"{name}: {peer.version}", flush=True)
            yield peer
        else:
            print(f"{name}: left out, {peer.problem}", flush=True)


def _prepare(cell: Workload, peers: list[Peer]) -> None:
    if cell.run in _NEEDS_NO_INPUT:
        return
    by_name = {peer.name: peer for peer in peers}
    makers = [by_name[name] for name in _MAKERS if name in by_name][:1]
    for peer in [*makers, *(peer for peer in peers if peer.own_format)]:
        answer = peer.ask("prepare", cell)
        if "failed" in answer:
            print(f"  {cell.name}: {peer.name} could not prepare it: {answer['failed']}", flush=True)


def _measure(cell: Workload, peers: list[Peer], pace: Pace) -> dict[str, Measured]:
    samples: dict[str, list[Sample]] = {peer.name: [] for peer in peers}
    out: dict[str, NoSample] = {}
    start = perf_counter()
    for turn in range(pace.max_rounds):
        for peer in peers:
            if peer.name in out:
                continue
            got = peer.sample(cell, verify=turn == 0)
            if isinstance(got, Sample):
                samples[peer.name].append(got)
                if got.seconds > _TOO_SLOW:
                    out[peer.name] = NoSample("one sample is enough", failed=False)
            else:
                out[peer.name] = got
                if got.failed:
                    print(f"  {cell.name}: {peer.name} failed: {got.reason}", flush=True)
        still = [taken for name, taken in samples.items() if taken and name not in out]
        settled = all(sum(s.foreign < pace.quiet for s in taken) >= 2 for taken in still)
        if turn + 1 >= pace.rounds and (settled or perf_counter() - start > pace.cell_seconds):
            break
    return {name: _best(cell, taken, out.get(name), pace) for name, taken in samples.items()}


def _best(cell: Workload, samples: list[Sample], out: NoSample | None, pace: Pace) -> Measured:
    if not samples:
        return Measured(None, reason=out.reason if out else "", failed=bool(out and out.failed))
    quiet = [sample for sample in samples if sample.foreign < pace.quiet]
    counted = quiet or samples
    return Measured(
        value=cell.value(min(sample.seconds for sample in counted)),
        median=cell.value(statistics.median(sample.seconds for sample in counted)),
        samples=len(samples),
        quiet=len(quiet),
    )


def _tidy(cell: Workload, later: list[Workload], peers: list[Peer], place: Place) -> None:
    """Remove what no later cell reads: the inputs of all layouts together do not fit into memory."""
    for peer in peers:
        peer.ask("forget", cell)
        shutil.rmtree(place.root / "out" / peer.name, ignore_errors=True)
        (place.root / "out" / peer.name).mkdir(parents=True)
    if cell.layout is not None and cell.layout not in [other.layout for other in later]:
        for folder in place.root.glob(f"in*/{cell.layout.name}"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.with_name(folder.name + ".done").unlink(missing_ok=True)


class _Results:
    """The file of results: cells of an earlier run stay, unless it was on other versions or another machine."""

    def __init__(self, path: Path, place: Place, peers: list[Peer]) -> None:
        self._path = path
        self._peers = {peer.name: peer.version for peer in peers}
        head = {"machine": machine.describe(), "scale": place.scale}
        memory = {name: speed for peer in peers for name, speed in peer.memory.items()}
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        same = all(kept.get(key) == value for key, value in head.items())
        self._all: dict[str, Any] = {
            **head,
            "memory": memory or (kept.get("memory", {}) if same else {}),
            "versions": {**(kept.get("versions", {}) if same else {}), **self._peers},
            "cells": kept.get("cells", {}) if same else {},
        }

    def add(self, cell: Workload, measured: dict[str, Measured]) -> None:
        """Keep a cell whole, as one interleaved run gave it, and show it."""
        self._all["cells"][cell.name] = {
            "unit": cell.unit,
            "when": datetime.now(UTC).date().isoformat(),
            "engines": {name: asdict(one) for name, one in measured.items()},
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(self._all, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        values = [f"{name} {one.value:.4g}" for name, one in measured.items() if one.value is not None]
        print(f"{cell.name} [{cell.unit}]  " + "  ".join(values), flush=True)
