"""The parser of a command's words: help with examples, usage errors in two lines."""

from __future__ import annotations

import re
import sys
from argparse import SUPPRESS, ArgumentParser, HelpFormatter, Namespace
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from omnizarr.cli.overview import examples
from omnizarr.cli.terminal import WIDEST, columns


class UsageError(Exception):
    """Words that a command does not take; `cure` is what to do about it."""

    def __init__(self, prog: str, message: str, cure: str | None = None) -> None:
        super().__init__(message)
        self.cure = cure or f"see {prog} --help"


class Parser(ArgumentParser):
    """A parser whose help ends in examples."""

    def __init__(self, *, examples: Iterable[tuple[str, str]] = (), **settings: Any) -> None:  # noqa: ANN401 - argparse's
        if sys.version_info >= (3, 14):
            settings.setdefault("color", False)  # what is in colour is the output's to say
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **settings)
        self.examples: list[tuple[str, str]] = list(examples)
        # Selections and values may begin like a negative number.
        self._negative_number_matcher = re.compile(r"-[.\d]")

    def set_examples(self, examples: Iterable[tuple[str, str]]) -> None:
        """Set the examples: what to type, and what it does."""
        self.examples = list(examples)

    def parse(self, words: Sequence[str]) -> Namespace:
        """Return what the words say; options may stand anywhere between the others.

        Raises:
            UsageError: If the command does not take them.
        """
        return self.parse_intermixed_args(list(words))

    def options(self) -> list[str]:
        """Return the options that the help knows of."""
        return [option for one in self._actions if one.help != SUPPRESS for option in one.option_strings]

    def format_help(self) -> str:
        """Return the help, for the width of the terminal."""
        text = super().format_help()
        return text + "\n" + "\n".join(examples(self.examples, _width())) + "\n" if self.examples else text

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End after the help, whose reader may have seen enough of it."""
        sys.stdout.flush()
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError`."""
        raise UsageError(self.prog, message)


class _Formatter(HelpFormatter):
    def __init__(self, prog: str, **settings: Any) -> None:  # noqa: ANN401 - argparse's
        settings.update(width=_width(), max_help_position=26)
        super().__init__(prog, **settings)


def _width() -> int:
    return max(24, min(columns(sys.stdout), WIDEST))


def add_common(parser: ArgumentParser) -> None:
    """Add the options that every command has."""
    group = parser.add_argument_group("options of all commands")
    group.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress and no warnings")
    group.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="PLACE",
        help="a folder or URL that reference sets may reach besides their own; repeat it",
    )
    group.add_argument(
        "--storage-option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of object stores and servers, as fsspec names it: profile=…, anon=true, headers=…; repeat it",
    )
    group.add_argument("--trace", action="store_true", help="print a table of all requests to servers at the end")
    group.add_argument(
        "--colour",
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        metavar="WHEN",
        help="use colour always, never or (auto) on a terminal unless NO_COLOR is set",
    )
