"""JSON values with their types: 1, 1.0, "1" and true are four different ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from omnizarr.errors import ShapeError
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.diff.result import AttributeChange


class Rules(NamedTuple):
    """When two values count as equal."""

    rtol: float = 0.0
    atol: float = 0.0
    equal_nan: bool = True
    bits: bool = False

    @property
    def exact(self) -> bool:
        """Whether no tolerance is given."""
        return self.rtol == 0 and self.atol == 0

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises:
            ShapeError: If a tolerance is negative or not a number, or is given together with `bits`.
        """
        for name, value in (("rtol", self.rtol), ("atol", self.atol)):
            if not _is_tolerance(value):
                message = f"{name} must be a number that is not negative, not {value!r}"
                raise ShapeError(message, hint=f"As in {name}=1e-5.")
        if self.bits and not self.exact:
            raise ShapeError(
                "bits are equal or not: there is no tolerance", hint="Leave out either bits or tolerances."
            )


def _is_tolerance(value: Any) -> bool:  # noqa: ANN401 - whatever a caller gives
    try:
        return not isinstance(value, (str, complex)) and float(value) >= 0
    except (TypeError, ValueError, OverflowError):
        return False


def same(a: Any, b: Any, rules: Rules) -> bool:  # noqa: ANN401 - any object that an array or a document holds
    """Whether two values are equal in type and value; tolerances do not count.

    >>> same([1, {"x": None}], [1, {"x": None}], Rules()), same(1, 1.0, Rules()), same(True, 1, Rules())
    (True, False, False)
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _same_arrays(a, b, rules)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(value, b[name], rules) for name, value in a.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(one, other, rules) for one, other in zip(a, b, strict=True))
    return type(a) is type(b) and _same_scalars(a, b, rules)


def _same_scalars(a: Any, b: Any, rules: Rules) -> bool:  # noqa: ANN401 - of one type
    if a != a or b != b:  # noqa: PLR0124 - only NaN, and a time that is none, differ from themselves
        return rules.equal_nan and bool(a != a and b != b)  # noqa: PLR0124 - as above
    signed = rules.bits and isinstance(a, (float, np.floating))
    return bool(a == b) and not (signed and math.copysign(1, a) != math.copysign(1, b))


def _same_arrays(a: object, b: object, rules: Rules) -> bool:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.shape != b.shape:
        return False
    if a.dtype.kind != b.dtype.kind or a.dtype.itemsize != b.dtype.itemsize:
        return False
    return all(same(one, other, rules) for one, other in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True))


def attribute_changes(a: Mapping[str, JSON], b: Mapping[str, JSON], rules: Rules) -> tuple[AttributeChange, ...]:
    """List what differs between the attributes of two nodes, by name.

    >>> [tuple(one) for one in attribute_changes({"x": 1, "y": {"z": 2}}, {"x": 1.0, "y": {"z": 3}}, Rules())]
    [('x', 'changed', 1, 1.0), ('y.z', 'changed', 2, 3)]
    """
    return tuple(_inside(a, b, "", rules))


def _inside(a: Mapping[str, JSON], b: Mapping[str, JSON], start: str, rules: Rules) -> Iterator[AttributeChange]:
    for name in (*a, *(name for name in b if name not in a)):
        if name not in b:
            yield AttributeChange(start + name, "removed", a[name], None)
        elif name not in a:
            yield AttributeChange(start + name, "added", None, b[name])
        else:
            yield from _at(a[name], b[name], start + name, rules)


def _at(a: JSON, b: JSON, name: str, rules: Rules) -> Iterator[AttributeChange]:
    if same(a, b, rules):
        return
    if isinstance(a, dict) and isinstance(b, dict):
        yield from _inside(a, b, f"{name}.", rules)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and any(map(_is_nested, (*a, *b))):
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from _at(one, other, f"{name}[{i}]", rules)
    else:
        # Lists of plain values are one value to people, too.
        yield AttributeChange(name, "changed", a, b)


def _is_nested(value: JSON) -> bool:
    return isinstance(value, (dict, list))
