"""How `oz info --explain` prints what a location means."""

from __future__ import annotations

from omnizarr.cli.output import Output
from omnizarr.store.url.explain import Understood, explain


def show(where: str, out: Output) -> None:
    """Print how a location is understood."""
    found = explain(where)
    if out.as_json:
        values = {name: getattr(found, name) for name in Understood.__slots__}
        out.json({**values, "notes": [{"about": note.about, "text": note.text} for note in found.notes]})
        return
    rows = _rows(found)
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        out.line(f"{out.style(f'{name:{width}}', 'cyan')}  {out.style(text)}")
    if found.notes:
        out.line()
    for note in found.notes:
        out.line(f"{out.style(note.about, 'yellow')}: {out.style(note.text)}")


def _rows(found: Understood) -> list[tuple[str, str]]:
    rows = [("location", found.url), ("kind", found.kind)]
    rows += [("style", found.style)] if found.style else []
    for name in ("path", "account", "bucket", "key", "region", "endpoint", "profile", "credentials"):
        value = getattr(found, name)
        rows += [(name, value)] if value is not None else []
    if found.scheme or found.modes:
        given = ", ".join(found.modes) or "none"
        rows.append(("modes", given + (f"; inferred: {', '.join(found.inferred)}" if found.inferred else "")))
        rows.append(("model", found.model or "not said"))
    if found.model in ("nczarr", "zarr"):
        rows.append(("_ARRAY_DIMENSIONS", "yes" if found.xarray else "no"))
        rows.append(("consolidated", "yes" if found.consolidated else "no"))
    rows += [("separator", found.separator)] if found.separator else []
    rows += [(name, value or "(no value)") for name, value in found.parameters.items()]
    if found.canonical != found.url:
        rows.append(("in full", found.canonical))
    return rows
