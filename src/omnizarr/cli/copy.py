"""`oz copy`: copy nodes from store to store, and datasets between Zarr and netCDF files."""

from __future__ import annotations

import time
from argparse import SUPPRESS, Action, ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import Any

from omnizarr.cli.cluster import add_cluster
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser, UsageError
from omnizarr.sizes import human_bytes
from omnizarr.tools.copy.changes import Changes
from omnizarr.tools.copy.copy import Copied, copy

_KINDS = {"3": "classic", "4": "netCDF-4", "5": "cdf5", "6": "64-bit offset", "7": "netCDF-4 classic model"}
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.conflict_handler = "resolve"  # -h is nccopy's; --help stays
    parser.add_argument(
        "source", metavar="SOURCE", help="an array, group or dataset: a path, URI, zip archive, netCDF or HDF5 file"
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="where the copy goes; a name that ends in .zip makes an archive, one in .nc a netCDF file",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be copied")
    _add_keys(parser)
    _add_datasets(parser)
    _add_tuning(parser)
    parser.add_argument("-2", "--to", "--format", action=_Elsewhere, help=SUPPRESS)
    parser.set_examples(
        (
            ("oz copy data.zarr data.zip", "pack a hierarchy into an archive"),
            ("oz copy in.nc out.zarr", "a netCDF file becomes Zarr; the other way round, too"),
            ("oz copy data.zarr s3://bucket/data.zarr --cluster tcp://head:8786", "by the workers of a Dask cluster"),
            ("oz copy -k nc7 -d 5 -s -c time/24,lat/90,lon/180 in.zarr out.nc", "compressed, in chunks of that size"),
        )
    )


def _add_keys(parser: Parser) -> None:
    group = parser.add_argument_group("keys, from Zarr to Zarr")
    group.add_argument("--path", help="the node within the source")
    group.add_argument("--target-path", metavar="PATH", help="where the copy goes within the target")
    for word, does in (("include", "copy only nodes"), ("exclude", "leave out nodes")):
        group.add_argument(
            f"--{word}",
            metavar="PATTERN",
            action="append",
            default=[],
            help=f"{does} of such names or paths (temp*, model/*/t), with all below them; can be given again",
        )
    group.add_argument("--verify", action="store_true", help="compare all bytes afterwards")
    add_cluster(group)
    group.add_argument("--no-resume", action="store_true", help="do not go on with a copy that was stopped")


def _add_datasets(parser: Parser) -> None:
    group = parser.add_argument_group("datasets, with nccopy's letters")
    group.add_argument(
        "-k",
        dest="kind",
        metavar="KIND",
        help="nc4, nc7 (its classic model), nc3, nc6 (64-bit offset), nc5 (64-bit data), nczarr, nczarr3, zarr, zarr3",
    )
    for letter, kind in _KINDS.items():
        group.add_argument(f"-{letter}", dest="kind", action="store_const", const=kind, help=f"the same as -k '{kind}'")
    group.add_argument("-d", dest="level", type=int, choices=range(10), metavar="LEVEL", help="deflate; 0: no filters")
    group.add_argument("-s", dest="shuffle", action="store_true", help="shuffle bytes before that")
    group.add_argument(
        "-c",
        dest="chunks",
        action="append",
        default=[],
        metavar="SPEC",
        help="chunks: time/10,lat/90 along dimensions; t:10,90 of a variable; t:contiguous; / for none",
    )
    group.add_argument(
        "-F",
        dest="filters",
        action="append",
        default=[],
        metavar="SPEC",
        help="filters: t,307,9 or t|u,zstd,3 or '*,shuffle|deflate,5'; t,none; none",
    )
    for letter, name, text in (
        ("v", "values_of", "values of these variables only, and all definitions"),
        ("V", "variables", "these variables only"),
        ("g", "values_of_groups", "values of these groups only, and all definitions"),
        ("G", "groups", "these groups only"),
    ):
        group.add_argument(f"-{letter}", dest=name, type=_names, default=(), metavar="NAMES", help=text)
    group.add_argument("-u", dest="fixed", action="store_true", help="unlimited dimensions become fixed ones")


def _add_tuning(parser: Parser) -> None:
    group = parser.add_argument_group("speed and memory of that")
    group.add_argument("-m", dest="buffer", type=_size, metavar="BYTES", help="copy about as much at a time (16M)")
    group.add_argument("-M", dest="smallest_chunk", type=_size, metavar="BYTES", help="do not divide below that (8192)")
    group.add_argument("-w", dest="in_memory", action="store_true", help="make netCDF-4 in memory, store it when whole")
    group.add_argument("-r", action="store_true", help="accepted, and not needed")
    group.add_argument("-h", dest="cache", action=_CacheOrHelp, metavar="BYTES", help="cache of HDF5; alone: this help")
    group.add_argument("-e", dest="cache_slots", type=_size, metavar="CHUNKS", help="how many chunks it holds")


class _Elsewhere(Action):
    """What another command does, and what that is."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:  # noqa: ANN401 - argparse's
        super().__init__(option_strings, dest, nargs="?", **settings)

    def __call__(self, parser: Any, namespace: Namespace, values: object, option_string: str | None = None) -> None:  # noqa: ANN401, ARG002
        cure = (
            "'oz convert --to v2 SOURCE TARGET' changes the version of Zarr; -k KIND is the kind of a dataset, as nc3"
        )
        raise UsageError(parser.prog, f"a copy has the format of its source, so there is no {option_string}", cure)


class _CacheOrHelp(Action):
    """`-h 8M` is a size of nccopy's; `-h` and anything else is what everybody types who wants help."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:  # noqa: ANN401 - argparse's
        super().__init__(option_strings, dest, nargs="?", **settings)

    def __call__(self, parser: Any, namespace: Namespace, values: object, option_string: str | None = None) -> None:  # noqa: ANN401, ARG002
        try:
            setattr(namespace, self.dest, _size(str(values)))
        except ArgumentTypeError:
            parser.print_help()
            parser.exit()


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _size(text: str) -> int:
    """Understand `5000`, `4.5M`, `1g`."""
    unit = _UNITS.get(text[-1:].lower(), 1)
    try:
        return max(1, int(float(text[:-1] if unit > 1 else text) * unit))
    except (ValueError, OverflowError):
        raise ArgumentTypeError(f"{text!r} is no size, as in 5000 or 4.5M") from None


def run(arguments: Namespace, out: Output) -> int:
    """Do it; the exit code is 1 if the bytes turn out to differ."""
    began = time.monotonic()
    given = vars(arguments)
    changes: dict[str, Any] = {name: given[name] for name in Changes.__annotations__ if given[name]}
    if arguments.level is not None:
        changes["level"] = arguments.level
    with out.progress("counting" if arguments.dry_run else "copying", "pieces" if changes else "keys") as bar:
        done = copy(
            arguments.source,
            arguments.target,
            path=arguments.path,
            target_path=arguments.target_path,
            include=arguments.include,
            exclude=arguments.exclude,
            overwrite=arguments.overwrite,
            verify=arguments.verify,
            dry_run=arguments.dry_run,
            resume=not arguments.no_resume,
            progress=bar,
            cluster=arguments.cluster,
            **changes,
        )
    if out.as_json:
        out.json(done)
    else:
        _print(done, out, time.monotonic() - began)
    return 1 if done.different else 0


def _variables(count: int) -> str:
    return f"{count} variable{'s' * (count != 1)}"


def _print(done: Copied, out: Output, seconds: float) -> None:
    size = human_bytes(done.nbytes)
    what, to = (f"{done.keys} keys", done.target) if done.kind is None else (_variables(done.keys), "")
    to = to or f"{done.target} ({done.kind})"
    if done.dry_run:
        out.line(f"would copy {what}, {size}, to {to}")
    else:
        rate = f" in {seconds:.0f} s, {human_bytes(done.nbytes / seconds)}/s" if seconds >= 1 else ""
        kept = f"; {done.kept} were there already" if done.kept else ""
        copied = f"{done.copied} keys" if done.kind is None else what
        out.line(f"copied {copied}, {size}{rate}, to {to}{kept}")
    if done.left_out:
        out.line(
            f"left out {len(done.left_out)} nodes: {', '.join(done.left_out[:6])}{', …' * (len(done.left_out) > 6)}"
        )
    if done.verified:
        out.line("all bytes are equal")
    for key in done.different:
        out.line(f"{out.style('differs', 'red')}: {key}")
