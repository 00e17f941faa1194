"""Constants of CDL: what a token means, and what it becomes as a value of a type."""

from __future__ import annotations

import math
import re
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.nc.cdl.errors import Text
from omnizarr.nc.cdl.lexer import Lexer, Token
from omnizarr.nc.types import CHAR, STRING, Atomic

_LETTERS: Final = {b"a": 7, b"b": 8, b"f": 12, b"n": 10, b"r": 13, b"t": 9, b"v": 11, b"?": 127}
_ESCAPE: Final = re.compile(rb"\\(x[0-9A-Fa-f]{2}|[0-7]{1,3}|.)", re.DOTALL)
_CHAR_ESCAPE: Final = re.compile(rb"\\([xX][0-9A-Fa-f]{2}|[0-7]{1,3}|.)", re.DOTALL)
_SUFFIXES: Final = {"b": "byte", "s": "short", "l": "int", "ll": "int64"}
_BITS: Final = {"byte": 8, "short": 16, "int": 32, "int64": 64, "ubyte": 8, "ushort": 16, "uint": 32, "uint64": 64}
_NAMED: Final = {
    "NaN": ("double", math.nan), "nan": ("double", math.nan), "NaNf": ("float", math.nan), "nanf": ("float", math.nan),
    "Infinity": ("double", math.inf), "DoubleInf": ("double", math.inf), "Infinityf": ("float", math.inf),
    "Inff": ("float", math.inf), "FloatInf": ("float", math.inf), "Inf": ("double", math.inf),
    "inf": ("double", math.inf), "inff": ("float", math.inf),
}  # fmt: skip
_NIL: Final = ("NIL", "nil", "Nil")
_UNKNOWN: Final = ("_UNDEFINED", "_UNKNOWN")
"""What ncdump prints for a number that no member of an enum has."""
LOOSE_NAMES: Final = ("inf", "inff", "Inf")
"""Numbers that are names where a name can stand."""


class Const(NamedTuple):
    """A constant.

    `kind` is the name of an atomic type (text in quotes is `string`, a character in quotes `char`), or one of `opaque`,
    `fill`, `nil`, `name`, `list` (then `value` is a list of constants) and `run` (an array, and where fill values are).
    """

    kind: str
    value: Any
    at: int


def constant(lexer: Lexer) -> Const:
    """Read a constant that is not a list.

    Raises:
        CdlError: If there is none.
    """
    token = lexer.peek()
    if token.kind in _READERS:
        return _READERS[token.kind](lexer, lexer.take())
    raise lexer.unexpected("a value")


def unescaped(part: bytes) -> bytes:
    r"""Return the bytes that the inside of a string means.

    >>> unescaped(rb"a\tb\x41\101\0")
    b'a\tbAA\x00'
    """
    return _ESCAPE.sub(_one_escape, part) if b"\\" in part else part


def _one_escape(found: re.Match[bytes]) -> bytes:
    text = found[1]
    if text[:1] in b"xX" and len(text) > 1:
        return bytes([int(text[1:], 16)])
    if text.isdigit() and text[:1] in b"01234567":
        return bytes([int(text, 8) & 255])
    return bytes([_LETTERS[text]]) if text in _LETTERS else text


def _string(_lexer: Lexer, token: Token) -> Const:
    return Const("string", unescaped(token.text[1:-1]), token.at)


def _char(_lexer: Lexer, token: Token) -> Const:
    return Const("char", _CHAR_ESCAPE.sub(_one_escape, token.text[1:-1])[0], token.at)


def _word(lexer: Lexer, token: Token) -> Const:
    text = token.text.decode("utf-8", "replace")
    if text == "_":
        return Const("fill", None, token.at)
    if text in _UNKNOWN:
        lexer.text.warn(token.at, f"{text} stands for a number that nobody knows; it becomes the fill value")
        return Const("fill", None, token.at)
    if text in _NIL:
        return Const("nil", None, token.at)
    if text in _NAMED and text not in LOOSE_NAMES:
        return Const(*_NAMED[text], token.at)
    if lexer.peek().kind == "(":
        return _function(lexer, text, token.at)
    return Const("name", lexer.name(token), token.at)


def loose_number(const: Const) -> Const:
    """Return the number that a name stands for, if it does."""
    if const.kind == "name" and const.value in LOOSE_NAMES:
        return Const(*_NAMED[const.value], const.at)
    return const


def _path(lexer: Lexer, token: Token) -> Const:
    names = lexer.names(token)
    return Const("name", names[-1] if names else "/", token.at)


def _special(_lexer: Lexer, token: Token) -> Const:
    kind, size = _NAMED[token.text[1:].decode()]
    return Const(kind, -size if token.text.startswith(b"-") else size, token.at)


