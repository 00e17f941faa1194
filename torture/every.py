"""All scenarios by their names, and what is done after each blow."""

from __future__ import annotations

import shutil
from pathlib import Path

import omnizarr as oz
from torture import arrays, files, peer, trees
from torture.scenario import SCENARIOS, Scenario, expect, left_over

__all__ = ["NAMES", "all_named", "fresh", "look", "peer_look", "recovered"]

# Imported for what they enter.
_MODULES = (arrays, files, trees)
NAMES = tuple(SCENARIOS)


def all_named(names: str | None, *, durable: bool = False) -> list[Scenario]:
    """Return the scenarios of some names, separated by commas, or all."""
    wanted = NAMES if names is None else tuple(name.strip() for name in names.split(","))
    unknown = [name for name in wanted if name not in SCENARIOS]
    if unknown:
        raise SystemExit(f"there is no scenario {unknown[0]!r}: {', '.join(NAMES)}")
    return [SCENARIOS[name](durable=durable) for name in wanted]


def look(scenario: Scenario, folder: Path, number: int, *, exact: bool = False) -> None:
    """Check what is there; whatever goes wrong is a violation."""
    try:
        scenario.check(folder, number, exact=exact)
    except oz.OmnizarrError as error:
        expect(False, "it cannot be read:", type(error).__name__, error)


def peer_look(scenario: Scenario, folder: Path) -> None:
    """Let zarr-python read everything."""
    if scenario.zarr:
        wrong = peer.ask(str(folder / scenario.zarr))
        expect(not wrong, "zarr-python cannot read it:", wrong)


def recovered(scenario: Scenario, folder: Path, number: int) -> None:
    """Open it for writing, look for what is left over, and go on to the next state."""
    scenario.sweep(folder)
    left = left_over(folder)
    expect(not left, "left over after opening for writing:", ", ".join(left))
    look(scenario, folder, number)
    scenario.step(folder, number + 1)
    look(scenario, folder, number + 1, exact=True)


def fresh(scenario: Scenario, folder: Path) -> None:
    """Make state 0 in a folder that is emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scenario.make(folder)
