"""Errors in words that fit a command line.

The package speaks to who writes Python: "pass overwrite=True". Who types a command has options instead, and places that
look like what was typed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from omnizarr.errors import OmnizarrError
from omnizarr.letters import printable


class Told(NamedTuple):
    """An error: what and where, and what to do about it."""

    text: str
    cure: str | None


# What Python says, what to type instead, and the option that the command must have for that; the first that fits.
_CURES: Final = (
    (r"pass overwrite=True.*", "--overwrite replaces it", "--overwrite"),
    (r"pass overwrite=True.*", "'oz rm' erases it", None),
    (r"If the set is to be trusted, allow the place: .*--allow (.+?) on the command.*",
     r"if the set is to be trusted, --allow \1", "--allow"),
    (r'compat="override" and identical=.*', "--compat override, or --identical NAME, takes what the first file has",
     "--compat"),
    (r'concat=\{"(.+)": …\} takes .*', r"-d '\1=FROM' takes values (1,2,3), a pattern of names, attr:NAME or INDEX",
     "--dim"),
    (r"omnizarr\.refs\.scan makes a set of it.*", "'oz refs scan' makes a set of it", None),
    (r"omnizarr\.refs\.scan\(.*", "'oz refs scan --drop' makes a set of the rest; 'oz dump' and 'oz copy' take all",
     None),
    (r"overwrite=True replaces it\.", "--overwrite replaces it", "--overwrite"),
    (r"(Let it end in .*), or pass form=\.", r"\1, or pass --form", "--form"),
    (r'Leave them out, or pass on_error="skip"\.', "leave them out, or pass --skip-errors", "--skip-errors"),
    (r'[Pp]ass format="(\w+)".*', r"--from \1 chooses that", "--from"),
    (r'(?:Pass|Take) format="(\w+)"(?: or "(\w+)")?\.', r"--to \1", "--to"),
    (r"Pass fill_value=None, which leaves it undefined, or (take another format\.)", r"\1", None),
    (r'mode="a" creates what is missing', "", None),
    (r"[Oo]pen (?:it )?with mode=.*", "", None),
    (r"use open_(?:array|group) or open", "", None),
    (r"(?:[Cc]reate an array there and write the data of this one to it|Write its data to a new array)\.?",
     "'oz convert' writes it in another format", None),
    (r"Copy the data to a directory, or give a mapping.*", "copy the data to a folder first", None),
)  # fmt: skip

# What is left of Python after that helps nobody here.
_PYTHON: Final = re.compile(
    r"(?<!#)\b(?:mode|format|path|overwrite|limits|codecs|shape|data)=|\bLimits\b|\.[ov]index\b"
)

# Settings of Python, most of which are options of the same name.
_WORD: Final = re.compile(r'\b(\w+)=(?:"(\w+)"|\[…\])')

# Places in hints, as one would type them here.
_QUOTED: Final = re.compile(r"'((?:file://)?/[^']*)'")

# A path in the store, which is not all that one has to type.
_NEAR: Final = re.compile(r"did you mean '([^/'][^']*)'\?")

_WARNED: Final = re.compile(r" Pass format= to choose\.")


def told(error: OmnizarrError, options: Collection[str] = ()) -> Told:
    """Return an error as two lines, for a command that has these options."""
    where = [place(error.path)] if error.path else []
    where += [f"key {error.key!r}"] if error.key is not None else []
    where += [f"codec {error.codec!r}"] if error.codec is not None else []
    first, *more = error.message.splitlines() or [""]
    if more and all(line.startswith("  ") for line in more):  # a table, of files that do not fit or cannot be read
        message = "\n".join([printable(_one_line(first)), *map(printable, more)])
        return Told(message, _cures(error, options))
    message = _one_line(error.message) + (f" ({', '.join(where)})" if where else "")
    if error.kind == "cdl":  # the line that is wrong, and a caret below it
        return Told("\n".join(map(printable, error.message.splitlines())), error.hint and printable(error.hint))
    return Told(printable(message), _cures(error, options))


def _cures(error: OmnizarrError, options: Collection[str]) -> str | None:
    cures = (cure_of(_typed(line, error), options) for line in (error.hint or "").splitlines())
    return printable("; ".join(cure for cure in cures if cure)) or None


def warned(message: str) -> str:
    """Return a warning as one line."""
    return printable(_one_line(_WARNED.sub("", message)))


def _typed(hint: str, error: OmnizarrError) -> str:
    """Return a hint at a node of a similar name with all of its place, so that it can be typed."""
    near = _NEAR.fullmatch(hint)
    if near is None or not error.path or not error.message.startswith("no array or group is there"):
        return hint
    return f"did you mean '{error.path.rsplit('/', near[1].count('/') + 1)[0]}/{near[1]}'?"


def cure_of(hint: str, options: Collection[str]) -> str:
    """Return a line of a hint in words for a command that has these options; nothing if it helps only in Python."""
    for pattern, words, needed in _CURES:
        if needed is None or needed in options:
            match = re.fullmatch(pattern, hint.strip())
            if match is not None:
                return match.expand(words)
    hint = _WORD.sub(lambda found: _option(found, options), hint)
    return "" if _PYTHON.search(hint) else _QUOTED.sub(lambda found: repr(place(found[1])), hint.strip())


def _option(found: re.Match[str], options: Collection[str]) -> str:
    """Return a setting of Python as the option of the same name, if the command has it."""
    return f"--{found[1]} {found[2] or 'NAME'}" if f"--{found[1]}" in options else found[0]


def place(path: str) -> str:
    """Return a place as one would type it here."""
    absolute = path
    if path.startswith("file:///"):
        from urllib.parse import unquote  # noqa: PLC0415 - only few texts need it

        absolute = unquote(path.removeprefix("file://"))
    here = os.getcwd().rstrip("/") + "/"  # noqa: PTH109 - pathlib takes long to import
    return absolute.removeprefix(here) or absolute


def _one_line(text: str) -> str:
    return " ".join(text.split())
