"""`oz`: finds the command, and turns what goes wrong into two lines and an exit code.

A command is a module of this package with two functions: `configure(parser)` says what it takes, `run(arguments, out)`
does it and returns the exit code. Only the module of the command that is asked for is imported.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from importlib import import_module
from typing import Final, NoReturn

from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser, add_common

COMMANDS: Final[dict[str, str]] = {
    "info": "say what is there, how it is stored, and what is odd about it",
    "tree": "draw what lies below a group",
    "ls": "list names, one a line",
    "cat": "print values: as text, CSV or NumPy's format",
    "attrs": "show, set and delete attributes",
    "copy": "copy nodes from store to store, byte for byte",
    "convert": "change format, chunks, shards or codecs",
    "validate": "check documents, keys and chunks against the specifications, and repair them",
    "diff": "compare structure, attributes and values",
    "consolidate": "copy all documents of a hierarchy into one",
    "mv": "give a node another name or place",
    "rm": "erase nodes",
    "conformance": "print an array as the public conformance tests ask for it",
    "completion": "print what makes a shell complete oz's words",
}
"""Every command, with a line about it, in the order in which help lists them."""

DONE, NO, TROUBLE = 0, 1, 2
"""Exit codes: done, or yes; the answer is no (differs, is not valid, is not there); something went wrong."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    parser = _parser(words)
    arguments = parser.parse_args(words)
    if arguments.command is None:
        parser.print_help()
        return DONE
    out = Output(as_json=arguments.json, colour=arguments.colour)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = out.show_warning
            return _run(arguments, out)
    except KeyboardInterrupt:
        out.clear()
        _die_of(signal.SIGINT)
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for the interpreter's last flush
        _die_of(signal.SIGPIPE)


def _run(arguments: Namespace, out: Output) -> int:
    # Imported when a command runs: the errors of a command that only prints its help need no NumPy.
    errors = import_module("omnizarr.errors")
    try:
        code: int = import_module(f"omnizarr.cli.{arguments.command}").run(arguments, out)
        sys.stdout.flush()
    except errors.OmnizarrError as error:
        out.error(error)
        return TROUBLE
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        out.error(errors.StoreError(str(error)))
        return TROUBLE
    return code


def _parser(words: Sequence[str]) -> ArgumentParser:
    parser = Parser(
        prog="oz",
        description="Look at, convert, copy, validate and compare arrays of every Zarr there ever was.",
        examples=(
            ("oz tree data.zarr", "what is in it"),
            ("oz info data.zarr/t", "all about one array"),
            ("oz convert old.zarr new.zarr --to zarr3", "into the newest format"),
        ),
    )
    parser.add_argument("--version", action="version", version=_Version())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if name == asked:
            import_module(f"omnizarr.cli.{name}").configure(command)
            add_common(command)
    return parser


class _Version(str):
    """The text of `--version`, looked up only when it is printed."""

    __slots__ = ()

    def __mod__(self, _: object) -> str:
        return f"oz {import_module('importlib.metadata').version('omnizarr')}"


def _die_of(number: signal.Signals) -> NoReturn:
    """End as if the signal had not been caught, so that a shell sees what happened."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)
