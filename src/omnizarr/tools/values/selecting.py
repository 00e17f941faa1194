"""Selections as people type them: in NumPy's words, `0, :, 10:20:2`, or by names of dimensions, `time=0:3,lat=5`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from omnizarr.errors import SelectionError

_INTEGER: Final = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*")
_HINT: Final = "write integers and slices for the dimensions, 0,:,10:20:2 say, or name=0:3 for those that have names"


class Picked(NamedTuple):
    """What is selected from an array: ranges of indices."""

    ranges: tuple[range, ...]
    """For each dimension of the array."""

    kept: tuple[int, ...]
    """The dimensions that the result has; an integer selects one index and drops its dimension."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return tuple(len(self.ranges[axis]) for axis in self.kept)


def pick(text: str, shape: tuple[int, ...], dims: tuple[str | None, ...] | None = None) -> Picked:
    """Return what a text selects from an array.

    Args:
        text: The selection; nothing stands for everything.
        shape: The array's shape.
        dims: The names of its dimensions.

    Raises:
        SelectionError: If the text is not a selection, or an index is out of bounds.

    >>> pick("1, ::2", (3, 4)).shape, pick("x=-1", (3, 4), ("y", "x")).shape
    ((2,), (3,))
    """
    words = _words(text)
    named = any("=" in word for word in words)
    items = _by_name(words, shape, dims) if named else _by_place(words, len(shape))
    ranges = tuple(_range(item, size, axis) for axis, (item, size) in enumerate(zip(items, shape, strict=True)))
    kept = tuple(axis for axis, item in enumerate(items) if isinstance(item, slice))
    return Picked(ranges, kept)


def _words(text: str) -> list[str]:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip()
    return [word.strip() for word in text.removesuffix(",").split(",")] if text else []


def _by_place(words: list[str], ndim: int) -> list[int | slice]:
    dots = words.count("...")
    given = len(words) - dots
    if dots > 1:
        raise SelectionError("a selection can hold only one ellipsis (...)", hint=_HINT)
    if given > ndim:
        raise SelectionError(f"{given} indices for an array of {ndim} dimensions", hint=_HINT)
    everything: list[int | slice] = [slice(None)] * (ndim - given)
    at = words.index("...") if dots else given
    before, after = words[:at], words[at + 1 :]
    return [*map(_item, before), *everything, *map(_item, after)]


def _by_name(words: list[str], shape: tuple[int, ...], dims: tuple[str | None, ...] | None) -> list[int | slice]:
    known = [name for name in dims or () if name]
    items: list[int | slice] = [slice(None)] * len(shape)
    seen: set[str] = set()
    for word in words:
        name, equals, index = (part.strip() for part in word.partition("="))
        if not equals:
            raise SelectionError(f"{word!r} has no name although others have one", hint=_HINT)
        if name not in known:
            hint = f"the dimensions are {', '.join(known)}" if known else "the dimensions of this array have no names"
            raise SelectionError(f"there is no dimension {name!r}", hint=hint)
        if name in seen or known.count(name) > 1:
            raise SelectionError(f"the dimension {name!r} is there twice", hint=_HINT)
        seen.add(name)
        items[(dims or ()).index(name)] = _item(index)
    return items


def _item(word: str) -> int | slice:
    parts = [part.strip() for part in word.split(":")]
    if len(parts) > 3 or not all(part == "" or _INTEGER.fullmatch(part) for part in parts) or parts == [""]:
        raise SelectionError(f"{word!r} is not an index", hint=_HINT)
    numbers = [int(part) if part else None for part in parts]
    if len(parts) == 1 and numbers[0] is not None:
        return numbers[0]
    if len(parts) == 3 and numbers[2] == 0:
        raise SelectionError(f"the step of {word!r} is zero", hint=_HINT)
    return slice(*numbers)


def _range(item: int | slice, size: int, axis: int) -> range:
    if isinstance(item, slice):
        return range(size)[item]
    if not -size <= item < size:
        valid = f"valid are {-size} to {size - 1}" if size else "it is empty"
        raise SelectionError(f"index {item} is out of bounds for dimension {axis}, whose length is {size}", hint=valid)
    return range(size)[item : item + 1 or None]
