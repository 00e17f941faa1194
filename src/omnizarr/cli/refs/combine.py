"""`oz refs combine`: join files or sets along dimensions into one set."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import Any

from omnizarr import refs
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.cli.refs.words import add_scan, add_target, counted, figures, form_options


def configure(parser: Parser) -> None:
    """Say what the action takes."""
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="files, which are scanned, or reference sets")
    add_target(parser)
    parser.add_argument(
        "-d",
        "--dim",
        dest="dims",
        action="append",
        type=dimension,
        default=[],
        metavar="NAME[=FROM]",
        help="join along this dimension; FROM says where a new one's values are from: a pattern of the file's name "
        "({date:%%Y%%m%%d}.nc), attr:NAME, INDEX, or a list of values (1,2,3)",
    )
    add_choices(parser)
    add_scan(parser)
    parser.set_examples(
        (
            ("oz refs combine day*.nc -d time -o days.parq", "days one after the other"),
            ("oz refs combine r*.nc -d 'member=r{:d}.nc' -d time -o all.parq", "and members of an ensemble"),
            ("oz refs combine day*.nc -d time -o days.parq --cluster local:4", "scanned by workers of a Dask cluster"),
            ("oz refs combine t.json u.json -o both.json", "variables of several files"),
        )
    )


def add_choices(parser: Parser) -> None:
    """Add what is decided where files differ."""
    group = parser.add_argument_group("where files differ")
    group.add_argument(
        "--identical", action="append", default=[], metavar="NAME", help="a variable not to compare; repeat it"
    )
    group.add_argument(
        "--compat",
        choices=("identical", "override"),
        help="variables that are not joined and differ: an error (identical), or the first one counts (override)",
    )
    group.add_argument(
        "--keep", choices=("error", "first", "last"), help="which of two files counts where both have a place (error)"
    )
    group.add_argument(
        "--missing",
        choices=("warn", "fill", "error"),
        help="places that no file has: filled, with a warning (warn) or without one, or an error",
    )
    group.add_argument("--no-sort", action="store_true", help="keep the order in which files are given")


def choices(arguments: Namespace) -> dict[str, Any]:
    """Return what `omnizarr.refs.combining` takes of these."""
    given = {name: getattr(arguments, name) for name in ("identical", "compat", "keep", "missing")}
    return {**{name: value for name, value in given.items() if value}, **({"sort": False} if arguments.no_sort else {})}


def dimension(text: str) -> tuple[str, str | Sequence[object] | None]:
    """Understand `time`, `member=r{:d}.nc`, `year=1990,1991`."""
    name, _, source = text.partition("=")
    if not name:
        raise ArgumentTypeError(f"{text!r} is no dimension, as in time or member=INDEX")
    if not source or "{" in source or source == "INDEX" or source.startswith(("attr:", "data:")):
        return name, source or None
    return name, [_value(one) for one in source.split(",")]


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def scan_settings(arguments: Namespace) -> dict[str, Any]:
    """Return how inputs are scanned."""
    only, skip = tuple(arguments.only), tuple(arguments.skip)
    return {
        "scan": refs.Options(
            arguments.inline, arguments.group, only, skip, "drop" if arguments.drop else "raise", arguments.format
        ),
        "workers": arguments.workers,
        "cluster": arguments.cluster,
        "cache": arguments.cache,
        "on_error": "skip" if arguments.skip_errors else "raise",
    }


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    with out.progress("scanning", "files") as bar:
        found = refs.combine(
            arguments.inputs,
            concat=dict(arguments.dims),
            progress=lambda done, total: bar(done, total, 0),
            **scan_settings(arguments),
            **choices(arguments),
        )
    refs.write(found, arguments.output, **form_options(arguments))
    told = refs.summary(found)
    if out.as_json:
        out.json({"set": arguments.output, **figures(told), "arrays": told.arrays})
    else:
        out.line(f"{arguments.output}: {counted(told)}")
        for one in told.arrays:
            out.line(f"  {one.path or '/'} {one.dtype} {one.shape}")
    return 0
