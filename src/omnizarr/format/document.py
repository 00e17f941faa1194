"""JSON documents: bytes to values and back, with bounds on size and depth and no silent losses.

RFC 8259 leaves repeated names and the range of numbers to the reader. Here a repeated name is an error and integers are
exact. `NaN` and `Infinity` are accepted although they are no JSON, because zarr-python has always written them in
attributes and, in 3.0.0 to 3.0.6, as fill values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from json import JSONDecodeError, JSONDecoder
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Final, cast

from omnizarr.errors import LimitError, MetadataError
from omnizarr.late import LateModule
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.jsonvalue import JSON

if TYPE_CHECKING:
    from omnizarr.store import sniff
else:
    sniff = LateModule("omnizarr.store.sniff")

_SPACE: Final = " \t\n\r"
_INFINITY: Final = float("inf")
_TO_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
# A string that never ends goes on up to the end, or the search would start anew at each of its quotes.
_TOKENS: Final = rb'(?s)[\[\]{}]|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'


class _RepeatedNameError(Exception):
    """Carries a repeated name out of the decoder."""


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    made = dict(pairs)
    if len(made) != len(pairs):
        last = {name: at for at, (name, _) in enumerate(pairs)}
        raise _RepeatedNameError(next(name for at, (name, _) in enumerate(pairs) if last[name] != at))
    return made


_decode: Final = JSONDecoder(object_pairs_hook=_unique).raw_decode


def load(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS) -> JSON:
    """Parse one JSON document.

    Args:
        data: The bytes: UTF-8, with or without a byte order mark.
        key: The store's key, for messages.
        limits: Bounds on size and depth.

    Raises:
        MetadataError: The bytes are not one JSON value, or an object repeats a name.
        LimitError: The document is too large or too deep.
    """
    check_bounds(data, key, limits)
    try:
        text = data.decode("utf-8")
        start = 0 if text[:1] == "{" else len(text) - len(text.lstrip("\ufeff" + _SPACE))
        value, end = _decode(text, start)
    except UnicodeDecodeError as error:
        hint = "It starts as UTF-16 does." if data[:2] in (b"\xff\xfe", b"\xfe\xff") else None
        raise MetadataError(f"the document is not UTF-8 (offset {error.start})", key=key, hint=hint) from error
    except JSONDecodeError as error:
        what = sniff.sniff(data[:64].strip()).what
        plain = what in ("JSON document", "text file", "binary file")
        hint = None if plain else f"It is {sniff.with_article(what)}."
        raise MetadataError(f"the document is not JSON: {error.msg} (offset {error.pos})", key=key, hint=hint) from None
    except _RepeatedNameError as error:
        raise MetadataError(f"the document has the name {str(error)!r} twice in one object", key=key) from None
    except RecursionError as error:
        raise LimitError("the document is nested too deep for the stack", key=key) from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise MetadataError(f"the document holds too long a number: {error}", key=key) from None
    if end != len(text) and text[end:].strip(_SPACE):
        raise MetadataError(f"the document goes on after its JSON value (offset {end})", key=key)
    return cast("JSON", value)


def check_bounds(data: bytes, key: str, limits: Limits) -> None:
    """Check that a document may be parsed at all; arguments are as for `load`.

    Raises:
        LimitError: The document is too large or too deep.
    """
    if len(data) > limits.max_document_bytes:
        raise LimitError(f"the document has {len(data)} bytes; at most {limits.max_document_bytes} are read", key=key)
    # A document with few brackets cannot be deep; that settles nearly all of them.
    if data.count(b"[") + data.count(b"{") > limits.max_document_depth:
        _check_depth(data, key, limits.max_document_depth)


def load_object(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS) -> dict[str, JSON]:
    """Parse one JSON document that must be an object; otherwise as `load`."""
    value = load(data, key, limits)
    if not isinstance(value, dict):
        raise MetadataError(f"the document is {describe(value)}, not an object", key=key)
    return value


def _check_depth(data: bytes, key: str, most: int) -> None:
    # Brackets inside strings only make a document look deeper, so the strings need a look only if it looks deep.
    if _is_deep(data.translate(_TO_SQUARE, _NOT_BRACKETS), most) and _is_deep_outside_strings(data, most):
        raise LimitError(f"the document is nested deeper than {most} levels", key=key)


def _is_deep(rest: bytes, most: int) -> bool:
    if b"[" * (most + 1) in rest:
        return True
    for _ in range(most):  # each round takes away one level, the innermost
        length = len(rest)
        rest = rest.replace(b"[]", b"")
        if len(rest) == length:
            break
    # What never closes is a broken document; it still must not send the decoder down too far.
    return b"[]" in rest or rest.count(b"[") > most


def _is_deep_outside_strings(data: bytes, most: int) -> bool:
    """Count brackets one by one, which needs no memory however many there are."""
    depth = 0
    for found in re.finditer(_TOKENS, data):
        mark = data[found.start()]
        if mark in b"[{":
            depth += 1
            if depth > most:
                return True
        elif mark in b"]}":
            depth -= 1
    return False


def describe(value: JSON) -> str:
    """Name a value in a message: what it is, and a short look at it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f"the string {value if len(value) < 40 else value[:37] + '...'!r}"
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 1 << 128):
        return f"the number {value!r}"
    if isinstance(value, int):
        return "a huge number"
    return "an object" if isinstance(value, Mapping) else f"a list of {len(value)}"


