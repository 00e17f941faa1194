"""What the numbers were taken on, and how busy others kept it meanwhile."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter

_STAT = Path("/proc/stat")


@dataclass(slots=True)
class Load:
    """Processor time spent while a sample was taken."""

    own: float = 0.0
    """Seconds used by this process."""
    foreign: float = 0.0
    """Cores that other processes used on average; 0 where the system does not tell."""


@contextmanager
def watch(*, children: bool = False) -> Iterator[Load]:
    """Measure the load of a block, or of the child processes that it waits for."""
    who = RUSAGE_CHILDREN if children else RUSAGE_SELF
    load = Load()
    used, busy, start = getrusage(who), _busy_seconds(), perf_counter()
    try:
        yield load
    finally:
        wall = max(perf_counter() - start, 1e-3)
        now = getrusage(who)
        load.own = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        load.foreign = max(0.0, _busy_seconds() - busy - load.own) / wall


def _busy_seconds() -> float:
    """Processor time that all cores have spent, ever."""
    if not _STAT.exists():
        return 0.0
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, _STAT.read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def describe() -> dict[str, str]:
    """Processor, cores, memory, system and Python, for the head of the table."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
