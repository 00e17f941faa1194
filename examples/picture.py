"""Pictures without a plotting library: panels with axes, fields and lines, as SVG that suits light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ticks = Sequence[tuple[float, str]]

# From cold to warm: the lightness grows evenly, so that the order shows without colours, too.
_ANCHORS: Final = (
    (15, 32, 80),
    (55, 48, 138),
    (112, 62, 140),
    (168, 78, 122),
    (222, 101, 87),
    (247, 148, 61),
    (243, 214, 94),
)
_STEPS: Final = 26
COLOURS: Final = ("#3b7dd8", "#e0752d", "#2f9e77", "#b4559d")

# A picture in a page follows the system, not the page; with a ground of its own it can be read on either.
_STYLE: Final = """
.ground{fill:#fcfcfb;stroke:#d9d9d6}.land{fill:#c9c6bf}.ink{fill:#24262b}.soft{fill:#5d6470}.axis{stroke:#8a909b;fill:none}
.grid{stroke:#8a909b;stroke-opacity:.25;fill:none}.halo{stroke:#fcfcfb}.band{fill:#8a909b;fill-opacity:.16}
@media(prefers-color-scheme:dark){
.ground{fill:#1c1f26;stroke:#383d48}.land{fill:#4a4d54}.ink{fill:#eceef2}.soft{fill:#a9b0bd}.halo{stroke:#1c1f26}}
text{font:13px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}.title{font-size:17px;font-weight:600}
.small{font-size:11.5px}.head{font-weight:600}
"""


def colours() -> list[str]:
    """The scale from cold to warm."""
    at = np.linspace(0, len(_ANCHORS) - 1, _STEPS)
    channels = [np.interp(at, np.arange(len(_ANCHORS)), channel).round() for channel in np.array(_ANCHORS).T]
    return [f"#{int(r):02x}{int(g):02x}{int(b):02x}" for r, g, b in zip(*channels, strict=True)]


class Panel(NamedTuple):
    """A rectangle of a picture and what its edges stand for; limits may run backwards."""

    box: tuple[float, float, float, float]
    """Left, top, width, height."""

    x: tuple[float, float]
    y: tuple[float, float]
    """At the bottom, at the top."""

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        left, top, width, height = self.box
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return left + width * across, top + height * (1 - up)


class Picture:
    """A picture that is put together part by part."""

    def __init__(self, width: int, height: int, title: str, subtitle: str) -> None:
        self._size = (width, height)
        self._title = title
        self._parts: list[str] = []
        self.rect((0.5, 0.5, width - 1, height - 1), "ground", extra=' rx="8"')
        self.text(24, 33, title, "ink title")
        self.text(24, 54, subtitle, "soft")

    def add(self, part: str) -> None:
        """Put SVG on top of what is there."""
        self._parts.append(part)

    def rect(self, box: tuple[float, float, float, float], look: str, *, extra: str = "") -> None:
        """A rectangle; its look is a class, or a colour."""
        x, y, width, height = box
        fill = f'fill="{look}"' if look.startswith("#") else f'class="{look}"'
        self.add(f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" {fill}{extra}/>')

    def text(
        self, x: float, y: float, words: str, look: str = "soft", anchor: str = "start", *, turn: bool = False
    ) -> None:
        """Words at a place; `turn` lets them run upwards."""
        how = f' transform="rotate(-90 {_n(x)} {_n(y)})"' if turn else ""
        aside = "" if anchor == "start" else f' text-anchor="{anchor}"'
        fill = f'fill="{look}"' if look.startswith("#") else f'class="{look}"'
        self.add(f'<text x="{_n(x)}" y="{_n(y)}" {fill}{aside}{how}>{escape(words)}</text>')

    def line(self, points: Iterable[tuple[float, float]], colour: str, width: float = 2, *, halo: bool = False) -> None:
        """A line through points of the picture."""
        path = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        shape = f'd="{path}" fill="none" stroke-linejoin="round" stroke-linecap="round"'
        if halo:
            self.add(f'<path {shape} class="halo" stroke-width="{width + 3}"/>')
        self.add(f'<path {shape} stroke="{colour}" stroke-width="{width}"/>')

    def dot(self, point: tuple[float, float], colour: str, radius: float = 4.5) -> None:
        """A point with a rim."""
        x, y = point
        self.add(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{radius}" fill="{colour}" class="halo" stroke-width="1.5"/>')

    def axes(self, panel: Panel, title: str, x: tuple[str, Ticks], y: tuple[str, Ticks], *, grid: bool = True) -> None:
        """The frame of a panel, with what is on it."""
        left, top, width, height = panel.box
        self.text(left, top - 10, title, "ink head")
        lines = []
        for value, label in x[1]:
            at = panel.at(value, panel.y[0])[0]
            self.text(at, top + height + 18, label, "soft small", "middle")
            lines.append(f"M{_n(at)} {_n(top)}v{_n(height)}")
        for value, label in y[1]:
            at = panel.at(panel.x[0], value)[1]
            self.text(left - 7, at + 4, label, "soft small", "end")
            lines.append(f"M{_n(left)} {_n(at)}h{_n(width)}")
        if grid:
            self.add(f'<path d="{"".join(lines)}" class="grid"/>')
        self.add(f'<path d="M{_n(left)} {_n(top)}h{_n(width)}v{_n(height)}h{_n(-width)}z" class="axis"/>')
        if x[0]:
            self.text(left + width / 2, top + height + 37, x[0], "soft small", "middle")
        if y[0]:
            self.text(left - 42, top + height / 2, y[0], "soft small", "middle", turn=True)

    def field(self, panel: Panel, values: Floats, low: float, high: float) -> None:
        """Values as colours, the first row at the bottom; NaN is land. Each colour lies on top of the colder ones."""
        rows, columns = values.shape
        left, top, width, height = panel.box
        self.rect(panel.box, "land")
        scaled = np.nan_to_num((values - low) / (high - low)) * (_STEPS - 1)
        levels = np.where(np.isnan(values), -1, np.clip(scaled.round(6), 0, _STEPS - 1)).astype(int)[::-1]
        fit = f"translate({_n(left)} {_n(top)}) scale({width / columns:.5f} {height / rows:.5f})"
        parts = [f'<g transform="{fit}" stroke-width="1.02" fill="none" shape-rendering="crispEdges">']
        for level, colour in enumerate(colours()):
            if path := _runs(levels >= level):
                parts.append(f'<path stroke="{colour}" d="{path}"/>')
        self.add("".join(parts) + "</g>")

    def scale(self, box: tuple[float, float, float, float], ticks: Ticks, low: float, high: float) -> None:
        """What the colours of a field stand for."""
        left, top, width, height = box
        step = height / _STEPS
        for level, colour in enumerate(colours()):
            self.rect((left, top + height - (level + 1) * step, width, step + 0.4), colour)
        for value, label in ticks:
            y = top + height * (1 - (value - low) / (high - low))
            self.text(left + width + 6, y + 4, label, "soft small")

    def save(self, path: Path) -> None:
        """Write the picture."""
        width, height = self._size
        path.parent.mkdir(parents=True, exist_ok=True)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        )
        text = f'{head} role="img"><title>{escape(self._title)}</title><style>{_STYLE}</style>\n'
        path.write_text(text + "\n".join(self._parts) + "\n</svg>\n", encoding="utf-8", newline="\n")


def _runs(where: NDArray[np.bool_]) -> str:
    """Lines through the middle of cells, as long as the runs of cells in their row."""
    parts = []
    for y, row in enumerate(where):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(np.int8), [0]))))
        parts += [f"M{a} {y}.5h{b - a}" for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)]
    return "".join(parts)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