def _hex(lexer: Lexer, token: Token) -> Const:
    digits = token.text[2:].rstrip(b"sSlL")
    if len(digits) < len(token.text) - 2:
        if len(digits) > 16 + len(digits) - len(digits.lstrip(b"0")):
            raise lexer.text.error(token.at, "this number fits no type of integers")
        value = int(digits, 16)
        return Const("uint" if fits(value, "uint") else "uint64", value, token.at)
    return Const("opaque", bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode()), token.at)


def _real(lexer: Lexer, token: Token) -> Const:
    number = token.text.rstrip(b"fFdDlL").decode()
    if number.strip("+-.") == "":
        raise lexer.text.error(token.at, "this is no number")
    if token.text[-1:] in b"fF":
        return Const("float", nearest_float(number), token.at)
    return Const("double", float(number), token.at)


def nearest_float(number: str) -> float:
    """Return the float nearest to a decimal number, without rounding twice.

    >>> nearest_float("1.00000017881393432617187499")
    1.0000001192092896
    """
    double = float(number)
    with np.errstate(over="ignore"):
        single = np.float32(double)
    if not np.isfinite(single) or float(single) == double:
        return float(single)
    towards = np.float32(np.inf) if double > float(single) else np.float32(-np.inf)
    other = float(np.nextafter(single, towards))
    if (float(single) + other) / 2 != double:
        return float(single)
    from fractions import Fraction  # noqa: PLC0415 - hardly ever needed

    exact = Fraction(number)
    if exact == Fraction(double):
        return float(single)
    return max(float(single), other) if exact > Fraction(double) else min(float(single), other)


def _integer(lexer: Lexer, token: Token) -> Const:
    digits = token.text.rstrip(b"bBsSlLuU")
    suffix = token.text[len(digits) :].decode().lower()
    unsigned, negative = "u" in suffix, digits.startswith(b"-")
    digits = digits.lstrip(b"+-")
    if digits.startswith(b"0") and not digits.strip(b"01234567"):
        size = int(digits, 8)
    else:
        if digits.startswith(b"0"):
            lexer.text.warn(token.at, "a number that begins with 0 is octal, and what follows an 8 or 9 is not read")
            digits = re.split(rb"[89]", digits)[0] or b"0"
        size = int(digits, 8 if digits.startswith(b"0") else 10) if len(digits) <= 30 else 1 << 64
    if negative and unsigned:
        raise lexer.text.error(token.at, "an unsigned number has no sign")
    value = -size if negative else size
    if size >= 1 << 64 or value < -(1 << 63):
        raise lexer.text.error(token.at, "this number fits no type of integers")
    return _typed(lexer.text, suffix, unsigned=unsigned, value=value, at=token.at)


def _typed(text: Text, suffix: str, *, unsigned: bool, value: int, at: int) -> Const:
    """Return an integer with the type that its suffix says, or the smallest of those that it may have without one."""
    if not suffix:
        kinds = ("int", "uint", "int64", "uint64") if value >= 0 else ("int", "int64")
        return Const(next(kind for kind in kinds if fits(value, kind)), value, at)
    kind = _SUFFIXES[suffix.replace("u", "") or "l"]
    kind = f"u{kind}" if unsigned else kind
    if fits(value, kind):
        return Const(kind, value, at)
    if unsigned:
        raise text.error(at, f"this number is out of range for {kind}")
    if not fits(value, f"u{kind}"):
        text.warn(at, f"{value} is out of range for {kind}; its lower {_BITS[kind]} bits are taken")
    return Const(kind, wrapped(value, kind), at)


def fits(value: int, kind: str) -> bool:
    """Whether an integer can be kept in a type.

    >>> fits(255, "ubyte"), fits(128, "byte")
    (True, False)
    """
    bits = _BITS[kind]
    low, high = (0, (1 << bits) - 1) if kind.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return low <= value <= high


def wrapped(value: int, kind: str) -> int:
    """Return the lower bits of an integer as a type has them.

    >>> wrapped(300, "byte"), wrapped(-1, "ushort")
    (44, 65535)
    """
    bits = _BITS[kind]
    value &= (1 << bits) - 1
    return value - (1 << bits) if not kind.startswith("u") and value >> bits - 1 else value


def _function(lexer: Lexer, name: str, at: int) -> Const:
    """Read a call; there is one function, `time`, which gives hours since 1970."""
    arguments: list[Const] = []
    lexer.expect("(")
    while True:
        arguments.append(constant(lexer))
        if not lexer.accept(","):
            break
    lexer.expect(")")
    if name.lower() != "time":
        raise lexer.text.error(at, f"there is no function {name}", 'There is only time("1970-01-01 00:00").')
    if len(arguments) != 1 or arguments[0].kind != "string":
        raise lexer.text.error(at, 'expected time("1970-01-01 00:00")')
    found = re.fullmatch(
        rb"\s*(\d{1,5})-(\d{1,2})(?:-(\d{1,2})(?:[ T]+(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}(?:\.\d*)?))?)?)?)?\s*",
        arguments[0].value,
    )
    if found is None:
        raise lexer.text.error(arguments[0].at, "expected a time as in 1970-01-01 00:00:00")
    year, month, day = (int(part or 1) for part in found.groups()[:3])
    hour, minute, second = (float(part or 0) for part in found.groups()[3:])
    return Const("double", _days(year, month, day) * 24 + hour + minute / 60 + second / 3600, at)


