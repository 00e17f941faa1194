"""`oz refs convert`: write a set in another form."""

from __future__ import annotations

from argparse import Namespace

from omnizarr import refs
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.cli.refs.words import add_form, counted, figures, form_options


def configure(parser: Parser) -> None:
    """Say what the action takes."""
    parser.add_argument(
        "source", metavar="SOURCE", help="a reference set: JSON, also compressed, or a folder of parquet"
    )
    parser.add_argument("target", metavar="TARGET", help="where it goes; the name says how: .json, .json.zst, .parq …")
    parser.add_argument("--version-0", action="store_true", help="JSON of version 0: keys and references, nothing else")
    add_form(parser)
    parser.set_examples(
        (
            ("oz refs convert archive.json archive.parq", "read only as far as it is needed"),
            ("oz refs convert archive.parq archive.json.zst", "one file"),
            ("oz refs convert archive.parq old.json --version-0", "for programs that know nothing newer"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    found = refs.read(arguments.source)
    refs.write(found, arguments.target, version=0 if arguments.version_0 else 1, **form_options(arguments))
    told = refs.summary(found)
    if out.as_json:
        out.json({"set": arguments.target, **figures(told)})
    else:
        out.line(f"{arguments.target}: {counted(told)}")
    return 0
