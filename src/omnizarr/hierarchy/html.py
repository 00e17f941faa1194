"""Static HTML for notebooks: a table of facts beside a picture of the chunks, and a tree that folds; no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from omnizarr.hierarchy.picture import escape

_STYLE = (
    ".oz{font:13px sans-serif;color:inherit}.oz table{border-collapse:collapse;display:inline-table}"
    ".oz td,.oz th{padding:1px 10px 1px 0;text-align:left;vertical-align:top;background:none;border:none}"
    ".oz th{font-weight:600;opacity:.75}.oz code{font-size:12px}.oz ul{list-style:none;margin:0;padding-left:1.3em}"
    ".oz summary{cursor:pointer}.oz .f{display:flex;gap:24px;align-items:flex-start;flex-wrap:wrap}.oz .d{opacity:.7}"
)


def table(title: str, facts: Iterable[tuple[str, str]], drawing: str = "") -> str:
    """Return a table of facts beside a drawing."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td><code>{escape(value)}</code></td></tr>" for name, value in facts)
    return (
        f'<div class="oz"><style>{_STYLE}</style><div><b>{escape(title)}</b></div>'
        f'<div class="f"><table>{rows}</table>{drawing}</div></div>'
    )


def tree(label: str, branches: Sequence[str], *, is_open: bool) -> str:
    """Return one level of a tree: a label that folds its branches away, or a plain label if there are none."""
    if not branches:
        return label
    inner = "".join(f"<li>{branch}</li>" for branch in branches)
    return f"<details{' open' if is_open else ''}><summary>{label}</summary><ul>{inner}</ul></details>"


def frame(inner: str) -> str:
    """Put finished HTML into the frame that carries the style."""
    return f'<div class="oz"><style>{_STYLE}</style>{inner}</div>'


def leaf(name: str, detail: str) -> str:
    """Return the label of a node: its name, and fainter what it is."""
    return f'<b>{escape(name)}</b> <span class="d">{escape(detail)}</span>'
