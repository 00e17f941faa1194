"""What is wrong with a CDL text, and where in it."""

from __future__ import annotations

from omnizarr.errors import MetadataError, warn

_WIDEST = 100


class CdlError(MetadataError):
    """A text that is not CDL, or means nothing: the message has the file, the line, the column and the line itself.

    Attributes:
        line: Number of the line, from 1.
        column: Number of the character in it, from 1.
    """

    kind = "cdl"
    line: int = 0
    column: int = 0


class Text:
    """A CDL text with a name, which knows where its bytes stand."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name

    def place(self, at: int) -> tuple[int, int]:
        r"""Return line and column of a byte, both from 1.

        >>> Text("é\nab".encode(), "x").place(4)
        (2, 2)
        """
        begin = self.data.rfind(b"\n", 0, at) + 1
        line = self.data.count(b"\n", 0, begin) + 1
        return line, len(self.data[begin:at].decode("utf-8", "replace")) + 1

    def error(self, at: int, what: str, hint: str | None = None) -> CdlError:
        r"""Return an error about a place, with the line and a caret below the place.

        >>> print(Text(b"netcdf x {\n  y\n}", "x.cdl").error(13, "expected ':'"))
        x.cdl:2:3: expected ':'
          y
          ^
        """
        line, column = self.place(at)
        error = CdlError(f"{self.name}:{line}:{column}: {what}\n{self._shown(at)}", hint=hint)
        error.line, error.column = line, column
        return error

    def warn(self, at: int, what: str) -> None:
        """Warn about a place."""
        line, column = self.place(at)
        warn(f"{self.name}:{line}:{column}: {what}")

    def _shown(self, at: int) -> str:
        """Return the line of a place, or what is near the place if it is long, and a line with a caret."""
        begin = self.data.rfind(b"\n", 0, at) + 1
        end = self.data.find(b"\n", at)
        end = len(self.data) if end < 0 else end
        before = _text(self.data[begin:at][-4 * _WIDEST :])
        after = _text(self.data[at : min(end, at + 4 * _WIDEST)])
        if len(before) > _WIDEST:
            before = f"…{before[-_WIDEST // 2 :]}"
        line = f"{before}{after}".expandtabs()[:_WIDEST].rstrip()
        return f"{line}\n{' ' * len(before.expandtabs())}^"


def _text(part: bytes) -> str:
    """Return bytes as text without anything that moves the cursor, but for tabs."""
    return "".join(one if one.isprintable() or one == "\t" else "?" for one in part.decode("utf-8", "replace"))
