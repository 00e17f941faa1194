"""`oz consolidate`: copy all documents of a hierarchy into one."""

from __future__ import annotations

from argparse import Namespace

from omnizarr.api import consolidate
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("where", metavar="LOCATION", help="a group")
    parser.set_examples(
        (
            ("oz consolidate data.zarr", "the whole hierarchy"),
            ("oz consolidate data.zarr/model", "a part of it"),
            ("oz consolidate data.zip --json", "in an archive; say what was done in JSON"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    with consolidate(arguments.where) as group:
        count = len(group.members(max_depth=None))
        if out.as_json:
            out.json({"path": group.name, "format": group.format, "nodes": count})
        else:
            out.line(f"{count} nodes consolidated in {group.store.uri}{group.name if group.path else ''}")
    return 0
