"""The formulas of a set, `gen`: checked here, evaluated by the kernel, never expanded on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from omnizarr.errors import LimitError, MetadataError
from omnizarr.refset.templates.scope import Templates

if TYPE_CHECKING:
    from omnizarr.refset.templates.expressions import Tree

Dimension: TypeAlias = tuple[int, int, int] | list[int]
"""Start, stop and step; or the values."""

_MOST_DIMENSIONS: Final = 64


class Generated(NamedTuple):
    """One formula."""

    dimensions: list[Dimension]
    key: Tree
    url: Tree
    part: tuple[Tree, Tree] | None
    """Offset and length; none: all that the URL names."""


def formulas(gen: object, templates: Templates) -> Iterator[Generated]:
    """Go through the formulas of a set.

    Args:
        gen: The member of that name.
        templates: Those of the set.

    Raises:
        MetadataError: If a formula breaks the specification.
        UnsafeError: If it has more than expressions may have.
    """
    if not isinstance(gen, list):
        raise MetadataError("this is no list of formulas", key="gen")
    for i, one in enumerate(gen):
        name = f"gen[{i}]"
        if not isinstance(one, dict):
            raise MetadataError("a formula is an object", key=name)
        yield _formula(name, one, templates)


def _formula(name: str, one: Mapping[str, object], templates: Templates) -> Generated:
    missing = [part for part in ("key", "url", "dimensions") if part not in one]
    if missing:
        raise MetadataError(f"a formula lacks {' and '.join(missing)}", key=name)
    given = one["dimensions"]
    if not isinstance(given, dict) or len(given) > _MOST_DIMENSIONS:
        raise MetadataError(f"dimensions of a formula are an object of up to {_MOST_DIMENSIONS}", key=name)
    dimensions = {str(key): _dimension(f"{name}.dimensions.{key}", value) for key, value in given.items()}
    for variable in dimensions:
        if variable in templates:
            raise MetadataError(f"{variable!r} is a dimension and a template", key=name)
    places = {variable: i for i, variable in enumerate(dimensions)}
    trees: dict[str, Tree] = {}
    for part in ("key", "url", "offset", "length"):
        value = one.get(part)
        if isinstance(value, str):
            trees[part] = templates.tree(value, f"{name}.{part}", places)
        elif part in ("offset", "length") and isinstance(value, int) and not isinstance(value, bool):
            trees[part] = _bounded(f"{name}.{part}", value)
        elif value is not None or part in ("key", "url"):
            raise MetadataError("this is no text", key=f"{name}.{part}")
    if ("offset" in trees) != ("length" in trees):
        raise MetadataError("a formula has one of offset and length, and needs both or none", key=name)
    section = (trees["offset"], trees["length"]) if "offset" in trees else None
    return Generated(list(dimensions.values()), trees["key"], trees["url"], section)


def _dimension(name: str, value: object) -> Dimension:
    if isinstance(value, list):
        return [_whole(name, one) for one in value]
    if not isinstance(value, dict):
        raise MetadataError("a dimension is a list of numbers, or an object with start, stop and step", key=name)
    unknown = value.keys() - {"start", "stop", "step"}
    if "stop" not in value or unknown:
        odd = f"has {', '.join(map(repr, sorted(unknown)))}" if unknown else "lacks stop"
        raise MetadataError(f"a dimension {odd}", key=name)
    start, stop, step = (
        _whole(name, value.get(part, other)) for part, other in (("start", 0), ("stop", 0), ("step", 1))
    )
    if step == 0:
        raise MetadataError("the step of a dimension is 0", key=name)
    return start, stop, step


def _whole(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise MetadataError(f"{value!r} is no whole number", key=name)
    return _bounded(name, value)


def _bounded(name: str, value: int) -> int:
    if not -(1 << 62) < value < 1 << 62:
        raise LimitError("a number of a formula is too large", key=name)
    return value
