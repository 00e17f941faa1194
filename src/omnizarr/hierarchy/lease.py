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
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from threading import Condition, Event, Thread
from typing import Final, Self
from uuid import uuid4

from omnizarr.errors import ConflictError, OmnizarrError, StoreError
from omnizarr.store.tagged import Conditional

NAME: Final = ".omnizarr-lease"
"""The document's name, in the folder of the array."""

_DEAD: Final = 20.0
"""Seconds without a sign of life."""
_RENEWED: Final = 5.0
_LONGEST: Final = 600.0


class _Turns:
    """The places at which a thread of this process is at work."""

    def __init__(self) -> None:
        self.busy: Final[set[str]] = set()
        self.free: Final = Condition()


def _begin() -> None:
    """Begin with nobody at work: a forked child has none of the threads that are."""
    global _turns  # noqa: PLW0603 - there is one for each process
    _turns = _Turns()


_turns = _Turns()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)


@contextmanager
def turn(places: Iterable[str]) -> Generator[None, None, None]:
    """Keep other threads of this process from work at some places; to be taken before all other locks."""
    turns, wanted = _turns, set(places)
    with turns.free:
        turns.free.wait_for(lambda: turns.busy.isdisjoint(wanted))
        turns.busy.update(wanted)
    try:
        yield
    finally:
        if turns is _turns:  # else this is a child, which has begun anew
            with turns.free:
                turns.busy.difference_update(wanted)
                turns.free.notify_all()


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
        Thread(target=self._renew, name="omnizarr-lease", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._done.set()
        # What was on its way when something failed may still arrive: the lease runs out when it no longer can.
        doubtful = kind is not None and (issubclass(kind, StoreError) or not issubclass(kind, Exception))
        if self.is_held and not doubtful:
            # What cannot be erased now is taken over by the next when its time has run out. It may be another's by now,
            # if the array was replaced. Renewed on condition that it is not, it stays this one's until it is erased.
            with suppress(OmnizarrError):
                if self._store.put_if(self._key, self._document(), self._tag) is not None or self._own() is not None:
                    self._store.erase(self._key)  # type: ignore[attr-defined]  # every store can

    @property
    def is_held(self) -> bool:
        """Whether nobody can have taken it over yet."""
        return self._tag is not None and time.monotonic() - self._renewed < _DEAD / 2

    def check(self) -> None:
        """Raise if it was lost.

        Raises:
            ConflictError: If so.
        """
        if not self.is_held:
            raise ConflictError("it took so long without an answer that others may have gone on", key=self._key)

    def _document(self) -> bytes:
        self._turn += 1
        return json.dumps({"owner": self._owner, "turn": self._turn}).encode()

    def _acquire(self) -> str:
        seen, since, started = "", 0.0, time.monotonic()
        while time.monotonic() - started < _LONGEST:
            self._renewed = time.monotonic()
            tag = self._store.put_if(self._key, self._document(), None)
            if tag is not None:
                return tag
            found = self._store.get_tagged(self._key)
            if found is None:
                time.sleep(0.02 + 0.1 * random.random())  # noqa: S311 - only to spread attempts
                continue
            if found[1] != seen:
                seen, since = found[1], time.monotonic()
            elif time.monotonic() - since > _DEAD:
                self._renewed = time.monotonic()
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
                tag = self._store.put_if(self._key, self._document(), self._tag) or self._own()
            except OmnizarrError:  # the next attempt may succeed before the time has run out
                continue
            if self._done.is_set():
                return
            self._tag = tag
            if tag is None:
                return
            self._renewed = now

    def _own(self) -> str | None:
        """Return the tag of the lease if it is this one after all: an earlier renewal may have come through unheard."""
        found = self._store.get_tagged(self._key)
        return found[1] if found is not None and self._owner.encode() in found[0] else None
