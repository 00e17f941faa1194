"""Run cases in child processes, so that what kills a reader is noted, and the rest is run all the same."""

from __future__ import annotations

import collections
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from torture.inputs.case import Case
from torture.inputs.child import allowed
from torture.inputs.groups import cases_of

ROOT: Final = Path(__file__).parents[2]
VERDICTS: Final = ("ok", "wrong", "crash", "hang", "memory", "refused", "foreign", "slow", "not run")
SECONDS: Final = 1.0


class Result(NamedTuple):
    """What came of a case."""

    case: str
    verdict: str
    said: str = ""
    seconds: float = 0.0
    growth: int = 0

    @property
    def group(self) -> str:
        return self.case.partition("/")[0]


def run(reader: str, groups: Sequence[str], python: str = sys.executable) -> list[Result]:
    """Run the cases of some groups against a reader.

    Args:
        reader: Its name, as in `torture.inputs.readers`.
        groups: Names of groups.
        python: The interpreter that has the reader.
    """
    cases = list(cases_of(groups))
    results: list[Result] = []
    hung = ""
    while len(results) < len(cases):
        some = _some(reader, groups, cases, len(results), python)
        if some and some[-1].verdict == "hang" and some[-1].case != hung:
            hung = some.pop().case  # it may be the machine that stood still: once more
        results += some
    return results


def _some(reader: str, groups: Sequence[str], cases: Sequence[Case], first: int, python: str) -> list[Result]:
    """Run cases from one on until all are done or one has ended the process."""
    command = [python, "-m", "torture.inputs.child", reader, str(first), *groups]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "RUST_BACKTRACE": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    results = [
        _result(json.loads(line), case) for line, case in zip(done.stdout.splitlines(), cases[first:], strict=False)
    ]
    if first + len(results) == len(cases):
        return results
    if done.returncode == 1:
        raise RuntimeError(f"{reader} cannot be run: {done.stderr[-2000:]}")
    hung = done.returncode == -signal.SIGALRM
    said = f"ended by {done.returncode}: {done.stderr[-300:].strip()}"
    return [*results, Result(cases[first + len(results)].id, "hang" if hung else "crash", said)]


def _result(line: dict[str, object], case: Case) -> Result:
    result = Result(**line)  # type: ignore[arg-type]  # what the child has printed
    if result.verdict == "ok" and result.growth > allowed(case):
        return result._replace(verdict="memory", said=f"grew by {result.growth} bytes, {allowed(case)} are allowed")
    if result.verdict == "ok" and result.seconds > SECONDS:
        return result._replace(verdict="slow", said=f"took {result.seconds} s")
    return result


def count(results: Iterable[Result]) -> dict[str, collections.Counter[str]]:
    """Count the verdicts of each group."""
    counts: dict[str, collections.Counter[str]] = {}
    for result in results:
        counts.setdefault(result.group, collections.Counter())[result.verdict] += 1
    return counts
