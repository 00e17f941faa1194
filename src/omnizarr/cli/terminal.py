"""What the terminal can do, where there is one."""

from __future__ import annotations

import os
from typing import Final, TextIO

WIDEST: Final = 100
"""Text that is read in lines, such as help, gets no wider than this."""

_FALLBACK: Final = 80


def is_terminal(stream: TextIO | None) -> bool:
    """Whether someone watches a stream."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def columns(stream: TextIO | None) -> int:
    """Return the width of the terminal behind a stream; 80 where there is none, unless COLUMNS says otherwise."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    try:
        return (os.get_terminal_size(stream.fileno()).columns if stream is not None else 0) or _FALLBACK
    except (OSError, ValueError):
        return _FALLBACK


def has_colour(stream: TextIO | None, wanted: str) -> bool:
    """Whether to use colour on a stream: as the option says, else as the environment does, else on a terminal."""
    if wanted != "auto":
        return wanted == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def can_draw(stream: TextIO | None) -> bool:
    """Whether a stream takes characters beyond ASCII, as trees and bars are drawn with."""
    encoding = getattr(stream, "encoding", None) or ""
    return encoding.lower().replace("-", "").startswith("utf")


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return text in lines of at most a width where words allow it.

    >>> wrapped("one two three", 8, "  ")
    ['  one', '  two', '  three']
    """
    lines, line = [], indent
    for word in text.split():
        if line.strip() and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = indent
        line += word if line == indent else f" {word}"
    return [*lines, line] if line.strip() else lines
