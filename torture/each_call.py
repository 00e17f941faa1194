"""Stop a writer at each of its calls of the system in turn, then let each fail: `python -m torture.each_call`.

The N-th call that changes something is the last one that is begun (N = 1, 2, … until the work ends before its N-th), or
it fails with an error, or writes half of what it was given. See calls.c for how.
"""

from __future__ import annotations

import argparse
import errno
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import omnizarr as oz
from torture.calls import Ended, Mode, can_follow, follow
from torture.every import all_named, fresh, look, recovered
from torture.scenario import Scenario, Violation, expect, left_over

ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EMFILE", "EACCES", "EROFS")
SHORT = "short"


class Blow:
    """What is done to a call: it is not reached (`kill`), fails with an error, or does half."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.mode = {"kill": Mode.KILL, SHORT: Mode.SHORT}.get(name, Mode.FAIL)
        self.error = getattr(errno, name, 0)


def attempt(scenario: Scenario, folder: Path, step: int) -> str:
    """Take a step; say which error it was if it fails as it should: with an error of Omnizarr's that names a place."""
    try:
        scenario.step(folder, step)
    except oz.OmnizarrError as error:
        return f"{type(error).__name__} {error.key or error.path or '?'}"
    return ""


def strike(scenario: Scenario, top: Path, step: int, blow: Blow, at: int) -> Ended:
    """Strike the N-th call of one step, and look at what is left.

    Raises:
        Violation: If a promise was broken.
    """
    folder = top / "work"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(top / "base", folder)
    ended = follow(lambda: attempt(scenario, folder, step), folder, blow.mode, at, error=blow.error)
    if blow.mode is Mode.KILL and ended.code == -signal.SIGKILL:
        look(scenario, folder, step - 1)
    elif ended.what:
        expect(ended.code == 0, "not an error of ours:", ended.said or ended.code)
        expect(not ended.said.endswith("?"), "the error names no place:", ended.said)
        expect(blow.name != SHORT or not ended.said, "a short write is no error:", ended.said)
        look(scenario, folder, step - 1 if ended.said else step, exact=not ended.said)
        # What cannot be removed because removing fails is left to the next writer.
        left = [one for one in left_over(folder) if not one.endswith(".json")]
        expect(not left or ended.what[0] in "ud", "left over after", ended.said, ":", ", ".join(left))
    if ended.what:
        recovered(scenario, folder, step - 1)
        tidy(scenario, folder)
    return ended


def tidy(scenario: Scenario, folder: Path) -> None:
    """Let `validate` find nothing after a repair."""
    if (folder / scenario.zarr).is_dir() and scenario.zarr:
        report = oz.validate(folder / scenario.zarr, repair=True)
        expect(not [one for one in report.findings if one.severity != "note"], "after a repair:", report.findings)


def sweep(scenario: Scenario, top: Path, blows: Iterable[str], *, every: int = 1) -> Iterator[tuple[str, int, str]]:
    """Strike every call of the first steps of a scenario, or each of some distance; yield what was struck."""
    base = top / "base"
    fresh(scenario, base)
    for step in range(1, scenario.kinds + 1):
        for blow in map(Blow, blows):
            at = 1
            while True:
                words = f"{scenario.name!r}, step {step}, {blow.name} at call {at}"
                try:
                    ended = strike(scenario, top, step, blow, at)
                except Violation as violation:
                    raise Violation(f"{words}: {violation}") from None
                if not ended.what:
                    expect(ended.code == 0 and not ended.said, words, "fails by itself:", ended.said or ended.code)
                    break
                yield blow.name, at, ended.what
                at += every
        scenario.step(base, step)


def main(arguments: list[str] | None = None) -> int:
    """Run, and print what was done; 1 after the first violation."""
    parser = argparse.ArgumentParser(prog="python -m torture.each_call", description=__doc__)
    parser.add_argument("--only", help="names of scenarios, separated by commas")
    parser.add_argument("--blows", default=",".join(("kill", *ERRORS, SHORT)), help="what is done, separated by commas")
    parser.add_argument("--durable", action="store_true", help="stores wait for the disk")
    parser.add_argument("--every", type=int, default=1, help="strike every so many calls only")
    parser.add_argument("--go-on", action="store_true", help="go on with the next scenario after a violation")
    parser.add_argument("--folder", help="where to work; /dev/shm is quicker than a disk")
    options = parser.parse_args(arguments)
    if not can_follow():
        print("this needs Linux on x86-64 and a C compiler")
        return 0
    top = Path(tempfile.mkdtemp(prefix="calls-", dir=options.folder))
    began, total, bad = time.monotonic(), 0, 0
    for scenario in all_named(options.only, durable=options.durable):
        counts: Counter[str] = Counter()
        try:
            for blow, _, _ in sweep(scenario, top, options.blows.split(","), every=options.every):
                counts[blow] += 1
        except Violation as violation:
            bad += 1
            durable = " --durable" if options.durable else ""
            again = f"again: python -m torture.each_call{durable} --only {scenario.name!r}"
            print(f"VIOLATION: {violation}\n{again}", flush=True)
            if not options.go_on:
                return 1
        total += counts.total()
        print(f"{scenario.name:28}", ", ".join(f"{n} × {name}" for name, n in counts.items()), flush=True)
    print(f"{total} runs in {time.monotonic() - began:.0f} s: {bad or 'no'} violations")
    shutil.rmtree(top)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
