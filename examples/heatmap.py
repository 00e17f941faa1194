"""Maps without a plotting library: half blocks for a terminal, one path per colour for a page."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Anchors of a scale from deep blue over green and yellow to red.
_ANCHORS = (
    (48, 18, 112),
    (40, 80, 190),
    (40, 160, 200),
    (110, 200, 140),
    (240, 220, 100),
    (240, 130, 50),
    (160, 20, 40),
)
_LAND = (120, 116, 108)
_SHADES = " ░▒▓█"
_STEPS = 28

Colour = tuple[int, int, int]


def colours() -> list[Colour]:
    """The scale from cold to warm."""
    at = np.linspace(0, len(_ANCHORS) - 1, _STEPS)
    channels = np.array(_ANCHORS, dtype=float).T
    table = [np.interp(at, np.arange(len(_ANCHORS)), channel).round() for channel in channels]
    return [(int(r), int(g), int(b)) for r, g, b in zip(*table, strict=True)]


def _levels(values: NDArray[np.floating], low: float, high: float) -> NDArray[np.int64]:
    """Index into the scale for every value, -1 where there is none."""
    scaled = np.nan_to_num((values - low) / (high - low)) * (_STEPS - 1)
    return np.where(np.isnan(values), -1, np.clip(scaled, 0, _STEPS - 1)).astype(np.int64)


def terminal(values: NDArray[np.floating], low: float, high: float, *, colour: bool) -> str:
    """Two rows of values per line of text, in colours or, where there are none, in shades."""
    levels = _levels(values, low, high)
    if not colour:
        shades = np.array(list(_SHADES))[1 + levels * (len(_SHADES) - 1) // _STEPS]
        shades[levels < 0] = " "
        return "\n".join("".join(row) for row in shades[::2])
    scale = [*colours(), _LAND]
    lines = []
    for upper, lower in zip(levels[::2], levels[1::2], strict=False):
        cells = [
            f"\x1b[38;2;{';'.join(map(str, scale[a]))};48;2;{';'.join(map(str, scale[b]))}m▀"
            for a, b in zip(upper, lower, strict=True)
        ]
        lines.append("".join(cells) + "\x1b[0m")
    return "\n".join(lines)


def svg(values: NDArray[np.floating], low: float, high: float, *, width: int = 960) -> str:
    """A picture that any browser draws: runs of equal colour, collected into one path per colour."""
    levels = _levels(values, low, high)
    rows, columns = levels.shape
    runs: dict[int, list[str]] = {}
    for y, row in enumerate(levels):
        edges = np.flatnonzero(np.diff(row)) + 1
        starts, ends = [0, *edges.tolist()], [*edges.tolist(), columns]
        for start, end in zip(starts, ends, strict=True):
            runs.setdefault(int(row[start]), []).append(f"M{start} {y}h{end - start}v1h-{end - start}z")
    scale = [*colours(), _LAND]
    paths = [f'<path fill="rgb{scale[level]}" d="{"".join(parts)}"/>' for level, parts in sorted(runs.items())]
    height = width * rows // columns
    return (
        f'<svg viewBox="0 0 {columns} {rows}" width="{width}" height="{height}" shape-rendering="crispEdges">'
        f"{''.join(paths)}</svg>"
    )


def legend(low: float, high: float, unit: str) -> str:
    """The scale as a row of boxes with its ends written beside it."""
    boxes = "".join(f'<span style="background:rgb{colour}"></span>' for colour in colours())
    return f'<p class="legend">{low:g} {unit} {boxes} {high:g} {unit}</p>'
