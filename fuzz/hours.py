"""How long each fuzz target has run in all: `python -m fuzz.hours` shows it, `scripts/fuzz` adds to it.

Seconds are those of work, not of waiting: a busy machine does not count. They are kept in hours.toml beside this file,
by engine, so that many short runs on many days add up.
"""

from __future__ import annotations

import fcntl
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("hours.toml")
GOAL = 3600
_HEAD = "# Seconds of work and inputs of each fuzz target, by engine, of all runs without a finding: see hours.py.\n"


class Sum(NamedTuple):
    """What a target has done so far."""

    seconds: float = 0.0
    inputs: int = 0


Hours = dict[tuple[str, str], Sum]


def read(file: Path = FILE) -> Hours:
    """Return the sums by engine and target."""
    told = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {(engine, name): Sum(**one) for engine, some in told.items() for name, one in some.items()}


def write(hours: Mapping[tuple[str, str], Sum], file: Path = FILE) -> None:
    """Keep the sums."""
    lines = [_HEAD]
    for engine in sorted({engine for engine, _ in hours}):
        lines.append(f"\n[{engine}]\n")
        for (of, name), one in sorted(hours.items()):
            if of == engine:
                lines.append(f'"{name}" = {{ seconds = {one.seconds:.1f}, inputs = {one.inputs} }}\n')
    file.write_text("".join(lines), encoding="utf-8")


def add(engine: str, name: str, seconds: float, inputs: int, file: Path = FILE) -> None:
    """Add a run; other runs that end at the same moment wait."""
    with file.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        hours = read(file)
        before = hours.get((engine, name), Sum())
        hours[engine, name] = Sum(before.seconds + seconds, before.inputs + inputs)
        write(hours, file)


def in_order(engine: str, names: Iterable[str], file: Path = FILE) -> list[str]:
    """Return targets, those that have run least first: runs that are broken off go on where they were."""
    hours = read(file)
    return sorted(names, key=lambda name: hours.get((engine, name), Sum()).seconds)


def table(file: Path = FILE) -> str:
    """Show all sums."""
    hours = read(file)
    lines = [
        f"{engine:10} {name:30} {one.seconds:9,.0f} s {one.inputs:16,} inputs"
        for (engine, name), one in sorted(hours.items())
    ]
    names = {name for _, name in hours}
    done = len({name for (_, name), one in hours.items() if one.seconds >= GOAL})
    total = Sum(sum(one.seconds for one in hours.values()), sum(one.inputs for one in hours.values()))
    return "\n".join(
        [*lines, f"{total.seconds:,.0f} s, {total.inputs:,} inputs; {done} of {len(names)} targets have run an hour"]
    )


def main(arguments: list[str]) -> None:
    """`add ENGINE TARGET SECONDS INPUTS`, `order ENGINE TARGET…`, or nothing for the table."""
    match arguments:
        case ["add", engine, name, seconds, inputs]:
            add(engine, name, float(seconds), int(inputs))
        case ["order", engine, *names]:
            print("\n".join(in_order(engine, names)))
        case _:
            print(table())


if __name__ == "__main__":
    main(sys.argv[1:])
