"""How `oz diff` shows a difference to people, and to programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from omnizarr.cli.output import Output, Style, plain
from omnizarr.sizes import human_bytes
from omnizarr.tools.diff.result import (
    AttributeChange,
    Change,
    Difference,
    Extreme,
    FieldDifference,
    NodeDifference,
    OneSided,
    Span,
    ValueDifference,
)

_LONGEST: Final = 60
_WORDS: Final = ("kind", "dtype", "format", "keys", "fill bits", "consolidated")
_STYLES: Final[dict[str, Style]] = {"-": "red", "+": "green", "~": "yellow", "!": "red"}


def as_json(found: Difference) -> Any:  # noqa: ANN401 - what JSON has
    """Return a difference in terms of JSON, with the verdict first."""
    return {"same": found.same, **plain(_texts(found))}


def _texts(value: Any) -> Any:  # noqa: ANN401 - anything goes in
    """Turn times, and what JSON has no form for, into text."""
    if hasattr(value, "_asdict"):
        return {name: _texts(one) for name, one in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [_texts(one) for one in value]
    return str(value) if _kind(value) in ("M", "m", "V") else value


def _kind(value: object) -> str:
    """Return NumPy's letter for the type of a scalar."""
    return str(getattr(getattr(value, "dtype", None), "kind", ""))


def print_difference(found: Difference, named: tuple[str, str], out: Output, *, brief: bool) -> None:
    """Print a difference under the names that the user gave, the verdict last."""
    if not brief and not found.same:
        out.line(out.style(f"--- {named[0]}", "bold"))
        out.line(out.style(f"+++ {named[1]}", "bold"))
        for mark, text, depth in _lines(found):
            shown = f"{'    ' * depth}{mark or ' '} {text}"
            if not out.can_draw:
                shown = shown.replace("→", "->").replace("…", "...")
            out.line(out.style(shown, _STYLES[mark]) if mark else out.style(shown))
    elif brief:
        for problem in found.problems:
            out.line(out.style(f"! {problem.path or '/'} in {problem.side.upper()}: {problem.message}", "red"))
    out.line(_verdict(found))


def _lines(found: Difference) -> Iterator[tuple[str, str, int]]:
    """Yield lines: a mark or nothing, the text, and how far it is indented."""
    gone = {rename.a: rename.b for rename in found.renames}
    came = {rename.b: rename.a for rename in found.renames}
    for problem in found.problems:
        yield "!", f"{problem.path or '/'} cannot be read in {problem.side.upper()}: {problem.message}", 0
    for one in found.only_a:
        yield "-", _one_sided(one, f"renamed to {gone[one.path]}?" if one.path in gone else ""), 0
    for one in found.only_b:
        yield "+", _one_sided(one, f"renamed from {came[one.path]}?" if one.path in came else ""), 0
    for node in found.nodes:
        yield from _node(node)


def _one_sided(node: OneSided, guess: str) -> str:
    below = f"with {_count(node.nodes - 1, 'node')} below it" if node.nodes > 1 else ""
    return "  ".join(part for part in (node.path or "/", node.text or node.kind, below, guess) if part)


def _node(node: NodeDifference) -> Iterator[tuple[str, str, int]]:
    yield "~", node.path or "/", 0
    for change in node.changes:
        yield from _change(change)
    for attribute in node.attributes:
        yield from _attribute(attribute)
    if node.values is not None:
        yield from _values(node.values)


def _change(change: Change) -> Iterator[tuple[str, str, int]]:
    if change.what == "codecs":
        yield "~", f"codecs: {_codecs(change.a)} → {_codecs(change.b)}", 1
    else:
        show = str if change.what in _WORDS else _plain
        yield "~", f"{change.what.replace('_', ' ')}: {show(change.a)} → {show(change.b)}", 1


def _codecs(chain: Sequence[dict[str, Any]]) -> str:
    def one(codec: dict[str, Any]) -> str:
        settings = ", ".join(f"{name}={_short(value)}" for name, value in codec["configuration"].items())
        return f"{codec['name']}({settings})" if settings else str(codec["name"])

    return " + ".join(map(one, chain))


def _attribute(change: AttributeChange) -> Iterator[tuple[str, str, int]]:
    if change.change == "removed":
        yield "-", f"attribute {change.name}: {_short(change.a)}", 1
    elif change.change == "added":
        yield "+", f"attribute {change.name}: {_short(change.b)}", 1
    else:
        yield "~", f"attribute {change.name}: {_short(change.a)} → {_short(change.b)}", 1


