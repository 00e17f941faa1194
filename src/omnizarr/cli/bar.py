"""A line on standard error that says how far long work has come, how fast, and how long it will take."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Final, Self, TextIO

from omnizarr.cli.terminal import can_draw, columns
from omnizarr.sizes import human_bytes

_EVERY: Final = 0.1
"""Seconds between two looks of the line."""

_BAR: Final = 24


class Bar:
    """What a tool calls to say how far it is: `(done, total, nbytes)`."""

    def __init__(self, title: str, unit: str, stream: TextIO, *, shown: bool) -> None:
        self._title = title
        self._unit = unit
        self._stream = stream
        self._shown = shown
        self._start = self._last = time.monotonic()
        self._before: tuple[int, int] | None = None
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def __call__(self, done: int, total: int | None, nbytes: int, /) -> None:
        """Draw the line, unless it was drawn a moment ago."""
        if not self._shown:
            return
        now = time.monotonic()
        if self._before is None:
            # Work that goes on where it was left begins with what is done already, which says nothing of its speed.
            self._before, self._start = (done, nbytes), now
        if now - self._last < _EVERY:
            return
        self._last = now
        text = describe(self._title, self._unit, (done, total, nbytes), now - self._start, self._before)
        if not can_draw(self._stream):
            text = text.replace("█", "#").replace("░", "-")
        self._drawn = True  # said before: Ctrl-C may come right after the line is there
        self._stream.write("\r" + text[: columns(self._stream) - 1] + "\x1b[K")
        self._stream.flush()

    def clear(self) -> None:
        """Wipe the line away."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False


def describe(
    title: str, unit: str, at: tuple[int, int | None, int], seconds: float, before: tuple[int, int] = (0, 0)
) -> str:
    """Return the line, from what the tool said last, the time since it began, and what had been done before.

    >>> describe("copying", "keys", (25, 100, 50_000_000), 2.0)
    'copying ██████░░░░░░░░░░░░░░░░░░ 25% 25/100 keys 25.0 MB/s 6 s left'
    """
    done, total, nbytes = at
    parts = [title]
    if total:
        full = _BAR * done // total
        parts += ["█" * full + "░" * (_BAR - full), f"{100 * done // total}%", f"{done}/{total} {unit}".rstrip()]
    else:
        parts.append(f"{done} {unit}".rstrip())
    if nbytes > before[1] and seconds > 0:
        parts.append(f"{human_bytes((nbytes - before[1]) / seconds)}/s")
    if total and done > before[0]:
        parts.append(f"{_duration(seconds * (total - done) / (done - before[0]))} left")
    return " ".join(parts)


@lru_cache(maxsize=1024)
def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02} h"
