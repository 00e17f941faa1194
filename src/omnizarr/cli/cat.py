"""`oz cat`: print values."""

from __future__ import annotations

import contextlib
import os
import sys
from argparse import Namespace
from collections.abc import Generator
from typing import IO, Any

from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser, UsageError
from omnizarr.tools.nodes import open_at
from omnizarr.tools.progress import Progress
from omnizarr.tools.values import writing
from omnizarr.tools.values.selecting import pick

_FORMATS = ("text", "csv", "npy", "json")
_CACHE = 64 << 20


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("where", metavar="LOCATION", help="an array")
    parser.add_argument(
        "selection",
        metavar="SELECTION",
        nargs="*",
        default=[],  # without it, argparse says that one is required
        help="which elements: 0,:,10:20:2 as in NumPy, or time=0:3,lat=5 by names of dimensions; all if not given",
    )
    parser.add_argument("--format", choices=_FORMATS, help="text (default), csv, npy or json")
    parser.add_argument("--full", action="store_true", help="as text: all elements, however many")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE; its name may tell the format")
    parser.set_examples(
        (
            ("oz cat data.zarr/t 0,:3,:3", "a corner"),
            ("oz cat data.zarr/t time=-1,lat=10:20 --format csv", "by names, as a table"),
            ("oz cat data.zarr/t -o t.npy", "all of it, into a file of NumPy's"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    form = _format(arguments, out)
    where, selection = _apart(arguments.where, ",".join(word.strip(" ,") for word in arguments.selection))
    with open_at(where, cache_bytes=_CACHE) as node:
        array = writing.array_of(node)
        picked = pick(selection, array.shape, array.dims)
        with _target(arguments.output, form) as to, out.progress("reading", "blocks") as bar:
            progress: Progress = bar if arguments.output or not out.is_terminal else _unseen
            if form == "npy":
                writing.write_npy(array, picked, to, progress=progress)
            elif form == "csv":
                writing.write_csv(array, picked, to, progress=progress)
            elif form == "json":
                writing.write_json(array, picked, to, progress=progress)
            else:
                writing.write_text(array, picked, to, full=arguments.full, width=out.width, progress=progress)
    return 0


def _apart(where: str, selection: str) -> tuple[str, str]:
    """Return location and selection; the selection may also stand in brackets behind the location, as in Python.

    >>> _apart("data.zarr/t[0,:3]", ""), _apart("data.zarr/t", "0")
    (('data.zarr/t', '0,:3'), ('data.zarr/t', '0'))
    """
    head, bracket, rest = where.partition("[")
    if selection or not bracket or not rest.endswith("]") or os.path.exists(where):  # noqa: PTH110 - as below
        return where, selection
    return head, rest[:-1]


def _unseen(_done: int, _total: int | None, _nbytes: int, /) -> None:
    """Draw no bar between lines of values."""


def _format(arguments: Namespace, out: Output) -> str:
    form: str | None = arguments.format
    if form is None and arguments.output:
        ending = os.path.splitext(arguments.output)[1][1:].lower()  # noqa: PTH122 - no path is touched
        form = ending if ending in _FORMATS else None
    if out.as_json:
        if form not in (None, "json"):
            raise UsageError("oz cat", f"--json and --format {form} exclude each other")
        return "json"
    if form == "npy" and not arguments.output and out.is_terminal:
        raise UsageError("oz cat", "npy is not for a terminal", "-o FILE writes it to a file; a pipe takes it, too")
    return form or "text"


@contextlib.contextmanager
def _target(name: str | None, form: str) -> Generator[Any]:
    """Open where values are written; a file appears when it is whole, and not at all if something goes wrong."""
    if name is None:
        yield sys.stdout.buffer if form == "npy" else sys.stdout
        return
    # Pipes and devices are written as they are.
    special = os.path.exists(name) and not os.path.isfile(name)  # noqa: PTH110, PTH113 - pathlib takes long to import
    partial = name if special else f"{name}.partial"
    with _opened(partial, form) as file:
        try:
            yield file
        except BaseException:
            file.close()
            if not special:
                os.unlink(partial)  # noqa: PTH108 - as above
            raise
    if not special:
        os.replace(partial, name)  # noqa: PTH105 - as above


def _opened(name: str, form: str) -> IO[Any]:
    if form == "npy":
        return open(name, "wb")  # noqa: PTH123 - as above
    return open(name, "w", encoding="utf-8", errors="backslashreplace", newline="")  # noqa: PTH123 - as above
