"""`oz`: finds the command, and turns what goes wrong into two lines and an exit code.

A command is a module of this package with two functions: `configure(parser)` says what it takes, `run(arguments, out)`
does it and returns the exit code. Only the module of the command that is asked for is imported. Each action of a
command that has some (`oz refs scan`) is such a module, too, in a package of the command's name.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, NoReturn

from omnizarr.cli.overview import ACTIONS, COMMANDS, actions, meant, nearest, overview
from omnizarr.cli.terminal import WIDEST, columns
from omnizarr.errors import OmnizarrError, StoreError

if TYPE_CHECKING:
    from argparse import Namespace

    from omnizarr.cli.output import Output
    from omnizarr.cli.parser import Parser

__all__ = ["COMMANDS", "DONE", "NO", "TROUBLE", "main", "parser_of"]

DONE, NO, TROUBLE = 0, 1, 2
"""Exit codes: done, or yes; the answer is no (differs, is not valid, is not there); something went wrong."""

_WITH_VALUE: Final = ("--allow", "--colour", "--color", "--storage-option")
"""Options of all commands that take a value, which may also stand before the command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        return _main(words)
    except KeyboardInterrupt:
        _die_of("SIGINT")
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        _forget_output()
        _die_of("SIGPIPE")


def _main(words: list[str]) -> int:
    command, rest = _command(words)
    if command is None or command == "help" or words[0] == "--version":
        return _help([word for word in rest if not word.startswith("-")], rest)
    if command == "__complete":  # what the scripts of `oz completion` call
        code: int = import_module("omnizarr.cli.complete").run(rest)
        return code
    if command not in COMMANDS:
        there = os.path.exists(command)  # noqa: PTH110 - pathlib takes long to import
        near = f"info {command}" if there else meant(command)
        return _refuse(
            f"there is no command {command!r}", f"did you mean 'oz {near}'?" if near else "see oz --help", rest
        )
    if command in ACTIONS:
        action, rest = _command(rest)
        if action is None or action not in ACTIONS[command]:
            return _help_of_actions(command, action, rest)
        command = f"{command} {action}"
    from omnizarr.cli.parser import UsageError  # noqa: PLC0415 - the help of oz itself needs no argparse

    parser = parser_of(command)
    try:
        arguments = parser.parse(rest)
    except UsageError as error:
        return _refuse(str(error), error.cure, rest)
    return _run(command, arguments, parser)


