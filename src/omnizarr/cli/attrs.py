"""`oz attrs`: show, set and delete attributes."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping

from omnizarr.cli.nodes_text import cut
from omnizarr.cli.output import Output
from omnizarr.cli.overview import nearest
from omnizarr.cli.parser import Parser, UsageError
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.editing.attributes import KINDS, attributes_of, change_attributes, parse_value

_MOST_NAMED = 8

_USAGE = """oz attrs LOCATION [NAME]
       oz attrs LOCATION get NAME
       oz attrs LOCATION set NAME VALUE
       oz attrs LOCATION set NAME=VALUE ...
       oz attrs LOCATION rm NAME ..."""


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.usage = _USAGE
    parser.add_argument("where", metavar="LOCATION", help="a group or an array")
    parser.add_argument("words", metavar="WORD", nargs="*", help="what to do; nothing: show all attributes")
    parser.add_argument(
        "--type",
        choices=KINDS,
        default="auto",
        help="what the values to set are; by default JSON if they are that (a number, true, a list), else text",
    )
    parser.set_examples(
        (
            ("oz attrs data.zarr/t", "all attributes"),
            ("oz attrs data.zarr/t set units K", "set one"),
            ("oz attrs data.zarr/t rm comment history", "delete two"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    action, words = "get", list(arguments.words)
    # An attribute may be called "set": alone it is a name.
    if len(words) > 1 and words[0] in ("get", "set", "rm"):
        action, *words = words
    if action == "set":
        return _set(arguments, words, out)
    if action == "rm":
        return _remove(arguments, words, out)
    if len(words) > 1:
        raise UsageError("oz attrs", f"{words[0]!r} is not one of get, set and rm")
    found = attributes_of(arguments.where)
    if not words:
        _show(found, out)
        return 0
    if words[0] not in found:
        return _missing(words, found, out)
    _show_one(found[words[0]], out)
    return 0


def _set(arguments: Namespace, words: list[str], out: Output) -> int:
    if len(words) == 2 and "=" not in words[0]:
        pairs = [(words[0], words[1])]
    else:
        parts = [word.partition("=") for word in words]
        wrong = next(
            (word for word, (name, equals, _) in zip(words, parts, strict=True) if not (name and equals)), None
        )
        if wrong is not None:
            raise UsageError("oz attrs", f"{wrong!r} is not of the form NAME=VALUE")
        pairs = [(name, value) for name, _, value in parts]
    values = {name: parse_value(text, arguments.type) for name, text in pairs}
    change_attributes(arguments.where, values)
    if out.as_json:
        out.json({"set": values})
    else:
        _show(values, out)
    return 0


def _remove(arguments: Namespace, words: list[str], out: Output) -> int:
    missing = change_attributes(arguments.where, {}, words)
    if missing:
        return _missing(missing, attributes_of(arguments.where), out)
    if out.as_json:
        out.json({"removed": words})
    return 0


def _show(found: Mapping[str, JSON], out: Output) -> None:
    if out.as_json:
        out.json(found)
        return
    longest = max((len(name) for name in found), default=0)
    for name, value in found.items():
        text = f"{' ' * (longest - len(name))} = {json.dumps(value, ensure_ascii=False)}"
        out.line(out.style(name, "cyan") + out.style(cut(out, text, len(name))))


def _show_one(value: JSON, out: Output) -> None:
    if out.as_json:
        out.json(value)
    else:
        out.line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _missing(names: list[str], found: Mapping[str, JSON], out: Output) -> int:
    near = nearest(names[0], found)
    more = ", …" if len(found) > _MOST_NAMED else ""
    known = f"there are {', '.join(list(found)[:_MOST_NAMED])}{more}" if found else "it has no attributes"
    out.trouble(
        f"there is no attribute {', '.join(map(repr, names))}",
        f"did you mean {near!r}?" if near else known,
        kind="not-found",
    )
    return 1
