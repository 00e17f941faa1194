"""All commands, and what `oz --help` prints about them; it needs nothing but the standard library's smallest parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Final

from omnizarr.cli.terminal import wrapped

GROUPS: Final[dict[str, dict[str, str]]] = {
    "look": {
        "info": "say what is there, how it is stored, and what is odd about it",
        "tree": "draw what lies below a group",
        "ls": "list names, one a line",
        "cat": "print values: as text, CSV, JSON or NumPy's format",
        "zmap": "list raw keys, with sizes and what they hold",
        "dump": "print a netCDF dataset as CDL, as ncdump does",
    },
    "change": {
        "attrs": "show, set and delete attributes",
        "mv": "give a node another name or place",
        "rm": "erase nodes",
        "consolidate": "copy all documents of a hierarchy into one",
    },
    "carry over": {
        "copy": "copy nodes from store to store, and datasets between Zarr and netCDF files",
        "convert": "change format, chunks, shards or codecs",
        "gen": "make a dataset from CDL text, as ncgen does",
        "refs": "make archives of netCDF, HDF5, GRIB, TIFF one dataset, by reference",
    },
    "check": {
        "validate": "check documents, keys and chunks against the specifications, and repair them",
        "diff": "compare structure, attributes and values",
    },
    "more": {
        "completion": "print what makes a shell complete oz's words",
        "conformance": "print an array as the public conformance tests ask for it",
        "help": "say what a command takes",
    },
}
"""Every command with a line about it, in the groups and the order in which help lists them."""

ACTIONS: Final[dict[str, dict[str, str]]] = {
    "refs": {
        "scan": "find the chunks of files, and write a reference set of each",
        "combine": "join files or sets along dimensions into one set",
        "append": "add files or sets to the end of a set, in place",
        "show": "say what a set refers to",
        "expand": "write a set out as version 0, without templates and formulas",
        "convert": "write a set in another form: JSON, compressed JSON, parquet",
        "validate": "check a set against the files that it refers to",
        "rewrite": "change where a set looks for its files",
        "export": "copy what a set refers to into a Zarr store of its own",
    },
}
"""Commands whose first word says what to do, with a line about each of those."""

COMMANDS: Final[dict[str, str]] = {name: line for group in GROUPS.values() for name, line in group.items()}

_EXAMPLES: Final = (
    ("oz tree data.zarr", "what is in it"),
    ("oz cat data.zarr/t 0,:3", "a corner of an array"),
    ("oz convert old.zarr new.zarr --to zarr3", "into the newest format"),
)

_OTHER_WORDS: Final = {
    "check": "validate",
    "cmp": "diff",
    "compare": "diff",
    "cp": "copy",
    "del": "rm",
    "delete": "rm",
    "head": "cat",
    "kerchunk": "refs",
    "list": "ls",
    "migrate": "convert",
    "move": "mv",
    "ncdump": "dump",
    "ncgen": "gen",
    "rechunk": "convert",
    "remove": "rm",
    "rename": "mv",
    "show": "cat",
    "stat": "info",
    "zdump": "zmap",
}
"""What other programs call them."""


def overview(width: int) -> str:
    """Return the help of `oz` itself, for a terminal of a width."""
    lines = ["usage: oz COMMAND [ARGUMENT ...]", ""]
    lines += wrapped("Look at, convert, copy, validate and compare arrays of every Zarr there ever was.", width)
    longest = max(map(len, COMMANDS))
    for title, commands in GROUPS.items():
        lines += ["", f"{title}:"]
        for name, summary in commands.items():
            lines += row(name, summary, longest, width)
    lines += ["", "options:", *row("-h, --help", "show this help", longest, width)]
    lines += row("--version", "show the version", longest, width)
    lines += ["", *examples(_EXAMPLES, width), ""]
    lines += wrapped("A LOCATION is a folder, a zip archive, a file: URL, or a path inside one of them.", width)
    lines += wrapped("'oz help COMMAND' says what a command takes.", width)
    return "\n".join(lines) + "\n"


def actions(command: str, width: int) -> str:
    """Return the help of a command that has actions."""
    known = ACTIONS[command]
    lines = [f"usage: oz {command} ACTION [ARGUMENT ...]", ""]
    lines += wrapped(f"{COMMANDS[command][0].upper()}{COMMANDS[command][1:]}.", width)
    lines += ["", "actions:"]
    for name, summary in known.items():
        lines += row(name, summary, max(map(len, known)), width)
    lines += ["", *wrapped(f"'oz {command} ACTION --help' says what an action takes.", width)]
    return "\n".join(lines) + "\n"


def row(name: str, text: str, longest: int, width: int) -> list[str]:
    """Return a name and what is said of it: side by side where there is room, else below each other."""
    margin = longest + 4
    if width < margin + 30:
        return [f"  {name}", *wrapped(text, width, "      ")]
    lines = wrapped(text, width, " " * margin)
    return [f"  {name:{longest}}  {lines[0].strip()}", *lines[1:]]


def examples(rows: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Return examples: what to type, and what it does, behind or above that."""
    known = list(rows)
    longest = max((len(typed) for typed, _ in known), default=0)
    if all(longest + len(does) + 6 <= width for _, does in known):
        return ["examples:", *(f"  {typed:{longest}}  # {does}" for typed, does in known)]
    return ["examples:", *(line for typed, does in known for line in (f"  # {does}", f"  {typed}"))]


def meant(word: str) -> str | None:
    """Return the command that someone who typed an unknown one may have meant.

    >>> meant("tre"), meant("cp"), meant("xyzzy")
    ('tree', 'copy', None)
    """
    if word in _OTHER_WORDS:
        return _OTHER_WORDS[word]
    return nearest(word, COMMANDS)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the word that looks most like another, if any does."""
    near: Sequence[str] = import_module("difflib").get_close_matches(word, list(words), n=1, cutoff=0.5)
    return near[0] if near else None
