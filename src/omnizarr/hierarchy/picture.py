"""A picture of an array's chunks and shards as SVG: the last three dimensions as a box, lines where it is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from omnizarr.model.grid import Edges, place, start_of

_SIZE = 130.0
_MOST_LINES = 24
_SLANT = 0.45
_STYLE = (
    ".ozp{overflow:visible}.ozp polygon{fill:currentColor;fill-opacity:.06;stroke:none}"
    ".ozp line{stroke:currentColor;stroke-opacity:.35;stroke-width:.6}"
    ".ozp .s{stroke-opacity:.9;stroke-width:1.3}"
    ".ozp text{fill:currentColor;font:10px sans-serif;text-anchor:middle}"
)


class _Axis(NamedTuple):
    """One drawn dimension: its length in the picture, and where it is cut, between 0 and 1."""

    length: float
    cuts: list[float]
    strong: list[float]
    label: str


def picture(
    shape: tuple[int, ...],
    chunks: tuple[Edges, ...],
    shards: tuple[Edges, ...] | None,
    dims: tuple[str | None, ...] | None,
) -> str:
    """Return an SVG picture; the empty string for an array without elements or dimensions."""
    if not shape or 0 in shape:
        return ""
    axes = _axes(shape, chunks, shards, dims)
    depth = axes[0] if len(axes) == 3 else None
    rows = axes[-2] if len(axes) > 1 else None
    columns = axes[-1]
    height = rows.length if rows else 16.0
    shift = depth.length * _SLANT if depth else 0.0
    width = columns.length + shift
    margin = 18.0
    across, down = round(width + 4 * margin), round(height + shift + 2 * margin)
    parts = [
        f'<svg class="ozp" viewBox="0 0 {across} {down}" width="{across}" height="{down}" role="img">',
        f'<title>chunks</title><style>{_STYLE}</style><g transform="translate({margin:.0f},4)">',
        *_face((shift, shift), (columns.length, 0), (0, height), columns, rows),
    ]
    if depth:
        parts += _face((0, 0), (columns.length, 0), (shift, shift), columns, depth)
        parts += _face((0, 0), (shift, shift), (0, height), depth, rows)
    parts += _labels(columns, rows, depth, height, shift)
    return "".join(parts) + "</g></svg>"


def _axes(
    shape: tuple[int, ...],
    chunks: tuple[Edges, ...],
    shards: tuple[Edges, ...] | None,
    dims: tuple[str | None, ...] | None,
) -> list[_Axis]:
    drawn = range(max(0, len(shape) - 3), len(shape))
    longest = max(shape[axis] for axis in drawn)
    axes = []
    for axis in drawn:
        size = shape[axis]
        # The cube root keeps a 10 by 100,000 array a picture rather than a line.
        length = max(14.0, _SIZE * (size / longest) ** (1 / 3))
        name = dims[axis] if dims else None
        label = str(size) if name is None else f"{name} {size}"
        strong = _cuts(size, shards[axis]) if shards else []
        axes.append(_Axis(length, _cuts(size, chunks[axis]), strong, label))
    return axes


def _cuts(size: int, edges: Edges) -> list[float]:
    """Return where chunks end, as fractions; evenly thinned where there are too many to see."""
    count = place(edges, size - 1)[0] + 1 if edges else 0
    step = -(-count // _MOST_LINES) if count else 1
    return [start_of(edges, i) / size for i in range(step, count, step)]


def _face(
    origin: tuple[float, float], u: tuple[float, float], v: tuple[float, float], along: _Axis, down: _Axis | None
) -> Iterator[str]:
    corners = [
        origin,
        (origin[0] + u[0], origin[1] + u[1]),
        (origin[0] + u[0] + v[0], origin[1] + u[1] + v[1]),
        (origin[0] + v[0], origin[1] + v[1]),
    ]
    yield f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>'
    yield from _lines(origin, u, v, along)
    yield from _lines(origin, v, u, down or _Axis(0, [], [], ""))


def _lines(
    origin: tuple[float, float], along: tuple[float, float], across: tuple[float, float], axis: _Axis
) -> Iterator[str]:
    edges: Sequence[tuple[float, str]] = [(0.0, ' class="s"'), (1.0, ' class="s"')]
    for at, style in (*edges, *((cut, "") for cut in axis.cuts), *((cut, ' class="s"') for cut in axis.strong)):
        x, y = origin[0] + at * along[0], origin[1] + at * along[1]
        yield f'<line{style} x1="{x:.1f}" y1="{y:.1f}" x2="{x + across[0]:.1f}" y2="{y + across[1]:.1f}"/>'


def _labels(columns: _Axis, rows: _Axis | None, depth: _Axis | None, height: float, shift: float) -> Iterator[str]:
    yield f'<text x="{shift + columns.length / 2:.1f}" y="{height + shift + 13:.1f}">{escape(columns.label)}</text>'
    if rows:
        x, y = shift + columns.length + 10, shift + height / 2
        yield f'<text x="{x:.1f}" y="{y:.1f}" transform="rotate(90 {x:.1f} {y:.1f})">{escape(rows.label)}</text>'
    if depth:
        yield f'<text x="{shift / 2 - 8:.1f}" y="{height + shift / 2 + 14:.1f}">{escape(depth.label)}</text>'


def escape(text: str) -> str:
    """Make text safe inside HTML and its attributes."""
    for found, replacement in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
        text = text.replace(found, replacement)
    return text
