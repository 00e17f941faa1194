"""`oz convert`: change format, chunks, shards or codecs."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace
from typing import Any, Final

from omnizarr.cli.cluster import add_cluster
from omnizarr.cli.cures import cure_of
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser

_UNITS: Final = {
    "": 1, "B": 1, "K": 1000, "KB": 1000, "M": 1000**2, "MB": 1000**2, "G": 1000**3, "GB": 1000**3,
    "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30,
}  # fmt: skip

_FIRST: Final[dict[str, str]] = {"blosc": "clevel"}
"""What the number after a codec's name means, where it is not the level."""


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("source", metavar="SOURCE", help="an array or a group")
    parser.add_argument("target", metavar="TARGET", nargs="?", help="where to put the result; in place if not given")
    parser.add_argument("--to", metavar="FORMAT", help="v3, v2, v1 or v0; that of the source if not given")
    parser.add_argument(
        "--chunks", metavar="SHAPE", type=lengths, help="as 1,100,100, as time=1,lat=100, or auto; -1: the whole"
    )
    parser.add_argument("--shards", metavar="SHAPE", type=lengths, help="as --chunks; none: without shards")
    parser.add_argument(
        "--codec", metavar="CODEC", type=codecs, action="append",
        help="as zstd:5, as JSON, auto, or none; several are applied in the order given",
    )  # fmt: skip
    parser.add_argument("--include", metavar="PATTERN", action="append", default=[], help="only arrays of such names")
    parser.add_argument("--exclude", metavar="PATTERN", action="append", default=[], help="no arrays of such names")
    parser.add_argument(
        "--memory", metavar="SIZE", type=size, help="what values may take up on their way; 512MiB, or what workers have"
    )
    add_cluster(parser)
    parser.add_argument("--overwrite", action="store_true", help="replace what is at the target")
    parser.add_argument("--lossy", action="store_true", help="leave out what the format cannot carry, values excepted")
    parser.add_argument("--verify", action="store_true", help="compare all values before anything old is erased")
    parser.add_argument("--no-resume", action="store_true", help="begin anew where an earlier run was stopped")
    parser.add_argument("--rollback", action="store_true", help="undo a conversion that was stopped here")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would be done; write nothing")
    parser.set_examples(
        (
            ("oz convert data.zarr --to v3", "in place; chunks stay as they are"),
            ("oz convert old.zarr new.zip --to v2 --verify", "into an archive, and compare"),
            ("oz convert a.zarr b.zarr --chunks time=1000,lat=16,lon=16 --codec zstd:5", "other chunks and codecs"),
            ("oz convert a.zarr b.zarr --chunks time=-1,lat=8,lon=8 --cluster local:4 -n", "the plan for four workers"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    from omnizarr.tools.convert import convert, rollback  # noqa: PLC0415 - imports NumPy, which help does not need

    if arguments.rollback:
        where = arguments.target or arguments.source
        what = rollback(where)
        if out.as_json:
            out.json({"target": where, "conversion": what})
        else:
            out.line(f"the conversion of {where} was {what}")
        return 0
    options: dict[str, Any] = {"memory": arguments.memory} if arguments.memory else {}
    with out.progress("converting", "regions") as bar:
        done = convert(
            arguments.source,
            arguments.target,
            format=arguments.to,
            chunks=arguments.chunks,
            shards=False if arguments.shards == "none" else arguments.shards,
            codecs=_chain(arguments.codec),
            include=arguments.include,
            exclude=arguments.exclude,
            overwrite=arguments.overwrite,
            dry_run=arguments.dry_run,
            verify=arguments.verify,
            resume=not arguments.no_resume,
            lossy=arguments.lossy,
            progress=bar,
            cluster=arguments.cluster,
            **options,
        )
    if out.as_json:
        out.json(done)
    else:
        _print(done, arguments.target, out)
    return 1 if done.refused else 0


def _print(done: Any, target: str | None, out: Output) -> None:  # noqa: ANN401 - a Conversion; help imports no NumPy
    width = max((len(one.path) for one in (*done.nodes, *done.refused)), default=0) + 1
    for node in done.nodes if len(done.nodes) <= _MOST or not done.written else ():
        notes = (*node.notes, *(f"left out: {one}" for one in node.dropped))
        _row(out, width, node.path, out.style(f"{node.how:9}", "cyan"), notes)
    for one in done.refused:
        cure = cure_of(one.hint, out.options)
        _row(out, width, one.path, out.style(f"{'refused':9}", "red"), (one.reason, *([cure] if cure else [])))
    hows = [node.how for node in done.nodes]
    counts = [f"{hows.count(how)} {_WORDS[how]}" for how in dict.fromkeys(hows)]
    words = [", ".join(counts) or "nothing to do"]
    words += ["went on from an earlier run"] if done.resumed else []
    words += ["verified"] if done.verified else []
    words += [] if done.written else ["nothing was written"]
    where = "in place" if target is None else f"in {out.style(target)}"
    out.line(f"{done.format_before} → {done.format} {where}: {'; '.join(words)}")


def _row(out: Output, width: int, path: str, what: str, notes: tuple[str, ...]) -> None:
    """Print a line for a node, and one for each further note."""
    name = out.style("/" + path) + " " * (width - 1 - len(path))
    out.line(f"{name}  {what}  {notes[0] if notes else ''}".rstrip())
    for note in notes[1:]:
        out.line(" " * (width + 13) + note)


_WORDS: Final = {
    "keep": "kept",
    "documents": "by documents alone",
    "rename": "renamed",
    "copy": "copied",
    "recode": "recoded",
    "rechunk": "rechunked",
}
_MOST: Final = 50
"""More nodes than these are only counted, unless nothing was written."""


def lengths(text: str) -> Any:  # noqa: ANN401 - one of several forms
    """Read the shape of chunks or shards.

    >>> lengths("1,100,-1"), lengths("time=1,lat=100"), lengths("auto"), lengths("64")
    ([1, 100, -1], {'time': 1, 'lat': 100}, 'auto', 64)
    """
    if text in ("auto", "none"):
        return text
    parts = text.replace("x", ",").split(",") if "=" not in text else text.split(",")
    try:
        if "=" in text:
            return {name.strip(): int(length) for name, _, length in (part.rpartition("=") for part in parts)}
        numbers = [int(part) for part in parts]
    except ValueError:
        message = f"{text!r} is not a shape such as 1,100,100 or time=1,lat=100"
        raise ArgumentTypeError(message) from None
    return numbers if len(numbers) > 1 or text.endswith(",") else numbers[0]


def codecs(text: str) -> Any:  # noqa: ANN401 - one of several forms
    """Read a codec: a name, a name and a level, or JSON.

    >>> codecs("zstd:5"), codecs("auto"), codecs('{"id": "zlib"}')
    ({'name': 'zstd', 'configuration': {'level': 5}}, 'auto', {'id': 'zlib'})
    """
    if text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError as error:
            raise ArgumentTypeError(f"the codec is not JSON: {error}") from None
    name, colon, level = text.partition(":")
    if not colon:
        return text
    try:
        return {"name": name, "configuration": {_FIRST.get(name, "level"): int(level)}}
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a codec such as zstd or zstd:5") from None


def _chain(given: list[Any] | None) -> Any:  # noqa: ANN401 - as `convert` takes it
    if given is None:
        return None
    if len(given) == 1 and given[0] in ("auto", "none"):
        return given[0]
    return [step for one in given for step in (one if isinstance(one, list) else [one])]


def size(text: str) -> int:
    """Read a number of bytes.

    >>> size("256MB"), size("1GiB")
    (256000000, 1073741824)
    """
    digits = text.rstrip("BbIiKkMmGg ")
    try:
        return int(float(digits) * _UNITS[text[len(digits) :].strip().upper()])
    except (ValueError, KeyError, OverflowError):
        raise ArgumentTypeError(f"{text!r} is not a size such as 256MB") from None
