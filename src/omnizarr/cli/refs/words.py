"""What several actions take."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from omnizarr.cli.cluster import add_cluster
from omnizarr.cli.parser import Parser
from omnizarr.refs.figures import Summary
from omnizarr.refs.scanners.source import DEFAULTS


def counted(told: Summary) -> str:
    """Say how many references a set has, and to how many files.

    >>> counted(Summary([], 1, 1))
    '0 references to 1 file'
    """
    number = plural(told.references + told.inline, "reference")
    if told.inline and not told.references:
        return f"{number}, all of them inline"
    inline = f", {told.inline:,} of them inline" if told.inline else ""
    return f"{number} to {plural(told.files, 'file')}{inline}"


def figures(told: Summary) -> dict[str, int]:
    """Return the same for programs."""
    return {"references": told.references + told.inline, "inline": told.inline, "files": told.files}


def plural(count: int, noun: str) -> str:
    """Put a number before a noun.

    >>> plural(1, "file"), plural(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def add_target(parser: Parser) -> None:
    """Add where a set is written, and how."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="TARGET",
        required=True,
        help="where the set goes; its name says how: .json, .json.gz, .json.zst, .parq",
    )
    add_form(parser)


def add_form(parser: Parser) -> None:
    """Add how a set is written."""
    group = parser.add_argument_group("how it is written")
    group.add_argument(
        "--form", choices=("json", "json.gz", "json.zst", "parquet"), help="write it so, whatever its name says"
    )
    group.add_argument(
        "--record-size", type=int, default=100_000, metavar="N", help="references in a file of parquet (100000)"
    )
    group.add_argument("--overwrite", action="store_true", help="replace what is there")


def form_options(arguments: Namespace) -> dict[str, Any]:
    """Return what `omnizarr.refs.write` takes of these."""
    return {"form": arguments.form, "record_size": arguments.record_size, "overwrite": arguments.overwrite}


def add_scan(parser: Parser) -> None:
    """Add how files are scanned."""
    group = parser.add_argument_group("how files are scanned")
    group.add_argument(
        "--inline",
        type=int,
        default=DEFAULTS.inline,
        metavar="BYTES",
        help=f"take chunks of fewer bytes into the set itself ({DEFAULTS.inline})",
    )
    group.add_argument("--group", default="", metavar="PATH", help="only what is below this group of each file")
    group.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="only such variables (t*); repeat it"
    )
    group.add_argument("--skip", action="append", default=[], metavar="NAME", help="all but such variables; repeat it")
    group.add_argument(
        "--drop", action="store_true", help="leave out variables that references cannot describe, with a warning"
    )
    group.add_argument(
        "--format", choices=("zarr3",), help="make documents of Zarr v3; by default of v2, where that has words for all"
    )
    group.add_argument("--workers", type=int, metavar="N", help="processes; by default one for each processor")
    add_cluster(group)
    group.add_argument(
        "--cache", metavar="FOLDER", help="keep what was found there; files that are the same are not scanned"
    )
    group.add_argument(
        "--skip-errors", action="store_true", help="leave out files that cannot be scanned, with a warning"
    )


def scan_options(arguments: Namespace) -> dict[str, Any]:
    """Return what `omnizarr.refs.scanners` takes of these."""
    return {
        "inline": arguments.inline,
        "group": arguments.group,
        "only": arguments.only,
        "skip": arguments.skip,
        "format": arguments.format,
        "workers": arguments.workers,
        "cluster": arguments.cluster,
        "cache": arguments.cache,
        "on_error": "skip" if arguments.skip_errors else "drop" if arguments.drop else "raise",
    }
