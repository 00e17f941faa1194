"""Files that are open for the sake of their locks, which processes that are forked meanwhile do not keep."""

from __future__ import annotations

import os
import sys
from _thread import RLock
from contextlib import suppress
from typing import Final

if sys.platform != "win32":
    import fcntl

_opening: Final = RLock()
"""Held while a file is opened and noted down, so that no process is forked between the two."""

_held: Final[set[LockedFile]] = set()


class LockedFile:
    """A file, or folder, that is open for the sake of its lock.

    The lock belongs to the open file, and a child that is forked meanwhile has that as well: it would keep others
    waiting for as long as it lives, were this process killed. So children close what they have got.

    Raises:
        OSError: If it cannot be opened.
    """

    __slots__ = ("_identity", "_number")

    def __init__(self, place: str, how: int) -> None:
        with _opening:
            self._number = os.open(place, how)
            _held.add(self)
        self._identity: tuple[int, int] | None = None

    def lock(self, *, wait: bool = True) -> None:
        """Wait until nobody else holds it, or else raise `BlockingIOError`; any other `OSError`: there are no locks."""
        fcntl.flock(self._number, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def stat(self) -> os.stat_result:
        """Return what the system knows of the open file."""
        return os.fstat(self._number)

    def is_at(self, place: str) -> bool:
        """Whether it is what has a name by now."""
        try:
            if self._identity is None:  # which never changes
                ours = os.fstat(self._number)
                self._identity = ours.st_ino, ours.st_dev
            there = os.stat(place)  # noqa: PTH116 - pathlib takes longer to import
        except OSError:
            return False
        return self._identity == (there.st_ino, there.st_dev)

    def let_go(self) -> None:
        """Unlock and close it. In a child that was forked since, nothing is left to do."""
        if self not in _held:
            return
        # A child that was made by other means than Python's has the lock, so closing the file would not be enough.
        try:  # noqa: SIM105 - suppress takes longer, and every append gets here
            fcntl.flock(self._number, fcntl.LOCK_UN)
        except OSError:  # there are no locks
            pass
        # In this order: by the time that it is closed, its number may be that of another thread's file.
        _held.discard(self)
        os.close(self._number)

    def forget(self) -> None:
        """Close it, but leave the lock to the process that has forked this one."""
        with suppress(OSError):
            os.close(self._number)


def _forget_all() -> None:
    for one in _held:
        one.forget()
    _held.clear()
    _opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_forget_all)
