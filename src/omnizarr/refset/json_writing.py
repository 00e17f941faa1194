"""Writing reference sets as JSON, as fsspec and kerchunk read it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from json.encoder import encode_basestring_ascii
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from omnizarr import native
from omnizarr.errors import ExistsError, MetadataError, StoreError, warn
from omnizarr.format.dialects import DIALECTS
from omnizarr.late import LateModule
from omnizarr.refset.grids import grids
from omnizarr.refset.json_reading import template_of
from omnizarr.refset.model import References
from omnizarr.store.cloud.opening import is_cloud
from omnizarr.store.file import local_path
from omnizarr.store.left import sweep_beside

Form: TypeAlias = Literal["json", "json.gz", "json.zst"]

cloud_objects: Any = LateModule("omnizarr.store.cloud.objects")

_NAMES: Final = frozenset(name for one in DIALECTS.values() for name in one.documents)
_ROWS: Final = 1 << 18  # of an array at a time
_PACKED: Final = {"json.gz": "gzip", "json.zst": "zstd"}
_LEAST_SHARED: Final = 8


def write_json(
    references: References,
    where: str | os.PathLike[str],
    *,
    version: Literal[0, 1] = 1,
    form: Form | None = None,
    objects: bool = False,
    templates: bool = False,
    overwrite: bool = False,
) -> None:
    """Write a set to a file, which is not there before it is whole.

    Args:
        references: The set.
        where: The file.
        version: Version 0 has no place for what tells whether a source has changed.
        form: How it is packed; by default as the name says: `.gz`, `.zst`, or not at all.
        objects: Whether documents are written as JSON objects instead of text.
        templates: Whether what all URLs of a folder begin with becomes a template.
        overwrite: Whether to replace what is there.

    Raises:
        ExistsError: If something is there.
        MetadataError: If the documents and the columns contradict each other.
    """
    far = is_cloud(where)
    path = str(where).partition("#")[0] if far else local_path(where)
    if not overwrite and (cloud_objects.object_exists(str(where)) if far else os.path.lexists(path)):
        raise ExistsError("there is something already", path=path, hint="overwrite=True replaces it.")
    chosen = form or _form_of(path)
    pieces = pieces_of(references, version=version, objects=objects, templates=templates)
    if far:
        text = b"".join(pieces)
        cloud_objects.put_object(str(where), native.packed(text, _PACKED[chosen]) if chosen in _PACKED else text)
        return
    sweep_beside(path)
    part = f"{path}.{os.getpid():x}{os.urandom(4).hex()}.partial"
    try:
        with open(part, "xb") as file:  # noqa: PTH123 - the path is text already
            if chosen in _PACKED:
                file.write(native.packed(b"".join(pieces), _PACKED[chosen]))
            else:
                file.writelines(pieces)
        os.replace(part, path)  # noqa: PTH105 - as above
    except OSError as error:
        raise StoreError(f"the set cannot be written: {error.strerror or error}", path=path) from None
    finally:
        with suppress(OSError):  # it has its name by now, or the next one sweeps it
            os.unlink(part)  # noqa: PTH108 - as above


def _form_of(path: str) -> Form:
    return "json.gz" if path.endswith(".gz") else "json.zst" if path.endswith((".zst", ".zstd")) else "json"


def dumps(references: References, *, version: Literal[0, 1] = 1, objects: bool = False) -> bytes:
    """Return a set as the bytes of its JSON.

    >>> dumps(References(documents={"note": b"some text"}), version=0)
    b'{"note":"some text"}'
    """
    return b"".join(pieces_of(references, version=version, objects=objects))


def pieces_of(
    references: References, *, version: Literal[0, 1] = 1, objects: bool = False, templates: bool = False
) -> Iterator[bytes]:
    """Go through the bytes of a set's JSON, in pieces: documents first, then references."""
    if version not in (0, 1):
        raise MetadataError(f"there is no version {version!r} of reference sets")
    urls = references.urls
    if version == 1:
        urls, prefixes = _shortened(urls) if templates else (urls, dict[str, str]())
        head = {"version": 1, **({"templates": prefixes} if prefixes else {}), **_own(references)}
        yield json.dumps(head, separators=(",", ":")).encode()[:-1] + b',"refs":{'
    else:
        if references.stamps:
            warn("version 0 of reference sets does not keep what tells whether a source has changed")
        yield b"{"
    # A comma follows each member, and is put before the next piece instead.
    comma = b""
    for piece in _members(references, urls, objects=objects):
        yield comma + piece[:-1]
        comma = piece[-1:]
    yield b"}}" if version == 1 else b"}"


