"""The right to do something alone for a while, across processes and machines.

It is a small document beside the array's own, made on condition that there is none, and renewed while it is held. One
that nobody has renewed for long is that of a dead process, and is taken over. Who waits measures that with its own
clock, so that clocks need not agree.
"""

from __future__ import annotations

import json
import os
import random
import time
from contextlib import suppress
from threading import Event, Thread
from typing import Final, Self
from uuid import uuid4

from omnizarr.errors import ConflictError, OmnizarrError
from omnizarr.store.tagged import ChangedError, Conditional

NAME: Final = ".omnizarr-lease"
"""The document's name, in the folder of the array."""

_DEAD: Final = 20.0
"""Seconds without a sign of life."""
_RENEWED: Final = 5.0
_LONGEST: Final = 600.0


class Lease:
    """Held while a `with` statement runs.

    Args:
        store: What can put on condition.
        prefix: The array's path there: empty, or ending in "/".
    """

    def __init__(self, store: Conditional, prefix: str) -> None:
        self._store = store
        self._key = prefix + NAME
        self._owner = f"{os.uname().nodename if hasattr(os, 'uname') else 'host'}-{os.getpid()}-{uuid4().hex}"
        self._turn = 0
        self._tag: str | None = None
        self._renewed = 0.0
        self._done = Event()

    def __enter__(self) -> Self:
        self._tag = self._acquire()
        self._renewed = time.monotonic()
        Thread(target=self._renew, name="omnizarr-lease", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self.is_held:
            # What cannot be erased now is taken over by the next when its time has run out.
            with suppress(OmnizarrError):
                self._store.erase(self._key)  # type: ignore[attr-defined]  # every store can

    @property
    def is_held(self) -> bool:
        """Whether nobody can have taken it over yet."""
        return self._tag is not None and time.monotonic() - self._renewed < _DEAD / 2

    def check(self) -> None:
        """Raise if it was lost.

        Raises:
            ChangedError: If so.
        """
        if not self.is_held:
            raise ChangedError("took so long that others may have gone on", key=self._key)

    def _document(self) -> bytes:
        self._turn += 1
        return json.dumps({"owner": self._owner, "turn": self._turn}).encode()

    def _acquire(self) -> str:
        seen, since, started = "", 0.0, time.monotonic()
        while time.monotonic() - started < _LONGEST:
            tag = self._store.put_if(self._key, self._document(), None)
            if tag is not None:
                return tag
            found = self._store.get_tagged(self._key)
            if found is None:
                continue
            if found[1] != seen:
                seen, since = found[1], time.monotonic()
            elif time.monotonic() - since > _DEAD:
                tag = self._store.put_if(self._key, self._document(), seen)
                if tag is not None:
                    return tag
            time.sleep(0.02 + 0.1 * random.random())  # noqa: S311 - only to spread attempts
        raise ConflictError(
            "another program has been changing the array for minutes",
            key=self._key,
            hint=f"If none does, erase {NAME!r} there.",
        )

    def _renew(self) -> None:
        while not self._done.wait(_RENEWED):
            now = time.monotonic()
            try:
                tag = self._store.put_if(self._key, self._document(), self._tag)
            except OmnizarrError:  # the next attempt may succeed before the time has run out
                continue
            if self._done.is_set():
                return
            self._tag = tag
            if tag is None:
                return
            self._renewed = now
