"""Work on many values by all processors: NumPy lets go of the interpreter while it computes."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module  # a pool is needed for large arrays only
from typing import Any, Final, TypeVar

BLOCK: Final = 1 << 16
"""Elements worked on together: they stay in the processor's cache."""
_MANY: Final = 1 << 21
_MOST_THREADS: Final = 8

T = TypeVar("T")


def spread(work: Callable[[int, int], T], size: int) -> list[T]:
    """Call a function with ranges that make up a whole, at the same time if they are large, and return the results.

    >>> spread(lambda start, stop: stop - start, 10)
    [10]
    """
    threads = min(os.cpu_count() or 1, _MOST_THREADS, size // (_MANY // 2))
    if size < _MANY or threads < 2:
        return [work(0, size)]
    step = -(-size // threads // BLOCK) * BLOCK
    starts = range(0, size, step)
    pool: Any = import_module("concurrent.futures").ThreadPoolExecutor(len(starts))
    with pool:
        return list(pool.map(lambda start: work(start, min(start + step, size)), starts))
