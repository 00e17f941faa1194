"""The files `.ncrc`, `.daprc` and `.dodsrc`: lines of `KEY=value` and `[url]KEY=value`.

The one that NCRCENV_RC names is the only one; else those of the home folder (NCRCENV_HOME, if it is set) and then those
of the working folder are read, and later lines win over earlier ones. NCRCENV_IGNORE turns all of them off.
"""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from omnizarr.errors import OmnizarrError
from omnizarr.store.url.grammar import parse
from omnizarr.store.url.modes import Note
from omnizarr.store.url.settings import Surroundings, read_text

NAMES: Final = (".ncrc", ".daprc", ".dodsrc")


class RcEntry(NamedTuple):
    """A line of such a file."""

    key: str
    value: str
    host: str
    """With port; empty if the line is for every URL."""
    path: str
    where: str
    """File and line."""


class Rc(NamedTuple):
    """All lines of all files, and what was odd about them."""

    entries: tuple[RcEntry, ...]
    notes: tuple[Note, ...]

    def find(self, key: str, host: str = "", path: str = "") -> RcEntry | None:
        """Return the entry that counts for a URL: one for its host and path before one for its host before any.

        Among equals the last one counts. Upper and lower case of keys differ, as in netcdf-c.
        """
        best: RcEntry | None = None
        for entry in self.entries:
            fits = (not entry.host or entry.host == host.lower()) and entry.path in ("", path.rstrip("/"))
            if entry.key == key and fits and (best is None or _rank(entry) >= _rank(best)):
                best = entry
        return best

    def misspelt(self, key: str) -> RcEntry | None:
        """Return an entry whose key is another only by upper and lower case."""
        return next((one for one in self.entries if one.key != key and one.key.upper() == key.upper()), None)


def _rank(entry: RcEntry) -> int:
    return bool(entry.host) + 2 * bool(entry.path)


def read_rc(around: Surroundings) -> Rc:
    """Read all files that count."""
    if "NCRCENV_IGNORE" in around.environ:
        return Rc((), (Note(".rc files", "not read, because NCRCENV_IGNORE is set"),))
    notes: list[Note] = []
    entries: list[RcEntry] = []
    only = around.get("NCRCENV_RC")
    for file in [only] if only else _files(around):
        try:
            text = read_text(file)
        except OSError as error:
            notes.append(Note(".rc files", f"{file} cannot be read: {error.strerror}"))
            continue
        if text is None:
            if only:
                notes.append(Note(".rc files", f"NCRCENV_RC names {file}, which is not there"))
            continue
        entries += _entries(text, file, notes)
    return Rc(tuple(entries), tuple(notes))


def _files(around: Surroundings) -> list[str]:
    folders = [around.get("NCRCENV_HOME") or around.home, around.folder]
    return [os.path.join(folder, name) for folder in dict.fromkeys(folders) if folder for name in NAMES]  # noqa: PTH118


def _entries(text: str, file: str, notes: list[Note]) -> list[RcEntry]:
    found: list[RcEntry] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line, where = raw.strip(), f"{file}:{number}"
        if not line or line.startswith("#"):
            continue
        host = path = ""
        if line.startswith("["):
            start, bracket, line = line[1:].partition("]")
            place = _host_and_path(start) if bracket else None
            if place is None:
                notes.append(Note(".rc files", f"{where} does not begin with a [url]; it is ignored"))
                continue
            host, path = place
        key, _, value = line.partition("=")
        if key.strip():
            found.append(RcEntry(key.strip(), value.strip(), host, path, where))
    return found


def _host_and_path(text: str) -> tuple[str, str] | None:
    try:
        url = parse(text)
    except OmnizarrError:
        return None
    if url is None:
        return None
    return url.host.lower() + (f":{url.port}" if url.port else ""), url.path.rstrip("/")
