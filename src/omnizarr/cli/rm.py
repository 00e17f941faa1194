"""`oz rm`: erase nodes."""

from __future__ import annotations

from argparse import Namespace

from omnizarr.cli.cures import place
from omnizarr.cli.nodes_text import counted
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser, UsageError
from omnizarr.tools.editing.erasing import Doomed, condemn, erase


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("where", metavar="LOCATION", nargs="+", help="a group or an array")
    parser.add_argument("-r", "--recursive", action="store_true", help="groups with all that they hold")
    parser.add_argument("-y", "-f", "--yes", action="store_true", help="do not ask")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would be erased, and erase nothing")
    parser.set_examples(
        (
            ("oz rm data.zarr/t", "an array, after a question"),
            ("oz rm -r --yes data.zarr/ocean old.zarr", "two hierarchies, without one"),
            ("oz rm -r --dry-run data.zarr", "only say what would be erased"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    doomed = [condemn(where, recursive=arguments.recursive) for where in arguments.where]
    if not arguments.dry_run and not arguments.yes:
        answer = _agreed(doomed, out)
        if not answer:
            return 1
    if not arguments.dry_run:
        with out.progress("erasing", "keys") as bar:
            for one in doomed:
                erase(one, progress=bar)
    if out.as_json:
        out.json([_as_object(one, done=not arguments.dry_run) for one in doomed])
    else:
        done = "would erase" if arguments.dry_run else "erased"
        out.lines(f"{done} {_said(one, out)}" for one in doomed)
    for one in doomed:
        if one.others:
            shown = ", ".join(one.others[:6]) + (", …" if len(one.others) > 6 else "")
            out.show_warning(f"{place(one.uri)} holds what is not Zarr's, which stays: {shown}")
    return 0


def _agreed(doomed: list[Doomed], out: Output) -> bool:
    for one in doomed:
        answer = None if out.as_json else out.ask(f"erase {_said(one, out)}?")
        if answer is None:
            raise UsageError("oz rm", "there is no one to ask whether to erase it", "--yes erases without asking")
        if not answer:
            return False
    return True


def _said(one: Doomed, out: Output) -> str:
    nodes = f"{counted(one.nodes, 'node')}, " if one.nodes > 1 else ""
    return f"{out.style(place(one.uri))} ({one.kind}, {nodes}{counted(len(one.keys), 'key')})"


def _as_object(one: Doomed, *, done: bool) -> dict[str, object]:
    return {
        "uri": one.uri,
        "kind": one.kind,
        "nodes": one.nodes,
        "keys": len(one.keys),
        "left": one.others,
        "done": done,
    }
