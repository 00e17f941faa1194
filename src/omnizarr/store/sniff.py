"""What a file is that is not a store, from its first bytes."""

from __future__ import annotations

import os
import re
import stat
import zlib
from typing import BinaryIO, Final, NamedTuple

from omnizarr.errors import OmnizarrError, UnsafeError
from omnizarr.native import unpacked

_HEAD: Final = 1 << 16

_MAGIC: Final = (
    (b"\x89HDF\r\n\x1a\n", "HDF5 file"),
    (b"\x0e\x03\x13\x01", "HDF4 file"),
    (b"CDF\x01", "netCDF classic file"),
    (b"CDF\x02", "netCDF classic file"),
    (b"CDF\x05", "netCDF classic file"),
    (b"GRIB", "GRIB file"),
    (b"BUFR", "BUFR file"),
    (b"II*\0", "TIFF file"),
    (b"MM\0*", "TIFF file"),
    (b"II+\0", "TIFF file"),
    (b"MM\0+", "TIFF file"),
    (b"SIMPLE  =", "FITS file"),
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"PAR1", "parquet file"),
    (b"\x93NUMPY", "NumPy file"),
    (b"PK\x03\x04", "zip file"),
    (b"PK\x05\x06", "zip file"),
    (b"\x1f\x8b", "gzip file"),
    (b"BZh", "bzip2 file"),
    (b"\xfd7zXZ\0", "xz file"),
    (b"\x28\xb5\x2f\xfd", "zstd file"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip file"),
    (b"%PDF", "PDF document"),
    (b"SQLite format 3\0", "SQLite file"),
)
SCANNED: Final = frozenset({"HDF5 file", "netCDF classic file", "GRIB file", "TIFF file", "FITS file"})
"""Files that open as hierarchies to read, once `omnizarr.refs` has looked for the places of their values."""

_PAGES: Final = ((b"<!doctype html", "HTML page"), (b"<html", "HTML page"), (b"<?xml", "XML document"))

_CURES: Final = {
    "HDF5 file": 'It opens with mode="r"; `omnizarr.Dataset` and `oz dump` open it, too; `oz copy` makes Zarr of it.',
    "netCDF classic file": 'It opens with mode="r", also by `omnizarr.Dataset`; `oz copy` makes Zarr of it.',
    "HDF4 file": "`h4toh5`, of the HDF Group, makes HDF5 of it.",
    "GRIB file": 'It opens with mode="r".',
    "TIFF file": 'It opens with mode="r".',
    "FITS file": 'It opens with mode="r".',
    "reference set": "`omnizarr.open` and `oz info` open it.",
    "parquet file": "A reference set in parquet is the folder around such files: open that.",
    "tar file": "Unpack it into a directory.",
    "gzip file": "Unpack it first.",
    "bzip2 file": "Unpack it first.",
    "xz file": "Unpack it first.",
    "zstd file": "Unpack it first.",
    "7-Zip file": "Unpack it first.",
    "NumPy file": "numpy.load reads it; omnizarr.create_array(where, data=…) stores what it gives.",
    "HTML page": "A server seems to have sent a page in place of the data.",
}


SET: Final = "reference set"
"""What a reference set in JSON is called, packed or not."""

_PACKED: Final = frozenset(("gzip file", "zstd file"))
_MOST_PACKED: Final = 1 << 29
_MOST_UNPACKED: Final = 1 << 32

# Strings, not compiled patterns: compiling takes longer than importing.
_IS_SET: Final = rb'"(?:refs|gen)"\s*:|\.z(?:array|group|attrs|metadata)"\s*:|zarr\.json"\s*:'
_IS_REFERENCE: Final = rb'"\s*:\s*\[\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*(?:,\s*\d+\s*,\s*\d+\s*)?\]'


class Sniffed(NamedTuple):
    """What a file is."""

    what: str
    """A noun, such as "PNG image"."""

    cure: str = ""
    """What can be done about it, if anything."""


def with_article(what: str) -> str:
    """Put "a" or "an" before a noun.

    >>> with_article("HTML page"), with_article("NumPy file"), with_article("netCDF file")
    ('an HTML page', 'a NumPy file', 'a netCDF file')
    """
    vowel = what[:1] in "aeiou" or what.startswith(("HTML", "HDF", "XML", "xz", "FITS", "N5", "SQ"))
    return f"{'an' if vowel else 'a'} {what}"


