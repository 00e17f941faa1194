"""`oz consolidate`: copy all documents of a hierarchy into one."""

from __future__ import annotations

from argparse import Namespace

from omnizarr.api import consolidate
from omnizarr.cli.cures import place
from omnizarr.cli.nodes_text import counted
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.store.protocol import place_name


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
        uri = place_name(group.store, group.path)
        if out.as_json:
            out.json({"uri": uri, "format": group.format, "nodes": count})
        else:
            out.line(f"{counted(count, 'node')} consolidated in {out.style(place(uri))}")
    return 0
