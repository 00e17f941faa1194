"""A note in the target of long work that says what is under way there, so that it can go on after it was stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Final, NamedTuple

from omnizarr.errors import ConflictError, ExistsError
from omnizarr.store.protocol import Store

NAME: Final = ".omnizarr-copy.json"
"""The key of the note, below the path of the node that is being made."""


class Note(NamedTuple):
    """What is under way."""

    source: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    fingerprint: str
    """A hash of the source's keys and documents."""


def fingerprint(keys: Iterable[str], documents: Iterable[bytes | None]) -> str:
    """Return a hash of keys and of the texts of documents."""
    digest = hashlib.sha256()
    for key in keys:
        digest.update(key.encode() + b"\0")
    for text in documents:
        digest.update(b"\1" + (text or b""))
    return digest.hexdigest()


def read(store: Store, start: str) -> Note | None:
    """Return the note, or `None` if there is none or it says nothing that can be understood."""
    data = store.get(start + NAME)
    if data is None:
        return None
    try:
        found = json.loads(data)
        return Note(str(found["source"]), tuple(found["include"]), tuple(found["exclude"]), str(found["fingerprint"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return Note("something that cannot be told", (), (), "")


def write(store: Store, start: str, note: Note) -> None:
    """Leave a note."""
    store.put(start + NAME, json.dumps(note._asdict(), indent=2).encode() + b"\n")


def check_same(old: Note, new: Note, path: str) -> None:
    """Raise unless the work under way is what was asked for.

    Raises:
        ExistsError: Something else is under way.
        ConflictError: The source is no longer what it was.
    """
    if old[:3] != new[:3]:
        raise ExistsError(
            f"an unfinished copy of {old.source} is there",
            path=path,
            hint="finish that one in the same way as it was begun\npass overwrite=True to replace it",
        )
    if old.fingerprint != new.fingerprint:
        raise ConflictError(
            "the source has changed since the copy was begun",
            path=path,
            hint="pass overwrite=True to begin anew",
        )