def _command(words: list[str]) -> tuple[str | None, list[str]]:
    """Return the command, and all other words; what stands before the command may stand behind it as well."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _WITH_VALUE else 1
    return (words[at], [*words[at + 1 :], *words[:at]]) if at < len(words) else (None, words)


def parser_of(command: str) -> Parser:
    """Return the parser of a command, or of an action: "refs scan"."""
    from omnizarr.cli.parser import Parser, add_common  # noqa: PLC0415 - as above

    name, _, action = command.partition(" ")
    summary = ACTIONS[name][action] if action else COMMANDS[name]
    parser = Parser(prog=f"oz {command}", description=f"{summary[0].upper()}{summary[1:]}.")
    _module(command).configure(parser)
    add_common(parser)
    return parser


def _module(command: str) -> ModuleType:
    return import_module(f"omnizarr.cli.{command.replace(' ', '.')}")


def _help_of_actions(command: str, action: str | None, words: list[str]) -> int:
    if action is not None and action != "help":
        near = nearest(action, ACTIONS[command])
        cure = f"did you mean 'oz {command} {near}'?" if near else f"see oz {command} --help"
        return _refuse(f"'oz {command}' has no action {action!r}", cure, words)
    sys.stdout.write(actions(command, max(24, min(columns(sys.stdout), WIDEST))))
    sys.stdout.flush()
    return DONE


def _help(about: list[str], words: list[str]) -> int:
    if "--version" in words:
        sys.stdout.write(f"oz {import_module('importlib.metadata').version('omnizarr')}\n")
    elif about and about[0] in ACTIONS:
        action = about[1] if len(about) > 1 else None
        if action not in ACTIONS[about[0]]:
            return _help_of_actions(about[0], action, words)
        parser_of(f"{about[0]} {action}").print_help()
    elif about and about[0] in COMMANDS and about[0] != "help":
        parser_of(about[0]).print_help()
    elif about and about[0] != "help":
        return _refuse(f"there is no command {about[0]!r}", "see oz --help", words)
    elif unknown := [word for word in words if word.startswith("-") and word not in ("-h", "--help")]:
        return _refuse(f"there is no option {unknown[0]!r} without a command", "see oz --help", words)
    else:
        sys.stdout.write(overview(max(24, min(columns(sys.stdout), WIDEST))))
    sys.stdout.flush()
    return DONE


def _refuse(text: str, cure: str, words: Sequence[str]) -> int:
    import_module("omnizarr.cli.output").Output(as_json="--json" in words).trouble(text, cure)
    return TROUBLE


def _run(command: str, arguments: Namespace, parser: Parser) -> int:
    options = parser.options()
    out: Output = import_module("omnizarr.cli.output").Output(
        as_json=arguments.json, colour=arguments.colour, quiet=arguments.quiet, options=options
    )
    try:
        with (
            warnings.catch_warnings(),
            _allowed(arguments.allow),
            _with_options(arguments.storage_option),
            _traced(arguments.trace),
        ):
            warnings.simplefilter("always")
            warnings.showwarning = out.show_warning
            code: int = _module(command).run(arguments, out)
            out.clear()
            sys.stdout.flush()
            return code
    except (KeyboardInterrupt, BrokenPipeError):
        out.clear()
        raise
    except Exception as error:  # noqa: BLE001 - nobody who types a command wants a traceback
        return _trouble(error, out)


def _traced(on: bool) -> AbstractContextManager[None]:
    if not on:
        return nullcontext()
    found: AbstractContextManager[None] = import_module("omnizarr.cli.trace").traced(on)
    return found


@contextmanager
def _with_options(given: list[str]) -> Generator[None, None, None]:
    """Open object stores with these settings, also in processes that a command starts."""
    from omnizarr.cli.parser import UsageError  # noqa: PLC0415 - as above

    name = "OMNIZARR_STORAGE_OPTIONS"
    before = os.environ.get(name)
    if given:
        import json  # noqa: PLC0415 - most commands need none of this

        if any("=" not in one for one in given):
            raise UsageError("oz", "a --storage-option is not of the form NAME=VALUE")  # it may be a secret
        options = json.loads(before) if before else {}
        options.update(dict(one.split("=", 1) for one in given))
        headers = [value for option, _, value in (one.partition("=") for one in given) if option == "headers"]
        if len(headers) > 1:
            options["headers"] = import_module("omnizarr.store.cloud.headers").joined_headers(headers)
        os.environ[name] = json.dumps(options)
    try:
        yield
    finally:
        if given and before is None:
            del os.environ[name]
        elif given and before is not None:
            os.environ[name] = before


@contextmanager
def _allowed(places: list[str]) -> Generator[None, None, None]:
    """Let all reference sets reach these places, also in processes that a command starts."""
    before = os.environ.get("OMNIZARR_ALLOW")
    if places:
        os.environ["OMNIZARR_ALLOW"] = os.pathsep.join([*places, *([before] if before else [])])
    try:
        yield
    finally:
        if places and before is None:
            del os.environ["OMNIZARR_ALLOW"]
        elif places and before is not None:
            os.environ["OMNIZARR_ALLOW"] = before


def _trouble(error: Exception, out: Output) -> int:
    """Tell of an error, and return the exit code."""
    from omnizarr.cli.parser import UsageError  # noqa: PLC0415 - as above

    if os.environ.get("OZ_TRACEBACK"):
        out.clear()
        import_module("traceback").print_exception(error)
    if isinstance(error, OmnizarrError):
        out.error(error)
    elif isinstance(error, UsageError):
        out.trouble(str(error), error.cure)
    elif isinstance(error, OSError):
        _flush()
        named = f" ({error.filename})" if error.filename else ""
        out.trouble(f"{error.strerror or error}{named}", kind=StoreError.kind)
    elif isinstance(error, MemoryError):
        out.trouble("there is not enough memory for this", kind="memory")
    else:
        cure = "this is a bug of oz: please report it, with what OZ_TRACEBACK=1 shows"
        out.trouble(f"unexpected {type(error).__name__}: {error}", cure, kind="bug")
    return TROUBLE


def _flush() -> None:
    """Write out what is left of the output, if that is not what failed."""
    try:
        sys.stdout.flush()
    except OSError:
        _forget_output()


def _forget_output() -> None:
    """Keep the interpreter from writing what is left of the output once more when it ends."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - open to the end


def _die_of(name: str) -> NoReturn:
    """End as if the signal had not been caught, so that a shell sees what happened."""
    signals = import_module("signal")
    number = getattr(signals, name, None)
    if number is None:  # this system has no such signal
        sys.exit(TROUBLE)
    signals.signal(number, signals.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)
