"""Measuring in a process of its own: seconds for each stage, and how much more memory than before."""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

Figures: TypeAlias = dict[str, float]
"""Seconds by stage, and what else was counted."""


def _status(field: str) -> float:
    """A figure of this process in megabytes: VmRSS is what it has now, VmHWM what it ever had."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1000
    return 0.0


class Stages:
    """Counts from when it is made: import everything before that."""

    def __init__(self) -> None:
        gc.collect()
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
        self._before = _status("VmRSS")
        self._figures: dict[str, float] = {}
        self._at = perf_counter()

    def lap(self, name: str) -> None:
        """End a stage."""
        now = perf_counter()
        self._figures[name] = now - self._at
        self._at = perf_counter()

    def add(self, **figures: float) -> None:
        """Note something else, such as a number of requests."""
        self._figures.update(figures)

    def done(self) -> Figures:
        """Return the figures, with the memory at the peak."""
        return {**self._figures, "MB": _status("VmHWM") - self._before}


def run(workload: str, contender: str, module: str = "bench.references") -> Figures | str:
    """Run one contender once in a fresh process; return its figures, or what went wrong."""
    command = [sys.executable, "-m", module, "--child", workload, contender]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        return "takes more than ten minutes"
    told = [line for line in ran.stdout.splitlines() if line.startswith("@@")]
    if not told:
        return (ran.stderr.strip().splitlines() or ["nothing"])[-1][:160]
    figures: Figures = json.loads(told[0][2:])
    return figures


def medians(samples: list[Figures]) -> Figures:
    """Return the median of each figure."""
    return {name: statistics.median(one[name] for one in samples) for name in samples[0]}


def report(value: Any) -> None:
    """Tell the parent."""
    print("@@" + json.dumps(value), flush=True)