def sniff_file(path: str) -> Sniffed | None:
    """Say what is at a path of the file system; `None` for a directory.

    Nothing but regular files is opened: a pipe would wait for ever.

    Raises:
        UnsafeError: If no file can have such a path.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - as below
    except FileNotFoundError:
        return Sniffed("missing")
    except OSError as error:  # a loop of links, a folder that may not be looked into, a name that is too long
        return Sniffed("unreadable", error.strerror or "")
    except ValueError as error:  # a NUL, or half of a pair of surrogates
        raise UnsafeError(f"{path!r} is not a path: {error}", hint="pass the name of a file or folder") from error
    if stat.S_ISDIR(mode):
        return None
    if not stat.S_ISREG(mode):
        return Sniffed("pipe" if stat.S_ISFIFO(mode) else "device", "Copy what it gives into a file.")
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes longer to import than all stores together
            head = file.read(_HEAD)
            found = sniff(head, whole=len(head) < _HEAD)
            # Files that are packed are opened as they are only if a reference set is in them.
            inner = sniff(_inside(found.what, file)) if found.what in _PACKED else found
            return inner if inner.what == SET else found
    except OSError as error:
        return Sniffed("unreadable", error.strerror or "")


def _inside(what: str, file: BinaryIO) -> bytes:
    """Return the first bytes of what is packed in a file, as far as that can be told."""
    file.seek(0)
    try:
        if what == "gzip file":
            return zlib.decompressobj(31).decompress(file.read(_HEAD), _HEAD)
        return (unpacked(file.read(_MOST_PACKED), _MOST_UNPACKED) or b"")[:_HEAD]
    except (OmnizarrError, zlib.error):
        return b""


def above(path: str) -> tuple[str, str, str]:
    """Return the file or folder that a path which does not exist leads into, the path within it, and what it is."""
    inside = ""
    while not os.path.lexists(path):
        path, name = os.path.split(path)
        if not name:
            return path, inside, "missing"
        inside = f"{name}/{inside}".rstrip("/")
    found = sniff_file(path)
    return path, inside, "folder" if found is None else found.what


def sniff(head: bytes, *, whole: bool = False) -> Sniffed:
    """Say what a file is that begins so.

    Args:
        head: Its first bytes.
        whole: Whether these are all.

    >>> sniff(b"<!DOCTYPE html><title>Not found</title>").what, sniff(b"").what
    ('HTML page', 'empty file')
    """
    what = _what(head)
    if whole and what == "JSON document" and not _is_json(head):
        what = "damaged JSON document"
    return Sniffed(what, _CURES.get(what, ""))


def _what(head: bytes) -> str:
    if not head:
        return "empty file"
    known = next((what for magic, what in _MAGIC if head.startswith(magic)), None)
    # Before HDF5's own bytes a block of a user's may come, of a power of two.
    if known is None and any(head[at : at + 8] == _MAGIC[0][0] for at in (512, 1024, 2048, 4096, 8192)):
        known = "HDF5 file"
    if known is None and head[257:262] == b"ustar":
        known = "tar file"
    return known or _what_text(head)


def _what_text(head: bytes) -> str:
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    for start, what in _PAGES:
        if text[: len(start)].lower() == start:
            return what
    if text[:1] in (b"{", b"["):
        found = text[:1] == b"{" and (re.search(_IS_SET, head) or re.search(_IS_REFERENCE, head))
        return SET if found else "JSON document"
    return "text file" if _is_text(head) else "binary file"


def _is_json(text: bytes) -> bool:
    import json  # noqa: PLC0415 - few files are looked at so closely

    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3  # a character may be cut off at the end
    return True


def is_set_name(name: str) -> bool:
    """Whether a name is one that reference sets have.

    >>> is_set_name("https://example.org/days.json.zst?x=1"), is_set_name("days.zarr")
    (True, False)
    """
    return name.partition("?")[0].rstrip("/").lower().endswith((".json", ".json.gz", ".json.zst", ".parq", ".parquet"))
