"""`oz refs rewrite`: change where a set looks for its files."""

from __future__ import annotations

import os
from argparse import Namespace

from omnizarr import refs
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser, UsageError
from omnizarr.cli.refs.words import add_form, form_options, plural


def configure(parser: Parser) -> None:
    """Say what the action takes."""
    parser.add_argument("source", metavar="SOURCE", help="a reference set")
    parser.add_argument("target", metavar="TARGET", help="where the changed set goes; the same place needs --overwrite")
    parser.add_argument(
        "--change",
        nargs=2,
        action="append",
        default=[],
        metavar=("OLD", "NEW"),
        help="what URLs begin with now, and what instead; can be given again",
    )
    parser.add_argument(
        "--relative", action="store_true", help="make them relative to the changed set, which may then move"
    )
    add_form(parser)
    parser.set_examples(
        (
            ("oz refs rewrite a.json b.json --change /data/ s3://bucket/data/", "the files have moved"),
            ("oz refs rewrite a.json b.json --relative", "the set lies beside its files"),
            ("oz refs rewrite a.parq a.parq --change /old/ /new/ --overwrite", "in place"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    if not arguments.change and not arguments.relative:
        raise UsageError("oz refs rewrite", "nothing to change: give --change OLD NEW, or --relative")
    found = refs.read(arguments.source)
    if arguments.change:
        found = refs.rewrite(found, dict(arguments.change))
    if arguments.relative:
        found = refs.relative(found, os.path.dirname(os.path.abspath(arguments.target)) + "/")  # noqa: PTH100, PTH120
    refs.write(found, arguments.target, **form_options(arguments))
    if out.as_json:
        out.json({"set": arguments.target, "files": found.urls[:1000]})
    else:
        first = found.urls[0] if found.urls else "none"
        out.line(f"{arguments.target}: {plural(len(found.urls), 'file')}, the first is {first}")
    return 0
