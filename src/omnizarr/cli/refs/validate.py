"""`oz refs validate`: check a set against the files that it refers to."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from omnizarr import refs
from omnizarr.cli.output import Output, Style
from omnizarr.cli.parser import Parser
from omnizarr.cli.refs.words import plural
from omnizarr.refset.guard import defaults

_STYLES: Final[dict[str, Style]] = {"error": "red", "warning": "yellow", "note": "dim"}


def configure(parser: Parser) -> None:
    """Say what the action takes."""
    parser.add_argument("where", metavar="SET", help="a reference set")
    parser.add_argument("--sample", type=int, default=3, metavar="N", help="decode so many chunks of each array (3)")
    parser.add_argument("--no-sources", action="store_true", help="look at the set only, not at the files")
    parser.set_examples(
        (
            ("oz refs validate archive.parq", "are the files there, and as they were?"),
            ("oz refs validate archive.json --sample 100", "decode a hundred chunks of each array"),
            ("oz refs validate archive.json --no-sources", "only what the set itself says"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it; the exit code is 1 if there are errors."""
    found = refs.validate(
        refs.read(arguments.where),
        allow=defaults(arguments.where)[1],
        sample=arguments.sample,
        sources=not arguments.no_sources,
    )
    bad = sum(one.severity == "error" for one in found)
    if out.as_json:
        out.json({"valid": not bad, "findings": found})
        return 1 if bad else 0
    for one in found:
        place = " ".join(filter(None, (one.path, one.url)))
        times = f" ({one.times:,} references)" if one.times > 1 and place else ""
        where = f" {place}:" if place else ":"
        out.line(f"{out.style(one.severity, _STYLES[one.severity])}{where} {one.message}{times}")
    out.line(plural(bad, "error") if bad else "valid")
    return 1 if bad else 0
