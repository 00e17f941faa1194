"""Give a target its seeds and mutations of them, for a time or a number of inputs; say what was found."""

from __future__ import annotations

import hashlib
import random
import signal
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from fuzz.mutating import mutated
from fuzz.target import Target

LONGEST = 20
"""Seconds of work that one input may take."""

_WAIT = 300
"""Seconds that one input may take in all: the machine may be busy with something else."""

_KEPT = 400


class Finding(NamedTuple):
    """An input that raised something it should not."""

    error: str
    data: bytes


class Result(NamedTuple):
    """What came of a run: how many inputs, in how long, and one finding for each place that something was raised at."""

    inputs: int
    seconds: float
    findings: dict[str, Finding]
    work: float
    """Seconds of work."""


def _stop(_signal: int, _frame: object) -> None:
    raise TimeoutError(f"more than {LONGEST} s for one input")


def _set_alarm(work: float, wait: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, work)
    signal.setitimer(signal.ITIMER_REAL, wait)


@contextmanager
def _watched() -> Iterator[None]:
    before = [(kind, signal.signal(kind, _stop)) for kind in (signal.SIGPROF, signal.SIGALRM)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        _set_alarm(0, 0)
        for kind, handler in before:
            signal.signal(kind, handler)


def attempt(target: Target, data: bytes) -> tuple[str, Finding] | None:
    """Try one input; return the place and the finding if there is one."""
    _set_alarm(LONGEST, _WAIT)
    try:
        target.run(data)
    except Exception as error:  # noqa: BLE001 - whatever comes out is what we are looking for
        frames = traceback.extract_tb(error.__traceback__)
        here = [frame for frame in frames if "omnizarr" in frame.filename] or frames
        place = f"{type(error).__name__} at {Path(here[-1].filename).name}:{here[-1].lineno}"
        return place, Finding("".join(traceback.format_exception(error)[-12:]), data)
    finally:
        _set_alarm(0, 0)
    return None


def run(target: Target, *, seconds: float, most: int | None = None, seed: int = 0) -> Result:
    """Run a target on its seeds and on mutations of them.

    Args:
        target: What to run.
        seconds: When to stop.
        most: Stop after so many inputs as well.
        seed: The same seed gives the same inputs, in as far as time allows.
    """
    rng = random.Random(seed)
    pool = target.seeds()
    known = len(pool)
    findings: dict[str, Finding] = {}
    start, work, inputs = time.monotonic(), time.process_time(), 0
    with _watched():
        for data in list(pool):
            found = attempt(target, data)
            inputs += 1
            if found is not None:
                findings.setdefault(*found)
        while time.monotonic() - start < seconds and (most is None or inputs < most):
            data = mutated(rng, rng.choice(pool), rng.choice(pool))
            found = attempt(target, data)
            inputs += 1
            if found is not None:
                findings.setdefault(*found)
            elif rng.random() < 0.02 and len(data) < 1 << 14:
                pool[known:] = [*pool[known:], data][-_KEPT:]
    return Result(inputs, time.monotonic() - start, findings, time.process_time() - work)


def keep(folder: Path, target: Target, finding: Finding) -> Path:
    """Write an input that was a finding into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{target.name.replace(' ', '-')}-{hashlib.sha256(finding.data).hexdigest()[:12]}"
    path.write_bytes(finding.data)
    return path
