"""The templates of a set: what names in braces stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from omnizarr.errors import LimitError, MetadataError, OmnizarrError
from omnizarr.late import LateModule
from omnizarr.native import render_text

if TYPE_CHECKING:
    from omnizarr.refset.templates import expressions
    from omnizarr.refset.templates.expressions import Tree
else:
    expressions = LateModule("omnizarr.refset.templates.expressions")

_FIELD: Final = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_MARKS: Final = ("{{", "{%", "{#")
_MOST_CALLS: Final = 500
_MOST_LEVELS: Final = 30


class _Frame(NamedTuple):
    """Where a text stands: what it belongs to, and what its names are besides the templates."""

    key: str
    names: Mapping[str, Tree]
    above: tuple[str, ...] = ()
    """The templates that led here."""


class Templates:
    """The templates of one set.

    >>> Templates({"u": "server.domain/path"}).text("http://{{u}}/{b}", "a/0")
    'http://server.domain/path/{b}'

    Args:
        texts: The templates by name.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._known: dict[str, Tree] = {}
        self._calls = 0

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def text(self, text: str, key: str) -> str:
        """Return what a text says once its templates are filled in.

        Args:
            text: What stands in the set.
            key: The key that it belongs to, for messages.

        Raises:
            MetadataError: If it is no template, or a name means nothing.
            UnsafeError: If it has more than expressions may have.
            LimitError: If it asks for too much.
        """
        tree = self.tree(text, key, {})
        if isinstance(tree, str):
            return tree
        try:
            return render_text(tree)
        except OmnizarrError as error:
            error.key = key
            raise
        except ValueError as error:
            raise MetadataError(f"a template cannot be evaluated: {error}", key=key) from None

    def tree(self, text: str, key: str, variables: Mapping[str, int]) -> Tree:
        """Return the tree of a text, in which variables have numbers."""
        self._calls = 0
        return self._read(text, _Frame(key, {name: ("var", at) for name, at in variables.items()}))

    def _read(self, text: str, frame: _Frame) -> Tree:
        if not any(mark in text for mark in _MARKS):
            return text
        rest = _FIELD.sub("", text)
        if any(mark in rest for mark in _MARKS) or "}}" in rest:
            reader = expressions.Reader(
                frame.key, lambda name: self._name(name, frame), lambda *given: self._call(frame, *given)
            )
            return reader.read(text)
        # A plain name needs no parser, which may not be installed.
        parts: list[Tree] = []
        for i, part in enumerate(_FIELD.split(text)):
            if i % 2 or part:
                parts.append(self._name(part, frame) if i % 2 else part)
        if all(isinstance(part, str) for part in parts):
            return "".join(str(part) for part in parts)
        return parts[0] if len(parts) == 1 else ("join", *parts)

    def _name(self, name: str, frame: _Frame) -> Tree:
        if name in frame.names:
            return frame.names[name]
        if name not in self._texts:
            known = ", ".join(sorted({*self._texts, *frame.names})) or "none"
            raise MetadataError(f"a template uses the name {name!r}; there are: {known}", key=frame.key)
        if name not in self._known:
            self._known[name] = self._read(self._texts[name], self._below(frame, name, {}))
        return self._known[name]

    def _call(self, frame: _Frame, name: str, given: tuple[Tree, ...], named: Mapping[str, Tree]) -> Tree:
        text = self._texts.get(name)
        if text is None:
            raise MetadataError(f"there is no template {name!r} that could be called", key=frame.key)
        free = [one for one in dict.fromkeys(_names_in(text)) if one not in self._texts]
        if len(given) > len(free):
            raise MetadataError(f"the template {name!r} is given {len(given)} texts and has {len(free)}", key=frame.key)
        names = {**dict(zip(free, given, strict=False)), **named}
        return self._read(text, self._below(frame, name, names))

    def _below(self, frame: _Frame, name: str, names: Mapping[str, Tree]) -> _Frame:
        self._calls += 1
        if self._calls > _MOST_CALLS or len(frame.above) >= _MOST_LEVELS:
            raise LimitError(f"the template {name!r} leads to too many others", key=frame.key)
        if name in frame.above and not names:
            raise MetadataError(f"the template {name!r} uses itself", key=frame.key)
        return _Frame(frame.key, names, (*frame.above, name))


def _names_in(text: str) -> list[str]:
    """Return words inside braces, in their order: the names among them are what a call may give."""
    inside = " ".join(re.findall(r"\{\{(.*?)\}\}", text, re.DOTALL))
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", " ", inside)
    return re.findall(r"(?<![\w.])[A-Za-z_]\w*", plain)
