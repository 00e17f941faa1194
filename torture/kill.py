"""Kill writers at random moments, and look at what they leave: `python -m torture.kill --cycles 10000`.

A child takes one step after the other and tells of each; the parent kills it, so that it knows the last step that was
done and at most one more was begun.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NoReturn

from torture import peer
from torture.every import all_named, fresh, look, peer_look, recovered
from torture.scenario import Scenario, Violation


class Runner:
    """The cycles of one scenario, in a folder of its own."""

    def __init__(self, scenario: Scenario, folder: Path, rng: random.Random, peer_share: float) -> None:
        self.scenario = scenario
        self.folder = folder
        self.rng = rng
        self.peer_share = peer_share
        self.number = 0
        self.pace = 0.005  # seconds that a step takes, about
        fresh(scenario, folder)

    def cycle(self) -> int:
        """Let a child write, kill it, and look; return how many steps it did.

        Raises:
            Violation: If a promise was broken.
        """
        if self.number + 8 > self.scenario.most:
            fresh(self.scenario, self.folder)
            self.number = 0
        room = min(6, self.scenario.most - self.number - 1)
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            self._write(theirs, room)
        os.close(theirs)
        began = time.monotonic()
        time.sleep(self.rng.random() * self.pace * 3)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        spent = time.monotonic() - began
        with os.fdopen(ours, "rb") as pipe:
            told = pipe.read()
        if b"!" in told:
            raise Violation(f"the writer failed: {told[told.index(b'!') + 1 :].decode()}")
        self.pace += 0.2 * (min(0.05, spent / (len(told) + 0.5)) - self.pace)
        self.number += len(told)
        look(self.scenario, self.folder, self.number)
        if self.rng.random() < self.peer_share:
            peer_look(self.scenario, self.folder)
        recovered(self.scenario, self.folder, self.number)
        self.number += 1
        return len(told)

    def _write(self, out: int, room: int) -> NoReturn:
        try:
            for number in range(self.number + 1, self.number + room + 1):
                self.scenario.step(self.folder, number)
                os.write(out, b".")
            time.sleep(10)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent is told
            os.write(out, f"!{type(error).__name__}: {error}".encode())
        finally:
            os._exit(1)


def main(arguments: list[str] | None = None) -> int:
    """Run, and print what was done; 1 after the first violation."""
    parser = argparse.ArgumentParser(prog="python -m torture.kill", description=__doc__)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--time", type=float, default=float("inf"), metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", help="names of scenarios, separated by commas")
    parser.add_argument("--peer", type=float, default=0.02, help="share of cycles that zarr-python looks at, too")
    parser.add_argument("--folder", help="where to work; /dev/shm is quicker than a disk")
    options = parser.parse_args(arguments)
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    top = Path(tempfile.mkdtemp(prefix="kill-", dir=options.folder))
    runners = [Runner(one, top / str(i), rng, options.peer) for i, one in enumerate(all_named(options.only))]
    began = time.monotonic()
    current = ""
    counts: Counter[str] = Counter()
    try:
        end = began + options.time
        for i in range(options.cycles):
            if time.monotonic() > end:
                break
            runner = runners[i % len(runners)]
            current = f"{runner.scenario.name!r}, in {runner.folder}"
            runner.cycle()
            counts[runner.scenario.name] += 1
    except Violation as violation:
        print(f"VIOLATION after {counts.total()} cycles: {current}: {violation}")
        print(f"again: python -m torture.kill --seed {seed} --cycles {options.cycles}", end="")
        print(f" --only {options.only!r}" if options.only else "")
        return 1
    spent = time.monotonic() - began
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    print(
        f"{counts.total():8} cycles in {spent:.0f} s, {counts.total() / spent:.1f} a second: nothing torn, nothing left"
    )
    shutil.rmtree(top)
    peer.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