def dump(value: JSON, key: str | None = None, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Write a JSON document: two spaces of indent, ASCII, names in their order, lists of plain values on one line.

    NaN and the infinities are written as the bare words that Python's readers accept; the renderers of this package put
    none outside attributes.

    Raises:
        MetadataError: A value that is not JSON; the message points to it.
        LimitError: The value is nested deeper than would be read back.
    """
    # Python's own encoder takes no C path when it indents; this one takes half the time.
    try:
        return (_text(value, "\n", limits.max_document_depth * 2) + "\n").encode("ascii")
    except _NotJsonError as error:
        raise error.report(key) from None


class _NotJsonError(Exception):
    """Collects the place of a bad value while the calls return; `report` makes the error that users see."""

    def __init__(self, message: str, deep: bool = False) -> None:
        super().__init__(message)
        self.deep = deep
        self.place: list[str] = []

    def report(self, key: str | None) -> MetadataError | LimitError:
        pointer = "".join(f"/{part}" for part in reversed(self.place))
        if self.deep:
            return LimitError(f"{self} (at {pointer[:80]}...)", key=key)
        hint = "Use str, int, float, bool, None, and lists and dicts of these."
        return MetadataError(str(self), key=key, pointer=pointer or "/", hint=hint)


def _text(value: object, newline: str, widest: int) -> str:
    kind = type(value)
    if kind is dict:
        return _object_text(cast("dict[object, object]", value), newline, widest)
    if kind is list or kind is tuple:
        return _list_text(cast("list[object]", value), newline, widest)
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if value is None or isinstance(value, (int, float)):
        return _scalar(value)
    if isinstance(value, Mapping):
        return _object_text(dict(value), newline, widest)
    raise _NotJsonError(f"a value of type {kind.__name__} is not JSON")


def _object_text(value: dict[object, object], newline: str, widest: int) -> str:
    if not value:
        return "{}"
    deeper = newline + "  "
    if len(newline) > widest:
        raise _NotJsonError("the document would be nested too deep", deep=True)
    lines = []
    for name, item in value.items():
        if not isinstance(name, str):
            raise _NotJsonError(f"the name {name!r} is not a string")
        try:
            lines.append(f"{encode_basestring_ascii(name)}: {_text(item, deeper, widest)}")
        except _NotJsonError as error:
            error.place.append(name)
            raise
    return f"{{{deeper}{f',{deeper}'.join(lines)}{newline}}}"


def _list_text(value: list[object], newline: str, widest: int) -> str:
    deeper = newline + "  "
    if len(newline) > widest:
        raise _NotJsonError("the document would be nested too deep", deep=True)
    texts: list[str] = []
    plain = True
    for item in value:
        try:
            text = _text(item, deeper, widest)
        except _NotJsonError as error:
            error.place.append(str(len(texts)))
            raise
        plain = plain and text[0] not in "{["
        texts.append(text)
    return f"[{', '.join(texts)}]" if plain else f"[{deeper}{f',{deeper}'.join(texts)}{newline}]"


def _scalar(value: float | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        try:
            return int.__repr__(value)
        except ValueError:  # it would not be read back either
            raise _NotJsonError("an integer has more digits than Python writes") from None
    if value != value:  # noqa: PLR0124  # only NaN differs from itself
        return "NaN"
    if value in (_INFINITY, -_INFINITY):
        return "Infinity" if value > 0 else "-Infinity"
    return float.__repr__(value)
