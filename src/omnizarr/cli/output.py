"""What commands print: text or JSON on standard output; progress, warnings and errors on standard error."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

from omnizarr.cli.bar import Bar
from omnizarr.cli.terminal import can_draw, columns, has_colour, is_terminal

if TYPE_CHECKING:
    from omnizarr.errors import OmnizarrError
from omnizarr.letters import printable

_CODES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}

_LINE: Final = 100

Style = Literal["bold", "dim", "red", "green", "yellow", "blue", "cyan"]


class Output:
    """Where a command prints, and how.

    Attributes:
        as_json: Whether to print JSON instead of text.
        quiet: Whether to print neither progress nor warnings.
        options: The options that the command has, so that cures of errors can name them.
        is_terminal: Whether standard output is a terminal.
        can_draw: Whether it takes more than ASCII.
    """

    def __init__(
        self, *, as_json: bool = False, colour: str = "auto", quiet: bool = False, options: Collection[str] = ()
    ) -> None:
        open_streams()
        self.as_json = as_json
        self.quiet = quiet
        self.options = options
        self._on_out = has_colour(sys.stdout, colour)
        self._on_err = has_colour(sys.stderr, colour)
        self.is_terminal = is_terminal(sys.stdout)
        self.can_draw = can_draw(sys.stdout)
        self._bar: Bar | None = None
        self._warned: set[str] = set()

    @property
    def width(self) -> int:
        """Columns of the terminal; 80 where there is none."""
        return columns(sys.stdout if self.is_terminal else None)

    def style(self, text: str, *styles: Style) -> str:
        """Return text in colour, where the output has any; control characters in it are written out."""
        shown = text if text.isprintable() else printable(text)
        return _styled(shown, styles) if self._on_out and styles else shown

    def line(self, text: str = "") -> None:
        """Print a line."""
        self.clear()
        sys.stdout.write(text + "\n")

    def lines(self, texts: Iterable[str]) -> None:
        """Print lines, all at once."""
        self.clear()
        sys.stdout.write("".join([text + "\n" for text in texts]))

    def json(self, value: object) -> None:
        """Print a value as JSON: named tuples as objects, whatever has no form there as its text."""
        encode = import_module("json").JSONEncoder(ensure_ascii=not self.can_draw).encode
        self.line(_laid_out(plain(value), encode))

    def show_warning(self, message: Warning | str, *_: object, **__: object) -> None:
        """Print a warning on standard error, unless it was printed before."""
        text = _cures().warned(str(message))
        if self.quiet or text in self._warned:
            return
        self._warned.add(text)
        if self.as_json:
            self._tell_json({"warning": text})
        else:
            self._tell("warning", text, None, "yellow")

    def error(self, error: OmnizarrError) -> None:
        """Print an error in two lines: what and where, and what to do about it."""
        text, cure = _cures().told(error, self.options)
        self.trouble(text, cure, kind=error.kind, path=error.path, key=error.key, codec=error.codec)

    def trouble(self, text: str, cure: str | None = None, *, kind: str = "usage", **where: str | None) -> None:
        """Print what is wrong and what to do about it, in two lines; with --json, as one object."""
        if self.as_json:
            self._tell_json({"error": {"kind": kind, "message": text, "hint": cure, **where}})
        else:
            self._tell("error", text, cure, "red")

    def _tell(self, what: str, text: str, more: str | None, style: Style) -> None:
        word = _styled(what, (style, "bold")) if self._on_err else what
        self._to_err(f"oz: {word}: {text}\n" + (f"  {more}\n" if more else ""))

    def _tell_json(self, value: object) -> None:
        self._to_err(import_module("json").dumps(plain(value)) + "\n")

    def _to_err(self, text: str) -> None:
        self.clear()
        # In the order in which it happened, where both go to the same place.
        sys.stdout.flush()
        sys.stderr.write(text)
        sys.stderr.flush()

    def progress(self, title: str, unit: str = "") -> Bar:
        """Return a bar on standard error, for a `with` statement; it is silent where no one watches."""
        watched = is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        self._bar = Bar(title, unit, sys.stderr, shown=watched and not self.as_json and not self.quiet)
        return self._bar

    def clear(self) -> None:
        """Wipe the bar away before something else is printed."""
        if self._bar is not None:
            self._bar.clear()

    def ask(self, question: str) -> bool | None:
        """Ask a question that is answered by yes or no; `None` where there is no one to answer."""
        if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
            return None
        self._to_err(f"{question} [y/N] ")
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def open_streams() -> None:
    """Give the program streams where it was started without, and let none fail on a character that it cannot say."""
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - open to the end
        elif isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError):
                stream.reconfigure(errors="backslashreplace")


def plain(value: Any) -> Any:  # noqa: ANN401 - anything goes in, what JSON has comes out
    """Return a value in the terms of JSON; what it has no number for, as the text that Zarr's documents use.

    >>> import numpy as np
    >>> plain({"a": np.float32(0.5), "b": (1, None, b"x"), "c": float("nan"), "d": 1j})
    {'a': 0.5, 'b': [1, None, 'x'], 'c': 'NaN', 'd': [0.0, 1.0]}
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
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, float) and not isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _laid_out(value: Any, encode: Callable[[Any], str], indent: str = "") -> str:  # noqa: ANN401 - as above
    """Return JSON in lines; what fits into one is left in one, objects at the top aside."""
    inner = f"{indent}  "
    short = encode(value)
    if not isinstance(value, (dict, list)) or not value:
        return short
    if len(indent) + len(short) <= _LINE and (indent or isinstance(value, list)):
        return short
    if isinstance(value, dict):
        parts = [f"{encode(name)}: {_laid_out(one, encode, inner)}" for name, one in value.items()]
    else:
        parts = [_laid_out(one, encode, inner) for one in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{last}"


def _styled(text: str, styles: tuple[Style, ...]) -> str:
    return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"


def _cures() -> Any:  # noqa: ANN401 - a module, which only errors and warnings need
    return import_module("omnizarr.cli.cures")
