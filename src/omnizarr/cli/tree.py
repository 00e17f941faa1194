"""`oz tree`: draw what lies below a group."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError, Namespace
from typing import Any

from omnizarr.cli.nodes_text import as_object, cut, location, summary
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.letters import columns_of, printable
from omnizarr.sizes import human_bytes
from omnizarr.tools.listing.entries import Entry
from omnizarr.tools.listing.listing import list_nodes

# What leads to a node, and what stands below it before its own: with more beside it, and without.
_DRAWN = ("├── ", "│   "), ("└── ", "    ")
_PLAIN = ("|-- ", "|   "), ("`-- ", "    ")


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("where", metavar="LOCATION", help="a group or an array")
    parser.add_argument("-L", "--depth", metavar="N", type=_level, help="go down at most N levels")
    parser.add_argument("--filter", metavar="GLOB", action="append", default=[], help=_FILTER)
    parser.add_argument("--attrs", action="store_true", help="show attributes, too")
    parser.add_argument("--stored", action="store_true", help="show what arrays take in the store; looks at all chunks")
    parser.set_examples(
        (
            ("oz tree data.zarr", "all of it"),
            ("oz tree data.zarr -L 1 --attrs", "what is right below, with attributes"),
            ("oz tree data.zarr --filter 'temp*' --stored", "some of it, with stored sizes"),
        )
    )


_FILTER = "show what has a name like GLOB (or a path, if it holds a slash), and the groups above it; may be repeated"


def _level(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a number of levels")
    return int(text)


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    found = list_nodes(arguments.where, depth=arguments.depth, patterns=arguments.filter, stored=arguments.stored)
    if out.as_json:
        out.json(_nested(arguments.where, found, with_attributes=arguments.attrs))
        return 0
    lines = _drawn(out, found, arguments)
    out.lines([*lines, "", out.style(summary(found), "dim")])
    return 0


def _drawn(out: Output, found: list[Entry], arguments: Namespace) -> list[str]:
    middle, end = _DRAWN if out.can_draw else _PLAIN
    first = found[0]
    lines = [_line(out, "", location(arguments.where), first, f" {first.format}")]
    lines += _attributes(out, "", first) if arguments.attrs else ()
    # What stands before the children of the nodes that lead to the current one.
    stems = [""]
    for entry, is_last in zip(found[1:], _last_ones(found)[1:], strict=True):
        lead, rest = end if is_last else middle
        depth = entry.depth
        stem = stems[depth - 1]
        stems[depth:] = [stem + rest]
        lines.append(_line(out, stem + lead, entry.name, entry))
        lines += _attributes(out, stem + rest, entry) if arguments.attrs else ()
    return lines


def _last_ones(found: list[Entry]) -> list[bool]:
    """Return for each node whether none follows it in its group."""
    seen: set[str] = set()
    last = []
    for entry in reversed(found):
        parent = entry.path.rpartition("/")[0]
        last.append(parent not in seen)
        if entry.path:
            seen.add(parent)
    return last[::-1]


def _line(out: Output, lead: str, name: str, entry: Entry, form: str = "") -> str:
    sizes = ""
    if entry.layout is not None:
        nbytes, stored = entry.nbytes, entry.nbytes_stored
        sizes = f"  {human_bytes(nbytes)}" if nbytes is not None else ""
        sizes += f"{',' if sizes else ' '} {human_bytes(stored)} stored" if stored is not None else ""
        more = f" {entry.shape_text} {entry.layout.dtype}{form}"
        shown = out.style(name, "bold")
    elif entry.error is not None:
        more, shown = f" cannot be read: {entry.error}", out.style(name, "red")
    else:
        more, shown = form, out.style(name, "bold", "blue")
    if out.is_terminal:
        used = len(lead) + columns_of(printable(name))
        more = cut(out, more, used)
        sizes = cut(out, sizes, used + columns_of(more))
    return lead + shown + out.style(more) + (out.style(sizes, "dim") if sizes else "")


def _attributes(out: Output, stem: str, entry: Entry) -> list[str]:
    lead = f"{stem}    "
    lines = []
    for name, value in entry.attributes.items():
        text = f" = {json.dumps(value, ensure_ascii=False)}"
        used = len(lead) + columns_of(printable(name))
        lines.append(lead + out.style(name, "cyan") + out.style(cut(out, text, used)))
    return lines


def _nested(where: str, found: list[Entry], *, with_attributes: bool) -> dict[str, Any]:
    """Return nodes as objects in each other."""
    made: dict[str, dict[str, Any]] = {}
    for entry in found:
        own = as_object(entry, with_attributes=with_attributes)
        if not entry.path:
            own["name"] = location(where)
        if entry.kind == "group":
            own["children"] = []
        made[entry.path] = own
        if entry.path:
            made[entry.path.rpartition("/")[0]]["children"].append(own)
    return made[""]