def _own(references: References) -> dict[str, object]:
    """Return what only Omnizarr reads: what the sources were like."""
    sources = {
        url: {name: value for name, value in stamp._asdict().items() if value is not None}
        for url, stamp in references.stamps.items()
    }
    return {"omnizarr": {"sources": sources}} if sources else {}


def _members(references: References, urls: list[str], *, objects: bool) -> Iterator[bytes]:
    """Go through members of the object of references, in pieces of some, each of which ends in a comma."""
    writer = native.JsonWriter(urls)
    for key, data in references.documents.items():
        yield f"{encode_basestring_ascii(key)}:{_document(key, data, writer, objects=objects)},".encode()
    known = grids(references.documents, refused={})
    for path, chunks in references.arrays.items():
        if path not in known:
            raise MetadataError("there are chunks but no document of an array", path=path)
        grid = known[path]
        if grid.counts != chunks.counts:
            raise MetadataError(
                f"references for a grid of {chunks.counts} chunks where it has {grid.counts}", path=path
            )
        for first in range(0, len(chunks), _ROWS):
            rows = slice(first, first + _ROWS)
            piece = writer.rows(
                path,
                template_of(grid.keys),
                grid.counts,
                None if chunks.numbers is None else np.ascontiguousarray(chunks.numbers[rows]),
                first,
                np.ascontiguousarray(chunks.urls[rows]),
                np.ascontiguousarray(chunks.offsets[rows]),
                np.ascontiguousarray(chunks.lengths[rows]),
                chunks.inline,
            )
            if piece:
                yield piece
    changed = dict(zip(references.urls, urls, strict=True))
    for key, value in references.others.items():
        if isinstance(value, bytes):
            text = writer.data(value)
        else:
            text = json.dumps([changed.get(value[0], value[0]), *value[1:]], separators=(",", ":"))
        yield f"{encode_basestring_ascii(key)}:{text},".encode()


def _document(key: str, data: bytes, writer: native.JsonWriter, *, objects: bool) -> str:
    if key.rpartition("/")[2] not in _NAMES:
        return writer.data(data)
    try:
        text = data.decode()
        # Text that begins so would be decoded.
        if objects and text.lstrip().startswith("{") and isinstance(json.loads(text), dict):
            return text
    except ValueError:  # no text, or no JSON: whoever reads it shall see that
        return writer.data(data)
    return writer.data(data) if text.startswith("base64:") else encode_basestring_ascii(text)


def _shortened(urls: list[str]) -> tuple[list[str], dict[str, str]]:
    """Put a template in place of folders that many URLs lie in."""
    if any(re.search(r"\{\{|\{%|\{#", url) for url in urls):
        return urls, {}
    folders: dict[str, int] = {}
    for url in urls:
        folder = url.rpartition("/")[0]
        folders[folder] = folders.get(folder, 0) + 1
    often = [folder for folder, count in folders.items() if count > 1 and len(folder) >= _LEAST_SHARED]
    names = {folder: f"u{i}" if i else "u" for i, folder in enumerate(often)}
    short = [
        f"{{{{{names[folder]}}}}}{url[len(folder) :]}" if (folder := url.rpartition("/")[0]) in names else url
        for url in urls
    ]
    return short, {name: folder for folder, name in names.items()}
