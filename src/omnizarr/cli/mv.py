"""`oz mv`: give a node another name or place."""

from __future__ import annotations

from argparse import Namespace

from omnizarr.cli.cures import place
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.tools.editing.moving import move


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("source", metavar="SOURCE", help="a group or an array")
    parser.add_argument("target", metavar="TARGET", help="its new place in the same store, or a group that takes it in")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.set_examples(
        (
            ("oz mv data.zarr/t data.zarr/temperature", "another name"),
            ("oz mv data.zarr/t data.zarr/ocean", "into a group"),
            ("oz mv data.zip/a data.zip/b/c --dry-run", "in an archive; only say what would be done"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    moved = move(arguments.source, arguments.target, dry_run=arguments.dry_run)
    if out.as_json:
        out.json(moved)
    else:
        done = "moved" if moved.done else "would move"
        out.line(f"{done} {out.style(place(moved.source))} to {out.style(place(moved.target))}")
    return 0
