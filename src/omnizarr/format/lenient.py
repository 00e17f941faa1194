r"""JSON as netcdf-c has written it: not always JSON, and numbers whose spelling matters.

Text that looks like a number was stored as one, so numbers remember how they were spelled. What is plain JSON, as
nearly all documents are, goes through Python's own decoder; the rest through a reader that also takes bare `NaN` and
`Infinity` in any case, `+5`, `.5`, `1.`, a comma too many and the escape `\'`. Either stops after the first value:
netcdf-c overwrites longer documents with shorter ones and leaves what was behind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from json import JSONDecodeError, JSONDecoder
from json.encoder import ESCAPE_DCT
from typing import Final, NoReturn, cast

from omnizarr.errors import LimitError, MetadataError
from omnizarr.format.document import check_bounds, describe
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.jsonvalue import JSON

_SPACE: Final = re.compile(r"[ \t\n\r\ufeff]*")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(\.[0-9]*)?|(\.[0-9]+))([eE][+-]?[0-9]+)?")
_HEX: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]{1,5})?")
_WORD: Final = re.compile(r"[+-]?[A-Za-z]+")
_STRING: Final = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_ODD_QUOTE: Final = re.compile(r"(?<!\\)((?:\\\\)*+)\\'")
_WORDS: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None}
_CONSTANTS: Final = frozenset(("nan", "inf", "infinity"))
_TO_ESCAPE: Final = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')


class Real(float):
    """A number with a point or an exponent, or none at all (`NaN`), and its spelling."""

    __slots__ = ("text",)
    text: str

    @classmethod
    def of(cls, text: str) -> Real:
        """Return the number that a text spells."""
        try:
            made = cls(float.fromhex(text) if "x" in text.lower() else text)
        except OverflowError:  # only of hexadecimal digits
            made = cls("inf")
        made.text = text
        return made


class Whole(int):
    """A whole number that is not spelled as Python would."""

    text: str

    @classmethod
    def of(cls, text: str) -> int | Real:
        """Return the number that a text spells; `-0` has a sign that no whole number has."""
        plain = int(text)
        if not plain and text.startswith("-"):
            return Real.of(text)
        if str(plain) == text:
            return plain
        made = cls(plain)
        made.text = text
        return made


_decode: Final = JSONDecoder(parse_float=Real.of, parse_int=Whole.of, parse_constant=Real.of, strict=False).raw_decode

_decode_text: Final = JSONDecoder(strict=False).decode


def load(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS, *, quote: str = "'") -> JSON:
    r"""Parse the first JSON value of a document; bytes that are not UTF-8 become lone surrogates, as in file names.

    Args:
        data: The document.
        key: The store's key, for messages.
        limits: Bounds on size and depth.
        quote: What the escape `\'` stands for: netcdf-c 4.8 wrote it for a double quote.

    Raises:
        MetadataError: If that is no JSON value; the message says where.
        LimitError: If it is too large or too deep.
    """
    check_bounds(data, key, limits)
    text = data.decode("utf-8", "surrogateescape")
    found = _SPACE.match(text)
    start = found.end() if found else 0
    try:
        value, _ = _decode(text, start)
    except JSONDecodeError:
        value, _ = _Reader(text, key, limits.max_document_depth, quote).value(start, 0)
    except RecursionError as error:
        raise LimitError("the document is nested too deep for the stack", key=key) from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise MetadataError(f"the document holds too long a number: {error}", key=key) from None
    return cast("JSON", value)


def load_object(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS, *, quote: str = "'") -> dict[str, JSON]:
    """Parse a document that must be an object; otherwise as `load`."""
    value = load(data, key, limits, quote=quote)
    if not isinstance(value, dict):
        raise MetadataError(f"the document is {describe(value)}, not an object", key=key)
    return value


class _Reader:
    """The reader of what is nearly JSON; each method returns a value and the offset after it."""

    def __init__(self, text: str, key: str, deepest: int, quote: str) -> None:
        self._text = text
        self._key = key
        self._deepest = deepest
        self._quote = "\\" + quote if quote == '"' else quote

    def value(self, at: int, depth: int) -> tuple[JSON, int]:  # noqa: PLR0911 - one for each kind of value
        at = self._space(at)
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at + 1, depth + 1)
        if first == "[":
            return self._list(at + 1, depth + 1)
        if first == '"':
            return self._string(at)
        found = _HEX.match(self._text, at)  # as text may look that netcdf-c took for a number
        if found is not None:
            return Real.of(found[0]), found.end()
        found = _NUMBER.match(self._text, at)
        if found is not None:
            return self._number(found), found.end()
        found = _WORD.match(self._text, at)
        word = found[0].lower() if found is not None else ""
        if found is not None and word in _WORDS:
            return _WORDS[word], found.end()
        if found is not None and word.lstrip("+-") in _CONSTANTS:
            return Real.of(found[0]), found.end()
        return self._fail("a value is needed", at)

    def _object(self, at: int, depth: int) -> tuple[JSON, int]:
        self._check(depth, at)
        made: dict[str, JSON] = {}
        while True:
            at = self._space(at)
            if self._text[at : at + 1] == "}":
                return made, at + 1
            if self._text[at : at + 1] != '"':
                self._fail("a name in quotes is needed", at)
            name, at = self._string(at)
            at = self._space(at)
            if self._text[at : at + 1] != ":":
                self._fail("a colon is needed", at)
            made[name], at = self.value(at + 1, depth)
            at = self._next(at, "}")

    def _list(self, at: int, depth: int) -> tuple[JSON, int]:
        self._check(depth, at)
        made: list[JSON] = []
        while True:
            at = self._space(at)
            if self._text[at : at + 1] == "]":
                return made, at + 1
            item, at = self.value(at, depth)
            made.append(item)
            at = self._next(at, "]")

    def _next(self, at: int, end: str) -> int:
        at = self._space(at)
        following = self._text[at : at + 1]
        if following == ",":
            return at + 1
        if following != end:
            self._fail(f"a comma or {end} is needed", at)
        return at

    def _string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self._text, at)
        if found is None:
            self._fail("the string has no end", at)
        body = _ODD_QUOTE.sub(lambda one: one[1] + self._quote, found[1])
        try:
            return cast("str", _decode_text(f'"{body}"')), found.end()
        except JSONDecodeError as error:
            self._fail(error.msg, at)

    def _number(self, found: re.Match[str]) -> JSON:
        text = found[0]
        try:
            return Whole.of(text) if not (found[1] or found[2] or found[3]) else Real.of(text)
        except ValueError as error:
            self._fail(f"too long a number: {error}", found.start())

    def _space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def _check(self, depth: int, at: int) -> None:
        if depth > self._deepest:
            raise LimitError(f"the document is nested deeper than {self._deepest} levels (offset {at})", key=self._key)

    def _fail(self, why: str, at: int) -> NoReturn:
        line = self._text.count("\n", 0, at) + 1
        column = at - self._text.rfind("\n", 0, at)
        raise MetadataError(f"the document is not JSON: {why} (line {line}, column {column})", key=self._key)


def text_of(value: JSON) -> str:  # noqa: PLR0911 - one for each kind of value
    """Write a value as JSON in the way of netcdf-c: no space in lists, one after the colon and comma of an object.

    Text is left as it is but for what JSON forbids, and lone surrogates, which UTF-8 cannot hold.

    >>> text_of({"a": [1, 2.5, "é"], "b": None})
    '{"a": [1,2.5,"é"], "b": null}'
    """
    if isinstance(value, str):
        return '"' + _TO_ESCAPE.sub(_escaped, value) + '"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (Real, Whole)):
        return value.text
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{text_of(name)}: {text_of(item)}" for name, item in value.items()) + "}"
    return "[" + ",".join(map(text_of, value)) + "]"


def _float_text(value: float) -> str:
    text = repr(float(value))
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(text, text)


def _escaped(found: re.Match[str]) -> str:
    letter = found[0]
    return ESCAPE_DCT.get(letter) or f"\\u{ord(letter):04x}"
