"""Characters and strings between quotes, as ncdump escapes them in each place."""

from __future__ import annotations

import re
from typing import Final

_NAMED: Final = {
    b"\b": b"\\b", b"\f": b"\\f", b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t", b"\v": b"\\v",
    b"\\": b"\\\\", b"'": b"\\'", b'"': b'\\"',
}  # fmt: skip
_IN_TEXT: Final = re.compile(rb"""[\x00-\x1f\x7f\\'"]""")
_IN_ROWS: Final = re.compile(rb"""[\x00-\x1f\x7f-\xff\\'"]""")


def _octal(character: bytes) -> bytes:
    return b"\\%03o" % character[0]


_ALL: Final = [bytes((code,)) for code in range(256)]
_TEXT: Final = {one: _NAMED.get(one) or _octal(one) for one in _ALL}
_LINES: Final = {**_TEXT, b"\n": b'\\n",\n\t\t\t"'}
_ROWS: Final = {**_TEXT, b"\n": b'\\n",\n    "'}
_MEMBERS: Final = {**_TEXT, **{one: b"\\" + one for one in _NAMED}}


def quoted_attribute(text: bytes, *, in_lines: bool = False) -> bytes:
    r"""Return the characters of an attribute; NULs at the end are not written.

    Args:
        text: The characters.
        in_lines: Whether a line of the text ends a line of CDL, as in datasets of the classic model.

    >>> quoted_attribute(b"it's\tC\xc3\xa9\0")
    b'"it\\\'s\\tC\xc3\xa9"'
    """
    table = _LINES if in_lines else _TEXT
    return b'"' + _IN_TEXT.sub(lambda found: table[found[0]], text.rstrip(b"\0")) + b'"'


def quoted_row(text: bytes) -> bytes:
    r"""Return the characters along the last dimension of a variable: all in ASCII, a line for each line of the text.

    >>> quoted_row("é\n".encode())
    b'"\\303\\251\\n",\n    ""'
    """
    return b'"' + _IN_ROWS.sub(lambda found: _ROWS[found[0]], text.rstrip(b"\0")) + b'"'


def quoted_member(text: bytes) -> bytes:
    """Return the characters of a member of a compound or of a sequence: all in ASCII, on one line."""
    return b'"' + _IN_ROWS.sub(lambda found: _MEMBERS[found[0]], text.rstrip(b"\0")) + b'"'


def quoted_string(text: str | None) -> bytes:
    r"""Return a string, or `NIL` for one that is not there.

    A vertical tab is written as it is read, where ncdump makes it the end of a line.

    >>> quoted_string("é\v"), quoted_string(None)
    (b'"\xc3\xa9\\v"', b'NIL')
    """
    if text is None:
        return b"NIL"
    raw = text.encode("utf-8", "surrogateescape")
    return b'"' + _IN_TEXT.sub(lambda found: _TEXT[found[0]], raw) + b'"'
