"""Take the power away after each call of a durable writer: `python -m torture.power`.

The calls of a writer are recorded once, with their bytes. Then the disk is put together as it may be after each of
them: without anything that was not synced, with any single change of that, with all of it, and with some by chance.
Steps that had returned by then must be there whole; the one under way is done in part at most, as after a kill.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from torture.calls import Mode, can_follow, follow
from torture.disk import Disk, Keep, read_log
from torture.every import all_named, fresh, look
from torture.scenario import Scenario, Violation, expect

ACK = ".done"
STEPS = 3


def recorded(scenario: Scenario, base: Path, folder: Path, log: Path, steps: int) -> None:
    """Take some steps, and record the calls."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base, folder)
    done = Path(f"{folder}{ACK}")
    done.write_bytes(b"")

    def work() -> str:
        out = os.open(done, os.O_WRONLY | os.O_APPEND)
        for number in range(1, steps + 1):
            scenario.step(folder, number)
            os.write(out, b".")
        return ""

    ended = follow(work, folder, Mode.RECORD, log=log)
    expect(ended.code == 0, "the writer failed:", ended.said)


def choices(disk: Disk, rng: random.Random, chances: int, most: int) -> Iterator[tuple[str, Keep]]:
    """Go through what may have reached the disk of what was not synced."""
    yield "nothing that was not synced", lambda _: False
    pending = list(disk.pending())
    if not pending:
        return
    yield "everything", lambda _: True
    for one in pending if len(pending) <= most else rng.sample(pending, most):
        yield "one change", lambda other, one=one: other is one  # type: ignore[misc]
        yield "all but one change", lambda other, one=one: other is not one  # type: ignore[misc]
    for _ in range(chances):
        kept = {id(one) for one in pending if rng.random() < 0.5}
        yield "some changes", lambda other, kept=kept: id(other) in kept  # type: ignore[misc]


def replay(
    scenario: Scenario, top: Path, rng: random.Random, *, steps: int = STEPS, chances: int = 3, most: int = 6
) -> Iterator[str]:
    """Take the power away after each call; yield what was kept.

    Raises:
        Violation: If something is lost.
    """
    base, folder, log, after = top / "base", top / "work", top / "log", top / "after"
    fresh(scenario, base)
    recorded(scenario, base, folder, log, steps)
    shutil.rmtree(folder)
    shutil.copytree(base, folder)
    disk, acks = Disk(folder), 0
    for at, call in enumerate(read_log(log), 1):
        if call.path.endswith(ACK):
            acks += call.op == "w"
        else:
            disk.feed(call)
        for words, keep in choices(disk, rng, chances, most):
            shutil.rmtree(after, ignore_errors=True)
            disk.write(after, keep)
            try:
                look(scenario, after, acks, exact=False) if acks < steps else look(scenario, after, acks, exact=True)
            except Violation as violation:
                where = f"{scenario.name!r}, after call {at} ({call.op} {call.path[len(str(folder)) :]}), with {words}"
                raise Violation(f"{where}, {acks} steps done: {violation}") from None
            yield words


def main(arguments: list[str] | None = None) -> int:
    """Run, and print what was done; 1 after the first violation."""
    parser = argparse.ArgumentParser(prog="python -m torture.power", description=__doc__)
    parser.add_argument("--only", help="names of scenarios, separated by commas")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--chances", type=int, default=3, help="how many parts by chance after each call")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--not-durable", action="store_true", help="do not sync, to see that this finds what is lost")
    parser.add_argument("--go-on", action="store_true", help="go on with the next scenario after a violation")
    parser.add_argument("--folder", help="where to work; /dev/shm is quicker than a disk")
    options = parser.parse_args(arguments)
    if not can_follow():
        print("this needs Linux on x86-64 and a C compiler")
        return 0
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    top = Path(tempfile.mkdtemp(prefix="power-", dir=options.folder))
    began, total, bad = time.monotonic(), 0, 0
    for scenario in all_named(options.only, durable=not options.not_durable):
        if not scenario.can_be_durable:
            continue
        count, rng = 0, random.Random(seed)
        try:
            for _ in replay(scenario, top, rng, steps=options.steps, chances=options.chances):
                count += 1
        except Violation as violation:
            bad += 1
            print(f"VIOLATION: {violation}")
            print(f"again: python -m torture.power --seed {seed} --only {scenario.name!r}", flush=True)
            if not options.go_on:
                return 1
        total += count
        print(f"{count:8} {scenario.name}", flush=True)
    print(f"{total:8} losses of power in {time.monotonic() - began:.0f} s: {bad or 'no'} violations")
    shutil.rmtree(top)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
