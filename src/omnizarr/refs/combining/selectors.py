"""Where the coordinate of a set along a dimension comes from: its data, its name, an attribute, or the caller."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.combining.inputs import Input
from omnizarr.refs.combining.times import encoded
from omnizarr.refset.model import References

Selector: TypeAlias = "str | re.Pattern[str] | Sequence[object] | Callable[[str, References], object] | None"
"""How to find the coordinate of a set along a dimension.

- None: the coordinate variable of the dimension;
- "INDEX": the place of the set among those given;
- "attr:NAME": an attribute of the file; "attr:VARIABLE:NAME": one of a variable;
- "data:VARIABLE": the values of a variable;
- other text is a pattern of the set's name, such as "{date:%Y%m%d}.nc" or "r{:d}i1";
- a compiled regular expression: its first group in the set's name, as a number if it is one;
- a sequence: one value for each set; a function of the set's name and the set.
"""

INDEX: Final = "INDEX"
_FIELD = re.compile(r"\{(\w*)(?::([^{}]*))?\}")
_DATE_PARTS: Final = {
    "Y": r"\d{4}", "m": r"\d{2}", "d": r"\d{2}", "H": r"\d{2}", "M": r"\d{2}", "S": r"\d{2}", "j": r"\d{3}",
    "y": r"\d{2}", "f": r"\d{1,6}", "b": r"[A-Za-z]{3}", "B": r"[A-Za-z]+",
}  # fmt: skip


class Found(NamedTuple):
    """One value for each set, and what it means."""

    values: npt.NDArray[Any]
    attributes: dict[str, JSON]


def from_outside(selector: Selector, dim: str, inputs: Sequence[Input]) -> Found | None:
    """Return one value for each set, or None where the data say it.

    Raises:
        MetadataError: If a set does not say it, or the number of values is not that of sets.
    """
    if selector is None or (isinstance(selector, str) and selector.startswith("data:")):
        return None
    if isinstance(selector, str):
        values = _by_words(selector, dim, inputs)
    elif isinstance(selector, re.Pattern):
        values = [_grouped(selector, one.name, dim) for one in inputs]
    elif callable(selector):
        values = [selector(one.name, one.references) for one in inputs]
    else:
        values = list(selector)
        if len(values) != len(inputs):
            raise MetadataError(f"there are {len(values)} values of {dim!r} for {len(inputs)} sets")
    return as_values(values, dim)


def as_values(values: Sequence[object], dim: str) -> Found:
    """Make an array of values that callers give: numbers, dates or text.

    Raises:
        MetadataError: If they are nothing of these, or of several kinds.
    """
    moments = [_moment(value) for value in values]
    dates = [moment for moment in moments if moment is not None]
    if values and len(dates) == len(values):
        return Found(*encoded(dates))
    made = np.array(values)
    if made.ndim != 1 or made.dtype.kind not in "biufUS" or dates:
        raise MetadataError(f"the values of {dim!r} are no numbers, dates or texts of one kind: {list(values)[:3]}")
    if made.dtype.kind == "U" and not all(isinstance(value, str) for value in values):
        raise MetadataError(f"the values of {dim!r} are of several kinds: {list(values)[:3]}")
    return Found(made.astype(np.int64) if made.dtype.kind == "b" else made, {})


def _moment(value: object) -> datetime | None:
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time(), UTC) if isinstance(value, date) else None


def _by_words(selector: str, dim: str, inputs: Sequence[Input]) -> list[object]:
    if selector == INDEX:
        return list(range(len(inputs)))
    if selector.startswith("attr:"):
        path, _, name = selector[5:].rpartition(":")
        return [_attribute(one, path, name, dim) for one in inputs]
    pattern, form = compiled(selector)
    found: list[object] = []
    for one in inputs:
        match = pattern.search(one.name)
        if match is None:
            raise MetadataError(f"the name {one.name!r} does not fit the pattern {selector!r} of {dim!r}")
        found.append(_value(match[1], form, one.name))
    return found


def compiled(pattern: str) -> tuple[re.Pattern[str], str]:
    """Read a pattern of names with one field in braces: text, "d" or "g" for numbers, or a form of dates.

    Raises:
        MetadataError: If there is not one field.

    >>> pattern, form = compiled("_{date:%Y%m%d}.nc")
    >>> pattern.search("sst_20010203.nc")[1], form
    ('20010203', '%Y%m%d')
    """
    fields = list(_FIELD.finditer(pattern))
    if len(fields) != 1:
        raise MetadataError(f"the pattern {pattern!r} has {len(fields)} fields in braces, not one")
    field = fields[0]
    form = field[2] or ""
    if "%" in form:
        parts = re.split(r"%(.)", form)
        try:
            middle = "".join(_DATE_PARTS[one] if i % 2 else re.escape(one) for i, one in enumerate(parts))
        except KeyError as error:
            raise MetadataError(f"the pattern {pattern!r} has the unknown part %{error.args[0]} of a date") from None
    elif form in ("d", "g"):
        middle = r"[+-]?\d+" if form == "d" else r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
    elif not form:
        middle = r"[^/]+?" if field.end() < len(pattern) else r"[^/]+"
    else:
        raise MetadataError(f"the form {form!r} in the pattern {pattern!r} is not known", hint="d, g, or %Y%m%d.")
    return re.compile(f"{re.escape(pattern[: field.start()])}({middle}){re.escape(pattern[field.end() :])}"), form


def _value(text: str, form: str, name: str) -> object:
    if "%" in form:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError as error:
            raise MetadataError(f"{name}: {text!r} is no date: {error}") from error
    return int(text) if form == "d" else float(text) if form == "g" else text


def _grouped(pattern: re.Pattern[str], name: str, dim: str) -> object:
    match = pattern.search(name)
    if match is None:
        raise MetadataError(f"the name {name!r} does not fit the pattern {pattern.pattern!r} of {dim!r}")
    text = match[1] if match.re.groups else match[0]
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else text


def _attribute(one: Input, path: str, name: str, dim: str) -> object:
    node = one.arrays.get(path) or one.groups.get(path)
    value = None if node is None else node.attributes.get(name)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, (str, int, float)):
        return value
    raise MetadataError(f"{one.name}: the attribute {name!r} of {path or '/'!r} is no value for {dim!r}: {value!r}")