def _values(found: ValueDifference) -> Iterator[tuple[str, str, int]]:
    if found.not_compared:
        yield "~", f"values: not compared, {found.not_compared}", 1
        return
    if not found.differing:
        yield "", f"values: the same in the part that both have, {found.compared}", 1
        return
    share = f"{_percent(found.differing / found.total)} of {found.total}"
    yield "~", f"values: {found.differing} {'differs' if found.differing == 1 else 'differ'}, {share}", 1
    where = _where(found)
    if where:
        yield "", f"where   {where}", 1
    if found.nan_only_a or found.nan_only_b:
        word = "NaT" if _kind(found.first[0].a) in ("M", "m") else "NaN"
        yield "", f"{word}     {found.nan_only_a} only in A, {found.nan_only_b} only in B", 1
    yield from _most(found.max_abs, found.max_rel)
    for field in found.fields:
        yield from _field(field)
    for i, pair in enumerate(found.first):
        yield "", f"{'' if i else 'first':7} {_index(pair.at)}  {_plain(pair.a)} → {_plain(pair.b)}", 1
    if found.differing > len(found.first):
        yield "", f"{'':7} …", 1


def _most(absolute: Extreme | None, relative: Extreme | None) -> Iterator[tuple[str, str, int]]:
    if absolute is not None:
        yield "", f"most    {_number(absolute.difference)} at {_index(absolute.at)}, {_both(absolute)}", 1
    if relative is not None:
        yield "", f"        {_percent(relative.difference)} of B at {_index(relative.at)}, {_both(relative)}", 1


def _both(at: Extreme) -> str:
    return f"{_plain(at.a)} → {_plain(at.b)}"


def _field(field: FieldDifference) -> Iterator[tuple[str, str, int]]:
    most = "" if field.max_abs is None else f", most {_number(field.max_abs.difference)} at {_index(field.max_abs.at)}"
    yield "", f"field   {field.name}: {field.differing}{most}", 1


def _where(found: ValueDifference) -> str:
    parts = []
    for axis, (spans, (low, high), size) in enumerate(zip(found.spans, found.box, found.compared, strict=True)):
        if (low, high) == (0, size) and (spans is None or len(spans) == 1):
            continue
        listed = ", ".join(map(_span, spans)) if spans else f"within {_span((low, high))}"
        name = found.dims[axis] if found.dims else None
        parts.append(f"{name or f'dimension {axis}'} = {listed}")
    if found.chunk_count is not None and found.chunk_total is not None and found.chunk_total > 1:
        parts.append(f"{found.chunk_count} of {_count(found.chunk_total, 'chunk')}")
    return "; ".join(parts)


def _span(span: Span) -> str:
    return str(span[0]) if span[1] - span[0] == 1 else f"{span[0]}:{span[1]}"


def _index(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]"


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _number(value: Any) -> str:  # noqa: ANN401 - a number or a span of time
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> str:  # noqa: ANN401 - an element, or a property of a node
    """Return a value as people write it: text in quotes, numbers without their type."""
    if isinstance(value, str):
        return _cut(json.dumps(str(value), ensure_ascii=False))
    if isinstance(value, tuple):
        return _cut(str(tuple(str(one) if hasattr(one, "dtype") else one for one in value)))
    return "none" if value is None else _cut(str(value))


def _short(value: Any) -> str:  # noqa: ANN401 - a value of JSON
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _verdict(found: Difference) -> str:
    if found.same:
        return f"the same: {_count(found.compared, 'node')}, {human_bytes(found.nbytes)} of values"
    parts = [
        f"{_count(len(found.nodes), 'node')} {'differs' if len(found.nodes) == 1 else 'differ'}" if found.nodes else "",
        f"{len(found.only_a)} only in A" if found.only_a else "",
        f"{len(found.only_b)} only in B" if found.only_b else "",
        f"{len(found.problems)} cannot be read" if found.problems else "",
    ]
    told = ", ".join(part for part in parts if part)
    if found.stopped:
        return f"different: {told}, and perhaps more"
    return (
        f"different: {told}; {_count(found.compared, 'node')} compared"
        if found.nodes or found.only_a or found.only_b
        else told
    )
