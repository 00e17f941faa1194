"""A picture of a hierarchy in text and HTML: names, shapes and types; chunks are never listed for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from omnizarr.errors import OmnizarrError
from omnizarr.hierarchy import html
from omnizarr.hierarchy.picture import picture
from omnizarr.letters import printable
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import inner_codecs, sharding_of
from omnizarr.model.grid import Grid, RegularGrid, Run
from omnizarr.model.group import GroupMeta
from omnizarr.sizes import human_bytes

_MOST_LINES = 1000
_MOST_RUNS = 6


class Tree:
    """A node and what lies below it; `print` it, or let a notebook show it.

    >>> import omnizarr as oz
    >>> g = oz.create_group({})
    >>> a = g.create_array("t", shape=(3, 4), dtype="f4")
    >>> print(g.tree())
    /
    └── t (3, 4) float32
    """

    __slots__ = ("children", "meta", "name")

    def __init__(self, name: str, meta: ArrayMeta | GroupMeta | OmnizarrError, children: Sequence[Tree]) -> None:
        self.name = name
        self.meta = meta
        self.children = children

    def __str__(self) -> str:
        lines: list[str] = []
        for line in self._lines("", ""):
            if len(lines) == _MOST_LINES:
                lines.append("…")
                break
            lines.append(line)
        return "\n".join(lines)

    __repr__ = __str__

    def _lines(self, first: str, rest: str) -> Iterator[str]:
        detail = describe(self.meta)
        yield first + printable(f"{self.name} {detail}" if detail else self.name)
        for i, child in enumerate(self.children):
            last = i == len(self.children) - 1
            yield from child._lines(  # noqa: SLF001 - the same class
                rest + ("└── " if last else "├── "), rest + ("    " if last else "│   ")
            )

    def _repr_html_(self) -> str:
        return html.frame(self._html(depth=0))

    def _html(self, depth: int) -> str:
        shown = self.children[:_MOST_LINES]
        branches = [child._html(depth + 1) for child in shown]  # noqa: SLF001 - the same class
        if len(shown) < len(self.children):
            branches.append(f"… and {len(self.children) - len(shown)} more")
        return html.tree(html.leaf(self.name, describe(self.meta)), branches, is_open=depth < 2)


def describe(meta: ArrayMeta | GroupMeta | OmnizarrError) -> str:
    """Return what stands behind a node's name: dimensions and type of an array, nothing for a group, or the error."""
    if isinstance(meta, OmnizarrError):
        return f"cannot be read: {meta.message}"
    if isinstance(meta, GroupMeta):
        return ""
    return f"{shape_text(meta)} {meta.dtype.label}"


def shape_text(meta: ArrayMeta) -> str:
    """Return the shape with the names of dimensions where there are any: "(time: 3, 4)"."""
    if not meta.dims or not any(meta.dims):
        return str(meta.shape)
    parts = (f"{name}: {size}" if name else str(size) for name, size in zip(meta.dims, meta.shape, strict=True))
    return f"({', '.join(parts)})"


def grid_text(grid: Grid) -> str:
    """Return the lengths of chunks; where they differ, the first few runs of equal ones: "((10, 3×20, …), 5)"."""
    if isinstance(grid, RegularGrid):
        return str(grid.chunk_shape)
    return _tuple_text([str(edges) if isinstance(edges, int) else _runs_text(edges) for edges in grid.edges])


def _runs_text(runs: tuple[Run, ...]) -> str:
    shown = [str(length) if count == 1 else f"{count}×{length}" for length, count in runs[:_MOST_RUNS]]
    return _tuple_text([*shown, "…"] if len(runs) > _MOST_RUNS else shown)


def _tuple_text(parts: list[str]) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def array_table(name: str, meta: ArrayMeta, uri: str) -> str:
    """Return what an array is, as a table in HTML beside a picture of its chunks."""
    shape, item = meta.shape, meta.dtype.numpy.itemsize
    largest = human_bytes(prod(meta.cells.longest) * item)
    facts = [
        ("Shape", shape_text(meta)),
        ("Type", meta.dtype.label),
        ("Bytes", human_bytes(prod(shape) * item)),
        ("Chunks", f"{grid_text(meta.cells)}, {prod(meta.cells.counts(shape))} of up to {largest}"),
    ]
    sharding = sharding_of(meta.codecs)
    codecs = meta.codecs if sharding is None else inner_codecs(sharding)
    if sharding is not None:
        facts.append(("Shards", f"{grid_text(meta.grid)}, {prod(meta.grid.counts(shape))}"))
    facts += [
        ("Codecs", " → ".join(codec.name for codec in codecs)),
        ("Fill value", _fill_text(meta)),
        ("Format", f"{meta.format} in {uri}"),
    ]
    shards = meta.grid.edges if sharding is not None else None
    return html.table(f"Array {name}", facts, picture(shape, meta.cells.edges, shards, meta.dims))


def _fill_text(meta: ArrayMeta) -> str:
    value = meta.fill.value(meta.dtype)
    try:
        return repr(value)
    except ValueError:  # NumPy has no text for a time without a unit
        return f"{value.view('i8')} ({meta.dtype.label})"
