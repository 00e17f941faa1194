"""One document while it is checked: its text, and the findings in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from math import isfinite
from typing import Any, Final, TypeVar

from omnizarr.errors import LimitError, MetadataError, OmnizarrError
from omnizarr.format.check import part
from omnizarr.format.document import describe, load
from omnizarr.limits import Limits
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.validate.report import Codes, Cure, Sink, words
from omnizarr.tools.validate.rules import RULES

_BOM: Final = b"\xef\xbb\xbf"
_TWICE: Final = "twice in one object"
_MOST: Final = 20
"""Bare words in one document that are told of."""

_UNUSABLE: Final = frozenset(("OZ208", "OZ213", "OZ215", "OZ222", "OZ309", "OZ424", "OZ436"))
"""Rules about what is legal but not to be had here."""

_Made = TypeVar("_Made")


class Document:
    """A document, and what is wrong with it."""

    __slots__ = ("_sink", "errors", "key", "limits", "path")

    def __init__(self, sink: Sink, path: str, key: str, limits: Limits) -> None:
        self._sink = sink
        self.path = path
        self.key = key
        self.limits = limits
        self.errors = 0
        """How many findings keep the document from being used, those of rules that do not count included."""

    def add(
        self,
        rule: str,
        message: str,
        pointer: str | None = None,
        *,
        hint: str | None = None,
        cures: tuple[Cure, ...] = (),
    ) -> None:
        """Tell of a finding."""
        self.errors += RULES[rule].severity == "error" or rule in _UNUSABLE
        self._sink.add(rule, (self.path, self.key), message, pointer=pointer, hint=hint, cures=cures)

    def edit(self, pointer: str, value: JSON = None, *, drop: bool = False) -> tuple[Cure, ...]:
        """Return the cure that sets or removes a member."""
        return (Cure("edit", self.key, pointer, value, drop),)

    def fail(self, codes: Codes, error: OmnizarrError) -> None:
        """Tell of an error that a parser raised."""
        message, pointer = words(error)
        self.add(codes.of(error), message, pointer, hint=error.hint)

    def attempt(self, codes: Codes | str, make: Callable[..., _Made], *arguments: Any) -> _Made | None:  # noqa: ANN401 - as the function takes
        """Return what a parser makes of something, or tell of its error and return `None`."""
        try:
            return make(*arguments)
        except OmnizarrError as error:
            self.fail(Codes(codes, codes, codes) if isinstance(codes, str) else codes, error)
            return None

    def object(self, data: bytes, *, bare: str = "", rule: str = "OZ107") -> dict[str, JSON] | None:
        """Parse the text, and tell of what is wrong with it; `None` if it is no object.

        Args:
            data: The text.
            rule: The rule that something else than an object breaks.
            bare: Where NaN and Infinity may stand: "all", "none" or by default in `/attributes` alone, with a warning.
        """
        before = self.errors
        value = self._value(data)
        if value is None and self.errors > before:
            return None
        if not isinstance(value, dict):
            self.add(rule, f"the document is {describe(value)}, not an object")
            return None
        if bare != "all" and (b"NaN" in data or b"Infinity" in data):
            self._tell_bare(value, everywhere=bare == "attributes")
        return value

    def _value(self, data: bytes) -> JSON:
        if not data.strip():
            self.add("OZ109", "the document is empty" if not data else "the document holds nothing but spaces")
            return None
        if data.startswith(_BOM):
            self.add("OZ102", "the document begins with a byte order mark", cures=self.edit(""))
        try:
            value = load(data, self.key, self.limits)
        except LimitError as error:
            self.add("OZ108", error.message)
        except MetadataError as error:
            if isinstance(error.__cause__, UnicodeDecodeError):
                self.add("OZ101", error.message, hint=error.hint)
            elif _TWICE in error.message:
                return self._repeating(data, error.message)
            else:
                self.add("OZ103", error.message, hint=error.hint)
        else:
            return value
        return None

    def _repeating(self, data: bytes, message: str) -> JSON:
        """Tell of names that are repeated, or of what is wrong further on, if anything is."""
        try:
            value = lenient(data)
        except (ValueError, RecursionError) as error:
            self.add("OZ103", f"the document is not JSON: {error}")
            return None
        self.add("OZ104", message, cures=self.edit(""))
        return value

    def _tell_bare(self, value: dict[str, JSON], *, everywhere: bool) -> None:
        for pointer, number in islice(_bare(value, ""), _MOST):
            word = "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"  # noqa: PLR0124 - NaN
            if everywhere or pointer.startswith("/attributes/"):
                self.add("OZ105", f"{word} is not JSON", pointer, hint="Write null, or a string.")
            else:
                self.add("OZ106", f"{word} is not JSON", pointer, cures=self.edit(pointer, word))


def lenient(data: bytes) -> JSON:
    """Parse a text whose objects may repeat names: the last counts, as for nearly every reader.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: It is too deep.
    """
    value: JSON = json.loads(data.removeprefix(_BOM).decode("utf-8"))
    return value


def _bare(value: JSON, pointer: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _bare(inner, f"{pointer}/{part(name)}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _bare(inner, f"{pointer}/{at}")
    elif isinstance(value, float) and not isfinite(value):
        yield pointer, value
