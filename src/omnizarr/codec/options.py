"""Checked access to the configuration of a codec: a wrong type or range is named, never guessed around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.model.jsonvalue import JSON


class Options:
    """The configuration of one codec; `done` complains about what nobody asked for."""

    __slots__ = ("_codec", "_config", "_seen")

    def __init__(self, codec: str, config: Mapping[str, JSON]) -> None:
        self._codec = codec
        self._config = config
        self._seen: list[str] = []

    def __contains__(self, name: str) -> bool:
        """Whether the configuration has the option."""
        return name in self._config

    def raw(self, name: str, default: JSON = None) -> JSON:
        """Return an option of any type."""
        self._seen.append(name)
        return self._config.get(name, default)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return an integer in `low` … `high`, both included."""
        value = self.raw(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.wrong(name, value, "an integer")
        if not low <= value <= high:
            raise self.wrong(name, value, f"in {low} … {high}")
        return value

    def number(self, name: str, low: float, high: float, default: float | None = None) -> float:
        """Return a number in `low` … `high`, both included; one without a default must be there."""
        value = self.raw(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(name, value, "a number")
        if not low <= value <= high:
            raise self.wrong(name, value, f"in {low} … {high}")
        return value

    def boolean(self, name: str, *, default: bool) -> bool:
        """Return a boolean."""
        value = self.raw(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, value, "true or false")
        return value

    def choice(self, name: str, default: str | None, allowed: Sequence[str]) -> str:
        """Return one of the allowed words."""
        value = self.raw(name, default)
        if not isinstance(value, str) or value not in allowed:
            raise self.wrong(name, value, f"one of {', '.join(allowed)}")
        return value

    def integers(self, name: str) -> tuple[int, ...]:
        """Return a list of integers that are not negative."""
        value = self.raw(name)
        if not isinstance(value, (list, tuple)):
            raise self.wrong(name, value, "a list of integers")
        numbers: list[int] = []
        for item in value:
            if isinstance(item, bool) or not isinstance(item, int) or item < 0:
                raise self.wrong(name, value, "a list of integers that are not negative")
            numbers.append(item)
        return tuple(numbers)

    def dtype(self, name: str, default: np.dtype[np.generic]) -> np.dtype[np.generic]:
        """Return a plain NumPy type, spelled as v2 spells it ("<i4") or by name ("int32")."""
        value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.wrong(name, value, "the name of a type")
        try:
            found: np.dtype[np.generic] = np.dtype(value)
        except TypeError:
            raise self.wrong(name, value, "the name of a type") from None
        if found.kind not in "biufcmMSUV" or found.itemsize == 0:
            raise self.wrong(name, value, "a type of fixed size")
        return found

    def wrong(self, name: str, value: object, expected: str) -> MetadataError:
        """Return the error for an option that is not as expected."""
        text = repr(value)
        shown = text if len(text) <= 60 else text[:57] + "..."
        return MetadataError(f"option {name!r} is {shown}, not {expected}", codec=self._codec)

    def forget(self) -> None:
        """Take every option as read."""
        self._seen.extend(self._config)

    def done(self) -> None:
        """Raise if the configuration holds an option that no call above asked for."""
        left = self._config.keys() - self._seen
        if left:
            raise UnsupportedError(f"unknown options {', '.join(sorted(left))}", codec=self._codec)
