"""From CDL text to tokens, one at a time, over bytes."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from omnizarr.nc.cdl.errors import CdlError, Text

_NAME: Final = rb"(?:[A-Za-z_\x80-\xff]|\.(?=[A-Za-z_])|\\[ -.0-~])(?:[A-Za-z0-9_.@+\-\x80-\xff]|\\[ -.0-~])*+"
"""Without a way back, for which a long word would take two hundred times its length."""
_NO_MORE: Final = rb"(?![A-Za-z0-9_.])"

_BLANK: Final = rb"(?:[ \t\r\n\f]++|//[^\n]*+|/\*.*?\*/)*+"
_COMMA: Final = re.compile(rb"[ \t\r\n\f]*,")
_SKIP: Final = re.compile(_BLANK, re.DOTALL)
_TOKEN: Final = re.compile(
    _BLANK + rb"(?:(?P<mark>[{}(),;=:*])"
    rb"|(?P<section>(?:types|dimensions|variables|data|group):)"
    rb"|(?P<word>" + _NAME + rb")"
    rb"|(?P<hex>0[xX][0-9A-Fa-f]+(?:[sS]|[lL]{1,2})?)" + _NO_MORE + rb"|(?P<real>"
    rb"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eEfFdD]))(?:[eE][+-]?[0-9]+)?[fFdDlL]?)" + _NO_MORE + rb"|(?P<integer>"
    rb"[+-]?[0-9]+(?:[uU](?:[bBsS]|[lL]{1,2})?|(?:[bBsS]|[lL]{1,2})[uU]?)?)" + _NO_MORE + rb"|(?P<special>"
    rb"[+-](?:NaNf?|nanf?|Infinityf?|[Ii]nff?))(?![A-Za-z0-9_.@+\-])"
    rb'|(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")'
    rb"|(?P<char>'''|'(?:[^\\']|\\[0-7]{1,3}|\\[xX][0-9A-Fa-f]{2}|\\.)')"
    rb"|(?P<path>/(?![/*])(?:" + _NAME + rb"(?:/" + _NAME + rb")*)?))",
    re.DOTALL,
)
_HEADER: Final = re.compile(rb"([^{]+)(?=\{)")
_ESCAPED: Final = re.compile(rb"\\(.)", re.DOTALL)


class Token(NamedTuple):
    """A piece of text with a meaning."""

    kind: str
    """The name of a group of the pattern above; for a mark the mark itself; at the end of the text "end"."""
    text: bytes
    at: int
    end: int


class Lexer:
    """Tokens of a text from a place on; `peek` looks at the next one, `take` steps over it."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.here = 3 if text.data.startswith(b"\xef\xbb\xbf") else 0
        self._next: Token | None = None

    def peek(self) -> Token:
        """Return the next token without stepping over it."""
        if self._next is None:
            self._next = self._scan()
        return self._next

    def take(self) -> Token:
        """Return the next token and step over it."""
        token = self.peek()
        self.here, self._next = token.end, None
        return token

    def seek(self, place: int) -> None:
        """Go on at a place of the text."""
        self.here, self._next = place, None

    def expect(self, kind: str, what: str | None = None) -> Token:
        """Return the next token, which must be of a kind.

        Raises:
            CdlError: If it is of another.
        """
        token = self.peek()
        if token.kind != kind:
            raise self.unexpected(what or f"'{kind}'")
        return self.take()

    def accept(self, kind: str) -> bool:
        """Step over the next token if it is of a kind."""
        if self.peek().kind == kind:
            self.take()
            return True
        return False

    def comma(self) -> bool:
        """Step over a comma if it comes next; as `accept`, and faster."""
        if self._next is None:
            found = _COMMA.match(self.text.data, self.here)
            if found is not None:
                self.here = found.end()
                return True
        return self.accept(",")

    def unexpected(self, wanted: str, hint: str | None = None) -> CdlError:
        """Return an error that says what should stand where the next token is."""
        token = self.peek()
        found = "the end" if token.kind == "end" else f"'{token.text[:40].decode('utf-8', 'replace')}'"
        return self.text.error(token.at, f"expected {wanted}, found {found}", hint)

    def name(self, token: Token) -> str:
        """Return the name that a word means.

        Raises:
            CdlError: If it is not UTF-8.
        """
        return self._decoded(token.text, token.at)

    def names(self, token: Token) -> list[str]:
        """Return the names that a path leads over; none for that of the root."""
        return [self._decoded(part, token.at) for part in token.text[1:].split(b"/") if part]

    def header(self) -> str:
        """Return what stands before the next brace: the name of a dataset, without blanks."""
        found = _HEADER.match(self.text.data, self.here)
        if found is None:
            raise self.unexpected("the name of the dataset and '{'")
        self.seek(found.end())
        kept = b"".join(re.findall(rb"\\.|[^\s\\]++", found[1]))
        return self._decoded(kept, found.start())

    def _decoded(self, part: bytes, at: int) -> str:
        try:
            text = _ESCAPED.sub(rb"\1", part).decode() if b"\\" in part else part.decode()
        except UnicodeDecodeError:
            raise self.text.error(at, "the name is not UTF-8") from None
        return text if text.isascii() else unicodedata.normalize("NFC", text)

    def _scan(self) -> Token:
        found = _TOKEN.match(self.text.data, self.here)
        if found is None:
            return self._no_token()
        kind = found.lastgroup or ""
        part = found[kind]
        start, end = found.span(kind)
        return Token(part.decode() if kind == "mark" else kind, part, start, end)

    def _no_token(self) -> Token:
        blank = _SKIP.match(self.text.data, self.here)
        start = blank.end() if blank else self.here
        if start >= len(self.text.data):
            return Token("end", b"", start, start)
        if self.text.data.startswith(b"/*", start):
            raise self.text.error(start, "this comment has no end")
        raise self._odd(start)

    def _odd(self, start: int) -> CdlError:
        first = self.text.data[start : start + 1]
        if first == b'"':
            return self.text.error(start, "this string has no end")
        if first == b"'":
            return self.text.error(start, "this is no character in quotes", "Text stands in double quotes.")
        if first in b"0123456789+-.":
            return self.text.error(start, "this is no number")
        return self.text.error(start, f"unexpected {first.decode('latin-1')!r}")
