"""A note in the target of long work that says what is under way there, so that it can go on after it was stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Final, NamedTuple

from omnizarr.errors import ConflictError, ExistsError
from omnizarr.hierarchy.first import way_to_be_first
from omnizarr.hierarchy.left import COPYING
from omnizarr.store.protocol import Store
from omnizarr.store.tagged import conditional

NAME: Final = COPYING
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


def write(store: Store, start: str, note: Note, path: str) -> None:
    """Leave a note, unless another program has left one since it was looked for.

    Raises:
        ExistsError: If one has.
    """
    if not put_unless_there(store, start + NAME, json.dumps(note._asdict(), indent=2).encode() + b"\n"):
        raise ExistsError("another program has begun a copy there at the same time", path=path)


def check_mine(store: Store, start: str, note: Note, path: str) -> None:
    """Raise if the note is no longer there, or is of another copy that has taken the place.

    Raises:
        ConflictError: If so.
    """
    if read(store, start) != note:
        raise ConflictError("another program has erased the copy, or replaced it by another, meanwhile", path=path)


def put_unless_there(store: Store, key: str, data: bytes) -> bool:
    """Put a value unless there is one; return whether it was put. Of several programs one does where a store can tell.

    Elsewhere, as in memory, whoever asks holds the lock of the store.
    """
    target = conditional(store)
    if target is not None:
        return target[0].put_if(target[1] + key, data, None) is not None
    put_new = way_to_be_first(store)
    if put_new is not None:
        return put_new(key, data) is not None
    if store.exists(key):
        return False
    store.put(key, data)
    return True


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
