"""`oz refs export`: copy what a set refers to into a Zarr store of its own."""

from __future__ import annotations

from argparse import Namespace

from omnizarr import refs
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.refset.guard import defaults


def configure(parser: Parser) -> None:
    """Say what the action takes."""
    parser.add_argument("source", metavar="SOURCE", help="a reference set")
    parser.add_argument("target", metavar="TARGET", help="where the Zarr hierarchy goes")
    parser.add_argument("--to", choices=("zarr3", "zarr2"), help="decode, and write in this format")
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")
    parser.set_examples(
        (
            ("oz refs export archive.parq archive.zarr", "chunks as they are, without the files they came from"),
            ("oz refs export archive.json archive.zip", "in one file"),
            ("oz refs export archive.json new.zarr --to zarr3", "decoded, and in the newest format"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    options = {"format": arguments.to} if arguments.to else {}
    with out.progress("copying", "keys") as bar:
        refs.export(
            refs.read(arguments.source),
            arguments.target,
            allow=defaults(arguments.source)[1],
            overwrite=arguments.overwrite,
            progress=bar,
            **options,
        )
    if out.as_json:
        out.json({"target": arguments.target})
    else:
        out.line(f"{arguments.target}: needs the files of the set no more")
    return 0
