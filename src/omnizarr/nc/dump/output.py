"""Where CDL is written: bytes, lines that end where they are full, and how deep the group is that is being printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Write: TypeAlias = Callable[[bytes], object]

_STEP = 2
_CONTINUED = b"    "


class Output:
    """Text that is being written, with what ncdump keeps in mind about it.

    Attributes:
        indent: Blanks in front of a line.
        line: How long the line is, as far as it counts: only what `put` and the data section write does.
    """

    def __init__(self, write: Write, width: int) -> None:
        self.write = write
        self.width = width - 2
        self.indent = 0
        self.line = 0

    def text(self, text: str) -> None:
        """Write text as it is."""
        self.write(text.encode("utf-8", "surrogateescape"))

    def margin(self, text: str = "") -> None:
        """Write the indentation, and text behind it."""
        self.text(" " * self.indent + text)

    def deeper(self) -> None:
        """Indent more."""
        self.indent += _STEP

    def back(self) -> None:
        """Indent less."""
        self.indent = max(0, self.indent - _STEP)

    def put(self, text: bytes) -> None:
        """Write text that is not cut in two, on a new line if it would make this one too long."""
        if len(text) + self.line > self.width and len(text) > _STEP:
            self.write(b"\n" + b" " * self.indent + _CONTINUED)
            self.line = len(_CONTINUED) + self.indent
        self.write(text)
        self.line = self.indent if text.endswith(b"\n") else self.line + len(text)
