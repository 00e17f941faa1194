"""`oz zmap`: list raw keys, with sizes and what they hold."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.nc.zmap import Zmap
from omnizarr.nc.zmap_listing import Entry, entries


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("where", metavar="LOCATION", help="a dataset, or any store")
    parser.add_argument(
        "prefix", metavar="KEY", nargs="?", default="/", help="only what lies below it; all if not given"
    )
    parser.add_argument("-c", "--content", action="store_true", help="print the text of documents, too")
    parser.add_argument("-s", "--search", action="store_true", help="print only the names right below the key")
    parser.set_examples(
        (
            ("oz zmap data.zarr", "all keys, as the store has them"),
            ("oz zmap -c data.zarr /ocean/t", "what lies below one, with documents"),
            ("oz zmap -s data.zarr /", "one level of names"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    prefix = arguments.prefix if arguments.prefix.startswith("/") else f"/{arguments.prefix}"
    prefix = prefix.rstrip("/") or "/"
    with Zmap.open(arguments.where) as zmap:
        if arguments.search:
            names = zmap.search(prefix)
            if not names:
                zmap.read(prefix, 0, 0)  # raises, but for an object, which has nothing below it
            if out.as_json:
                out.json(names)
            else:
                out.lines(out.style(name) for name in names)
            return 0
        found = entries(zmap, prefix, content=arguments.content)
        if out.as_json:
            out.json([_as_object(entry) for entry in found])
        else:
            _print(found, out)
    return 0


def _as_object(entry: Entry) -> dict[str, object]:
    values: dict[str, object] = {"key": entry.key, "size": entry.size, "kind": entry.kind}
    if entry.type:
        values["type"] = entry.type
    if entry.content is not None:
        values["content"] = entry.content
    return values


def _print(found: Iterator[Entry], out: Output) -> None:
    # Each line as it is found: a store may hold millions of keys.
    count = total = 0
    for entry in found:
        what = f"chunk of {entry.type}" if entry.type else entry.kind
        out.line(f"{entry.size:>10}  {out.style(f'{what:15}', 'dim')}  {out.style(entry.key)}")
        for line in (entry.content or "").splitlines():
            out.line(f"            {out.style(line)}")
        count, total = count + 1, total + entry.size
    out.line(f"{total:>10}  in {count} {'key' if count == 1 else 'keys'}")
