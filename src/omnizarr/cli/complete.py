"""What the last of some words may become: commands, options, choices, and places down to the nodes in stores."""

from __future__ import annotations

import os
import sys
from argparse import Action
from collections.abc import Sequence
from typing import Final

from omnizarr.cli.overview import ACTIONS, COMMANDS

_DOCUMENTS: Final = frozenset(("zarr.json", ".zarray", ".zgroup", ".zmetadata", "meta", "__zmeta__", "attributes.json"))
_ARRAYS: Final = frozenset((".zarray", "meta", "__zmeta__"))
_BREAKS: Final = ":="
"""Characters after which bash begins a new word."""


def run(words: Sequence[str]) -> int:
    """Print what may follow: the name of the shell comes first, then its words, the last of them unfinished."""
    shell, *typed = words
    if shell == "bash":
        typed = _split(typed[0] if typed else "")[1:]
    last = typed[-1] if typed else ""
    found = sorted(candidates(typed or [""]))
    if shell == "bash":
        cut = max((last.rfind(char) for char in _BREAKS), default=-1) + 1
        found = [one[cut:] for one in found]
    sys.stdout.write("".join(f"{one}\n" for one in found))
    return 0


def _split(line: str) -> list[str]:
    """Split a line as a shell does, as far as it is finished."""
    import shlex  # noqa: PLC0415 - only bash needs it

    for closing in ("", "'", '"', "\\"):
        try:
            words = shlex.split(line + closing)
        except ValueError:
            continue
        return [*words, ""] if line[-1:].isspace() or not line else words
    return [line]


def candidates(words: Sequence[str]) -> list[str]:
    """Return what the last of the words after `oz` may become.

    >>> candidates(["tr"]), candidates(["completion", "b"])
    (['tree'], ['bash'])
    """
    *before, last = words
    command = next((word for word in before if not word.startswith("-")), None)
    if command is None:
        return _fitting([*COMMANDS, *(("--help", "--version") if last.startswith("-") else ())], last)
    if command == "help":
        return _fitting(list(COMMANDS), last)
    if command in ACTIONS:
        action = next((word for word in before[before.index(command) + 1 :] if not word.startswith("-")), None)
        if action is None:
            return _fitting(list(ACTIONS[command]), last)
        rest = before[before.index(action, before.index(command) + 1) :]
        return _of_command(f"{command} {action}", rest, last) if action in ACTIONS[command] else []
    return _of_command(command, before[before.index(command) :], last) if command in COMMANDS else []


def _of_command(command: str, before: Sequence[str], last: str) -> list[str]:
    """Return what may follow the words of a command, the first of which is its name, or the action's."""
    from omnizarr.cli.main import parser_of  # noqa: PLC0415 - which imports this module, but not to start with

    parser = parser_of(command)
    actions = parser._actions  # noqa: SLF001 - no other way to see them
    options = {option: action for action in actions for option in action.option_strings}
    previous = options.get(before[-1])
    if previous is not None and previous.nargs != 0:
        return _values(previous, last)
    if last.startswith("-"):
        return _fitting(parser.options(), last)
    places = [word for word in before[1:] if not word.startswith("-")]
    positional = [action for action in actions if not action.option_strings]
    return _values(positional[min(len(places), len(positional) - 1)], last) if positional else []


def _fitting(words: Sequence[str], start: str) -> list[str]:
    return [word for word in words if word.startswith(start)]


def _values(action: Action, start: str) -> list[str]:
    if action.choices is not None:
        return _fitting([str(choice) for choice in action.choices], start)
    if action.metavar in ("LOCATION", "SOURCE", "TARGET", "FILE", "A", "B"):
        return _places(start)
    return []


def _places(start: str) -> list[str]:
    """Return the files, folders and nodes whose names begin as a place does."""
    folder, name = os.path.split(start)
    above = f"{folder}/" if folder and not folder.endswith("/") else folder
    local = os.path.expanduser(folder.removeprefix("file://")) or "."  # noqa: PTH111 - pathlib takes long to import
    try:
        entries = list(os.scandir(local))
    except OSError:
        return _inside(folder, above, name)
    names = {entry.name for entry in entries}
    if names & _ARRAYS or _is_array_v3(local, names):
        return []
    in_store = bool(names & _DOCUMENTS)
    found = []
    for entry in entries:
        hidden = entry.name.startswith(".") and not name.startswith(".")
        if not entry.name.startswith(name) or hidden or (in_store and not entry.is_dir()):
            continue
        found.append(above + entry.name + ("/" if entry.is_dir() and not _is_array(entry.path) else ""))
    return found


def _is_array(folder: str) -> bool:
    try:
        names = set(os.listdir(folder))  # noqa: PTH208 - as above
    except OSError:
        return False
    return bool(names & _ARRAYS) or _is_array_v3(folder, names)


def _is_array_v3(folder: str, names: set[str]) -> bool:
    if "zarr.json" not in names:
        return False
    with open(os.path.join(folder, "zarr.json"), "rb") as file:  # noqa: PTH118, PTH123 - as above
        return b'"chunk_grid"' in file.read(1 << 16)


def _inside(folder: str, above: str, name: str) -> list[str]:
    """Return the nodes of a group that is not a folder: in an archive."""
    from omnizarr.errors import OmnizarrError  # noqa: PLC0415 - which few need
    from omnizarr.tools.listing.listing import list_nodes  # noqa: PLC0415 - as above

    try:
        found = list_nodes(folder, depth=1)[1:]
    except (OmnizarrError, OSError):
        return []
    return [
        above + entry.name + ("/" if entry.kind == "group" else "") for entry in found if entry.name.startswith(name)
    ]