def _days(year: int, month: int, day: int) -> int:
    """Return days since 1970 in the calendar that was Julian until 1582-10-04.

    >>> _days(1970, 1, 2), _days(1582, 10, 15) - _days(1582, 10, 4)
    (1, 1)
    """
    year, month = (year - 1, month + 12) if month < 3 else (year, month)  # years begin with March
    days = 365 * year + year // 4 + (153 * month - 457) // 5 + day
    gregorian = (year, month, day) >= (1582, 10, 15)
    return days + (year // 400 - year // 100 if gregorian else -2) - 719469


_READERS: Final = {
    "string": _string, "char": _char, "word": _word, "path": _path, "special": _special, "hex": _hex, "real": _real,
    "integer": _integer,
}  # fmt: skip


def number(text: Text, const: Const, kind: Atomic) -> Any:  # noqa: ANN401 - an int or a float
    """Return a constant as a number of a type, as C converts it.

    Raises:
        CdlError: If it is nothing of the kind.
    """
    const = loose_number(const)
    value = const.value
    if const.kind == "char":
        value = value if kind.name != "byte" else wrapped(value, "byte")
    elif const.kind == "opaque":
        size = kind.numpy.itemsize
        return np.frombuffer(value[:size].ljust(size, b"\0"), kind.numpy)[0]
    elif const.kind == "string":
        value = _scanned(text, const, kind)
    elif const.kind not in _BITS and const.kind not in ("float", "double"):
        raise text.error(const.at, f"expected a value of type {kind.name}")
    if kind.numpy.kind == "f":
        return _as_float(text, value, kind, const.at)
    return _as_int(text, value, kind, const.at)


def _as_float(text: Text, value: float, kind: Atomic, at: int) -> Any:  # noqa: ANN401 - a scalar of NumPy
    with np.errstate(over="ignore"):
        found = kind.numpy.type(value)
    if np.isinf(found) and not math.isinf(value):
        text.warn(at, f"{value} is out of range for {kind.name}")
    return found


def _as_int(text: Text, value: float, kind: Atomic, at: int) -> int:
    whole = int(value) if math.isfinite(value) else 0
    if float(whole) != float(value):
        text.warn(at, f"{value} becomes {wrapped(whole, kind.name)} as {kind.name}")
    name = kind.name.removeprefix("u")
    if not fits(whole, name) and not fits(whole, f"u{name}"):
        text.warn(at, f"{whole} is out of range for {kind.name}; its lower {_BITS[kind.name]} bits are taken")
    return wrapped(whole, kind.name)


def _scanned(text: Text, const: Const, kind: Atomic) -> float:
    """Return the number that a string begins with."""
    pattern = rb"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?" if kind.numpy.kind == "f" else rb"\s*[+-]?\d{1,19}"
    found = re.match(pattern, const.value)
    if found is None:
        raise text.error(const.at, f"expected a value of type {kind.name}")
    if const.value[found.end() :].strip(b" \t\0"):
        # As ncgen does, which says nothing: `ncdump -t` prints dates that cannot be read back.
        cure = "; dates are numbers here, as dump prints them without -t and -i" if b"-" in const.value else ""
        text.warn(const.at, f"only {found[0].decode().strip()} of a text is read as {kind.name}{cure}")
    return float(found[0]) if kind.numpy.kind == "f" else int(found[0])


def string(text: Text, const: Const) -> str | None:
    """Return a constant as an element of type string."""
    if const.kind == "nil":
        return None
    if const.kind == "string":
        return str(const.value.split(b"\0")[0].decode("utf-8", "surrogateescape"))
    if const.kind == "char":
        return chr(const.value)
    if const.kind in _BITS:
        return str(const.value)
    if const.kind in ("float", "double"):
        return f"{const.value:.8g}"
    raise text.error(const.at, f"expected a value of type {STRING.name}")


def characters(text: Text, const: Const) -> bytes:
    """Return a constant as characters.

    Raises:
        CdlError: If it is neither text nor a byte.
    """
    if const.kind == "string":
        return bytes(const.value)
    if const.kind in ("char", "byte", "ubyte"):
        return bytes([const.value & 255])
    raise text.error(const.at, f"expected text, or a value of type {CHAR.name}")
