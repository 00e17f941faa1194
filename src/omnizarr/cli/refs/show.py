"""`oz refs show`: say what a set refers to."""

from __future__ import annotations

from argparse import Namespace

from omnizarr import refs
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.cli.refs.words import counted, plural
from omnizarr.sizes import human_bytes


def configure(parser: Parser) -> None:
    """Say what the action takes."""
    parser.add_argument("where", metavar="SET", help="a reference set: JSON, also compressed, or a folder of parquet")
    parser.add_argument("--files", action="store_true", help="list the files that it refers to, and nothing else")
    parser.set_examples(
        (
            ("oz refs show archive.json", "its arrays, and how many references each has"),
            ("oz refs show archive.parq --files", "where its data are"),
            ("oz refs show archive.parq --json", "for a program"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    found = refs.read(arguments.where)
    if arguments.files:
        if out.as_json:
            out.json(found.urls)
        else:
            out.lines(out.style(url) for url in found.urls)
        return 0
    told = refs.summary(found)
    if out.as_json:
        out.json(told)
        return 0
    bare = told.files - told.stamped
    stamps = f"; of {plural(bare, 'file')} nothing is known by which a change would be noticed" if bare else ""
    out.line(f"{counted(told)}{stamps}")
    width = max((len(one.path) for one in told.arrays), default=0)
    for one in told.arrays:
        parts = [plural(one.references, "reference")] if one.references else []
        parts += [f"{one.inline:,} inline"] if one.inline else []
        parts += [f"{one.missing:,} missing"] if one.missing else []
        size = f" · {human_bytes(one.bytes)}" if one.bytes else ""
        name = out.style((one.path or "/").ljust(width), "bold")
        out.line(f"  {name}  {one.dtype} {one.shape} · {', '.join(parts) or 'empty'}{size}")
    return 0
