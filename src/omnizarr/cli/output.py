"""What commands print: text or JSON on standard output; progress, warnings and errors on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

from omnizarr.cli.bar import Bar

if TYPE_CHECKING:
    from omnizarr.errors import OmnizarrError

_CODES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}

Style = Literal["bold", "dim", "red", "green", "yellow", "blue", "cyan"]


class Output:
    """Where a command prints, and how."""

    def __init__(self, *, as_json: bool = False, colour: str = "auto") -> None:
        self.as_json = as_json
        self._on_out = _has_colour(sys.stdout, colour)
        self._on_err = _has_colour(sys.stderr, colour)
        self._bar: Bar | None = None

    def style(self, text: str, *styles: Style) -> str:
        """Return text in colour, where the output has any."""
        return _styled(text, styles) if self._on_out else text

    def line(self, text: str = "") -> None:
        """Print a line."""
        self.clear()
        sys.stdout.write(text + "\n")

    def json(self, value: object) -> None:
        """Print a value as JSON: named tuples as objects, whatever has no form there as its text."""
        self.line(json.dumps(plain(value), indent=2, ensure_ascii=False))

    def show_warning(self, message: Warning | str, *_: object, **__: object) -> None:
        """Print a warning on standard error."""
        self._tell("warning", str(message), "yellow")

    def error(self, error: OmnizarrError) -> None:
        """Print an error in two lines: what and where, and what to do about it."""
        text = str(error).removesuffix(error.hint or "").rstrip("\n")
        self._tell("error", text.replace("\n", " "), "red")
        if error.hint:
            sys.stderr.write(f"  {error.hint.replace(chr(10), '; ')}\n")

    def _tell(self, what: str, text: str, style: Style) -> None:
        self.clear()
        word = _styled(what, (style, "bold")) if self._on_err else what
        sys.stderr.write(f"oz: {word}: {text}\n")

    def progress(self, title: str, unit: str = "") -> Bar:
        """Return a bar on standard error, for a `with` statement; it is silent where no one watches."""
        self._bar = Bar(title, unit, sys.stderr, shown=sys.stderr.isatty() and not self.as_json)
        return self._bar

    def clear(self) -> None:
        """Wipe the bar away before something else is printed."""
        if self._bar is not None:
            self._bar.clear()


def plain(value: Any) -> Any:  # noqa: ANN401 - anything goes in, what JSON has comes out
    """Return a value in the terms of JSON; what it has no number for, as the text that Zarr's documents use.

    >>> import numpy as np
    >>> plain({"a": np.float32(0.5), "b": (1, None, b"x"), "c": float("nan")})
    {'a': 0.5, 'b': [1, None, 'x'], 'c': 'NaN'}
    """
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        value = value.tolist()
    if hasattr(value, "_asdict"):  # named tuples
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float) and not isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _styled(text: str, styles: tuple[Style, ...]) -> str:
    return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"


def _has_colour(stream: TextIO, wanted: str) -> bool:
    if wanted != "auto":
        return wanted == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
