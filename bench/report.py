"""Turns saved results into the tables of docs/performance.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.engines import BEFORE, COUNTED, LIMIT, OURS, PUBLIC
from bench.sizes import BY_NAME
from bench.workloads import Target, Workload, all_workloads

BEGIN = "<!-- race: begin, written by `make bench` -->"
END = "<!-- race: end -->"

_TIE_ROOM = 1.10
_TIE = 0.95
_SLOWER = 0.9
# Time per chunk may wander by this much over three decades and still be called proportional.
_GROWTH = 1.3


@dataclass(frozen=True, slots=True)
class Verdict:
    """How Omnizarr did in a cell."""

    best: str | None
    ratio: float | None
    wanted: str
    reached: bool | None
    """None where nothing was asked or nothing was measured."""


def judge(cell: Workload, values: dict[str, float]) -> Verdict:
    """Compare our value with the best counted peer and with what the cell has to reach."""
    rivals = {name: value for name, value in values.items() if name in COUNTED}
    best = max(rivals, key=lambda name: cell.ratio(rivals[name], 1.0)) if rivals else None
    ours = values.get(OURS)
    ratio = cell.ratio(ours, rivals[best]) if ours is not None and best is not None else None
    target = cell.target
    if target is None or ours is None:
        return Verdict(best, ratio, _wanted(target), None)
    if target.at_most is not None:
        return Verdict(best, ratio, _wanted(target), ours <= target.at_most)
    if ratio is None or target.reach is None or best is None:
        return Verdict(best, ratio, _wanted(target), None)
    limit = values.get(LIMIT)
    no_room = limit is not None and cell.ratio(limit, rivals[best]) <= _TIE_ROOM
    reached = ratio >= target.reach or (no_room and ratio >= _TIE)
    for rival, least in target.against.items():
        reached = reached and (rival not in values or cell.ratio(ours, values[rival]) >= least)
    return Verdict(best, ratio, _wanted(target), reached)


def _wanted(target: Target | None) -> str:
    if target is None:
        return ""
    if target.at_most is not None:
        return f"≤ {target.at_most:g}"
    more = "".join(f", {name} {least:g}" for name, least in target.against.items())
    return f"{target.reach:g}{more}"


def markdown(results: dict[str, Any]) -> str:
    """The whole generated part of the page."""
    cells = [cell for cell in all_workloads(BY_NAME[results["scale"]]) if cell.name in results["cells"]]
    race = [cell for cell in cells if cell.only is None]
    growth = [cell for cell in cells if cell.only is not None]
    parts = [_head(results), _race_table(race, results)]
    if growth:
        parts.append(_growth_table(growth, results))
    return "\n\n".join(parts)


def _head(results: dict[str, Any]) -> str:
    machine, dates = results["machine"], sorted({cell["when"] for cell in results["cells"].values()})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    shown = ((name, version) for name, version in results["versions"].items() if name != BEFORE)
    engines = "; ".join(f"**{name}** {version}" for name, version in shown)
    hardware = f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}"
    lines = [f"Measured {when} on {hardware}, Python {machine['python']}.", f"Engines: {engines}."]
    if results.get("memory"):
        speeds = "; ".join(f"{name} {speed:.1f} GB/s" for name, speed in results["memory"].items())
        lines.append(f"Memory of this machine: {speeds}.")
    if results["scale"] != "full":
        lines.append("**Small sizes: this run shows that everything works, not how fast it is.**")
    return "\n\n".join(lines)


def _race_table(cells: list[Workload], results: dict[str, Any]) -> str:
    names = [name for name in (*PUBLIC, LIMIT) if name in results["versions"] and name != OURS]
    names = [OURS] * (OURS in results["versions"]) + names
    verdicts = [(cell, judge(cell, _values(results, cell))) for cell in cells]
    asked = [verdict.reached for _, verdict in verdicts if verdict.reached is not None]
    rows = [
        f"{sum(asked)} of {len(asked)} cells with a goal reach it.",
        "",
        "| cell | unit | " + " | ".join(names) + " | best peer | ratio | goal | |",
        "|---|---|" + "--:|" * len(names) + "---|--:|--:|---|",
    ]
    for cell, verdict in verdicts:
        engines = results["cells"][cell.name]["engines"]
        texts = [_cell_text(engines.get(name), cell.unit, bold=name == verdict.best) for name in names]
        ratio = "" if verdict.ratio is None else f"{verdict.ratio:.2f}"
        mark = {True: "✓", False: "**below**", None: ""}[verdict.reached]
        row = [cell.name, cell.unit, *texts, verdict.best or "", ratio, verdict.wanted, mark]
        rows.append("| " + " | ".join(row) + " |")
    return "\n".join(rows)


def _growth_table(cells: list[Workload], results: dict[str, Any]) -> str:
    rows = ["| Omnizarr alone | value | per smallest |", "|---|--:|--:|"]
    for kind in ("full_read", "open_repr"):
        of_kind = [(cell, _values(results, cell).get(OURS)) for cell in cells if cell.run == kind]
        known = [(cell, value) for cell, value in of_kind if value is not None]
        if not known:
            continue
        least = min(value for _, value in known)
        for cell, value in known:
            rows.append(f"| {cell.name} | {format_value(value, cell.unit)} {cell.unit} | {value / least:.2f} |")
        last = known[-1][1] / least
        what = (
            "Reading is proportional to the number of chunks"
            if kind == "full_read"
            else "Opening does not depend on it"
        )
        rows.append(f"| {what} | {'✓' if last <= _GROWTH else '**below**'} | {last:.2f} |")
    return "\n".join(rows)


def compared(path: Path) -> str:
    """Say which cells are slower than in the other build by a tenth or more, and how all compare."""
    results = json.loads(path.read_text(encoding="utf-8"))
    ratios: dict[str, float] = {}
    for cell in all_workloads(BY_NAME[results["scale"]]):
        values = _values(results, cell) if cell.name in results["cells"] else {}
        if OURS in values and BEFORE in values:
            ratios[cell.name] = cell.ratio(values[OURS], values[BEFORE])
    slow = [f"slower: {name}, {ratio:.2f} times as fast" for name, ratio in ratios.items() if ratio < _SLOWER]
    middle = median(ratios.values()) if ratios else 1.0
    return "\n".join([*slow, f"{len(slow)} of {len(ratios)} cells are slower; the median is {middle:.2f}"])


def _values(results: dict[str, Any], cell: Workload) -> dict[str, float]:
    engines = results["cells"][cell.name]["engines"]
    return {name: one["value"] for name, one in engines.items() if one["value"] is not None}


def _cell_text(one: dict[str, Any] | None, unit: str, *, bold: bool) -> str:
    if one is None or (one["value"] is None and not one["failed"]):
        return "–"
    if one["value"] is None:
        return "error"
    text = format_value(one["value"], unit) + ("~" if one["quiet"] < 2 and unit != "×" else "")
    return f"**{text}**" if bold else text


def format_value(value: float, unit: str) -> str:
    """Three digits, as many as the measurement is worth."""
    if unit in ("GB/s", "×"):
        return f"{value:.2f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def write(results_path: Path, page: Path) -> None:
    """Replace what stands between the markers of the page."""
    results = json.loads(results_path.read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no markers {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{after}", encoding="utf-8")
