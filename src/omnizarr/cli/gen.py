"""`oz gen`: make a dataset from CDL text."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib import import_module
from typing import TYPE_CHECKING

from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser, UsageError

if TYPE_CHECKING:
    from omnizarr.nc.cdl.parser import CdlSource

_LETTERS = {"3": "nc3", "4": "nc4", "5": "nc5", "6": "nc6", "7": "nc7"}
_BINARY = ("b",)
_PYTHON = ("python", "py")


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("text", metavar="CDL", nargs="?", default="-", help="a file of CDL text; - is standard input")
    parser.add_argument("-o", "--output", metavar="LOCATION", help="where the dataset goes; what is there is replaced")
    parser.add_argument(
        "-b", dest="binary", action="store_true", help="write it beside you, under the name of the text"
    )
    parser.add_argument("-n", dest="old", action="store_true", help="as -b, with the ending .cdf")
    parser.add_argument(
        "-k",
        "--kind",
        help="what to write: nczarr, nczarr3, zarr, zarr3, nc4, nc7, nc3, nc6, nc5 (or a long name of those)",
    )
    for letter, kind in _LETTERS.items():
        parser.add_argument(f"-{letter}", dest="kind", action="store_const", const=kind, help=f"as -k {kind}")
    parser.add_argument("-l", "--language", metavar="WHAT", help="b: a dataset; python: a program that makes it")
    parser.add_argument(
        "-c", dest="code", action="store_true", help="as -l python; the program goes to standard output"
    )
    parser.add_argument("-N", "--name", help="call the dataset so")
    parser.add_argument("-x", "--no-fill", action="store_true", help="leave elements undefined that have no value")
    parser.add_argument("-H", "--header", action="store_true", help="leave out all values")
    parser.set_examples(
        (
            ("oz gen -o new.zarr small.cdl", "a dataset"),
            ("oz gen -k nc4 -o new.nc small.cdl", "the same as a netCDF-4 file"),
            ("oz gen small.cdl", "only look whether the text is right"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    language = _language(arguments)
    source = _read(arguments.text)
    if arguments.name:
        source.name = arguments.name
    making = import_module("omnizarr.nc.cdl.generate")
    ending = ".cdf" if arguments.old else None
    where = arguments.output or making.default_place(source, arguments.text, arguments.kind, ending)
    if language in _PYTHON:
        for line in import_module("omnizarr.nc.cdl.program").program(source, where):
            out.line(line)
        return 0
    if not (language or arguments.binary or arguments.old or arguments.output or arguments.kind):
        done = making.counted(source, "", "")
        out.json(done) if out.as_json else out.line(f"{arguments.text}: all right, {_said(done)}")
        return 0
    kind = arguments.kind
    if kind is None and arguments.output is None and not arguments.old:
        kind = source.format or "nczarr"
    done = making.generate(source, where, kind, fill=not arguments.no_fill, data=not arguments.header)
    out.json(done) if out.as_json else out.line(f"wrote {done.target}: {done.kind}, {_said(done)}")
    return 0


def _language(arguments: Namespace) -> str | None:
    language: str | None = "python" if arguments.code else arguments.language
    if language is not None and language not in (*_BINARY, *_PYTHON):
        raise UsageError("oz gen", f"there is no language {language}", "-l takes b and python")
    return language


def _read(name: str) -> CdlSource:
    reading = import_module("omnizarr.nc.cdl.parser")
    source: CdlSource = reading.parse(sys.stdin.buffer.read(), "<stdin>") if name == "-" else reading.load(name)
    return source


def _said(done: object) -> str:
    parts = [(getattr(done, what), what) for what in ("groups", "dimensions", "variables")]
    return ", ".join(f"{number} {what if number != 1 else what[:-1]}" for number, what in parts)
