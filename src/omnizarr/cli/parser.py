"""The parser of a command's words: help with examples, usage errors in two lines."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable
from typing import Any, NoReturn


class Parser(ArgumentParser):
    """A parser whose help ends in examples."""

    def __init__(self, *, examples: Iterable[tuple[str, str]] = (), **settings: Any) -> None:  # noqa: ANN401 - argparse's
        super().__init__(formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False, **settings)
        self.set_examples(examples)

    def set_examples(self, examples: Iterable[tuple[str, str]]) -> None:
        """Set the examples: what to type, and what it does."""
        rows = list(examples)
        if rows:
            width = max(len(typed) for typed, _ in rows)
            lines = (f"  {typed:{width}}  # {does}" for typed, does in rows)
            self.epilog = "examples:\n" + "\n".join(lines)

    def error(self, message: str) -> NoReturn:
        """End with exit code 2 after two lines: what is wrong, and where help is."""
        self.exit(2, f"oz: {message}\n  see {self.prog} --help\n")


def add_common(parser: ArgumentParser) -> None:
    """Add the options that every command has."""
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    parser.add_argument(
        "--colour",
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="whether to use colour; by default on a terminal, unless NO_COLOR is set",
    )


def terminal_width() -> int:
    """Return the number of columns of the terminal, or 80 where there is none."""
    import shutil  # noqa: PLC0415 - needed by few commands

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 80
