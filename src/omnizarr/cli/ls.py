"""`oz ls`: list names, one a line."""

from __future__ import annotations

from argparse import Namespace

from omnizarr.cli.nodes_text import as_object, cut, location
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.letters import columns_of, padded, printable
from omnizarr.tools.listing.entries import Entry
from omnizarr.tools.listing.listing import list_nodes

_TITLES = ("name", "kind", "shape", "type", "chunks", "codecs")


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("where", metavar="LOCATION", help="a group or an array")
    parser.add_argument("-l", "--long", action="store_true", help="with kind, shape, type, chunks and codecs")
    parser.add_argument("-R", "--recursive", action="store_true", help="all levels, as paths")
    parser.set_examples(
        (
            ("oz ls data.zarr", "names of what is in it"),
            ("oz ls -lR data.zarr", "all nodes at all levels, with a line about each"),
            ("oz ls -l data.zip/ocean/t", "an array in an archive"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    found = list_nodes(arguments.where, depth=None if arguments.recursive else 1)
    # A group stands for what is in it; anything else for itself, by the name that it was called.
    named = [(entry.path, entry) for entry in found[1:]]
    if found[0].kind != "group":
        named = [(location(arguments.where), found[0])]
    if out.as_json:
        out.json([as_object(entry) for _, entry in named])
    elif arguments.long:
        _table(out, named)
    else:
        out.lines(_styled(out, name, entry) for name, entry in named)
    return 0


def _styled(out: Output, name: str, entry: Entry) -> str:
    if entry.kind == "group":
        return out.style(name, "bold", "blue")
    return out.style(name, "red") if entry.kind == "unreadable" else out.style(name)


def _table(out: Output, named: list[tuple[str, Entry]]) -> None:
    rows = [tuple(map(printable, (name, *_columns(entry)))) for name, entry in named]
    widths = [max(columns_of(row[i]) for row in (_TITLES, *rows) if i < len(row)) for i in range(len(_TITLES) - 1)]
    lines = [out.style(cut(out, _joined(_TITLES, widths), 0), "dim")]
    for row, (_, entry) in zip(rows, named, strict=True):
        text = _joined(row, widths)
        rest = text[len(row[0]) :]
        lines.append(_styled(out, row[0], entry) + out.style(cut(out, rest, columns_of(row[0]))))
    out.lines(lines)


def _joined(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [padded(cell, width) for cell, width in zip(row, widths, strict=False)]
    return "  ".join([*cells, *row[len(widths) :]]).rstrip()


def _columns(entry: Entry) -> tuple[str, ...]:
    layout = entry.layout
    if layout is None:
        return ("group",) if entry.error is None else ("unreadable", entry.error)
    chunks = layout.chunks_text if layout.shards_text is None else f"{layout.chunks_text} in {layout.shards_text}"
    return "array", entry.shape_text, layout.dtype, chunks, "+".join(layout.codecs)
