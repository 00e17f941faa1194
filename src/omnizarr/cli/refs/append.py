"""`oz refs append`: add files or sets to the end of a set, in place."""

from __future__ import annotations

from argparse import Namespace

from omnizarr import refs
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.cli.refs.combine import add_choices, choices, dimension, scan_settings
from omnizarr.cli.refs.words import add_scan, counted, figures


def configure(parser: Parser) -> None:
    """Say what the action takes."""
    parser.add_argument("where", metavar="SET", help="the reference set that grows")
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="files, which are scanned, or reference sets")
    parser.add_argument(
        "-d",
        "--dim",
        type=dimension,
        required=True,
        metavar="NAME[=FROM]",
        help="the dimension, as `oz refs combine` takes it",
    )
    add_choices(parser)
    add_scan(parser)
    parser.set_examples(
        (
            ("oz refs append days.parq day3.nc -d time", "one more day"),
            ("oz refs append days.parq new/*.nc -d time --skip-errors", "whatever can be read"),
            ("oz refs append all.json r9.nc -d 'member=r{:d}.nc'", "one more member"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    with out.progress("scanning", "files") as bar:
        refs.append(
            arguments.where,
            arguments.inputs,
            concat=dict([arguments.dim]),
            progress=lambda done, total: bar(done, total, 0),
            **scan_settings(arguments),
            **choices(arguments),
        )
    told = refs.summary(refs.read(arguments.where))
    if out.as_json:
        out.json({"set": arguments.where, **figures(told)})
    else:
        out.line(f"{arguments.where}: {counted(told)}")
    return 0
