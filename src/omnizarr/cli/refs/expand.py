"""`oz refs expand`: write a set out as version 0, without templates and formulas."""

from __future__ import annotations

from argparse import Namespace

from omnizarr import refs
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Say what the action takes."""
    parser.add_argument("where", metavar="SET", help="a reference set")
    parser.add_argument("-o", "--output", metavar="TARGET", help="a file to write; otherwise it is printed")
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")
    parser.set_examples(
        (
            ("oz refs expand archive.json", "keys and references, as they are meant"),
            ("oz refs expand archive.json -o plain.json", "into a file"),
            ("oz refs expand archive.parq | jq 'keys | length'", "for other programs"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    if arguments.output:
        refs.write(refs.read(arguments.where), arguments.output, version=0, overwrite=arguments.overwrite)
        if not out.as_json:
            out.line(arguments.output)
        return 0
    out.json(refs.expand(arguments.where))
    return 0
