"""Changes that lose nobody else's: what was read is replaced only if it is still what it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

from omnizarr.errors import ConflictError
from omnizarr.late import LateModule
from omnizarr.store.protocol import Store
from omnizarr.store.wrap import Wrapper

if TYPE_CHECKING:
    import random

    from typing_extensions import Buffer
else:
    random = LateModule("random")

_T = TypeVar("_T")

_TRIES: Final = 100


class Conditional(Protocol):
    """A store that can put a value on condition of what is there."""

    def get_tagged(self, key: str) -> tuple[bytes, str] | None:
        """Return the value, and the tag of this state of it."""
        ...

    def put_if(self, key: str, data: Buffer, tag: str | None) -> str | None:
        """Store a value if what is there has this tag (None: if nothing is); the new tag, or None if that is not so."""
        ...


class ChangedError(ConflictError):
    """Someone else has changed what was read meanwhile: to be read anew."""


def conditional(store: Store, prefix: str = "") -> tuple[Conditional, str] | None:
    """Return the store that can put on condition, and the prefix of the keys there; None if this one cannot."""
    seen: Any = store
    while (see_through := getattr(seen, "see_through", None)) is not None:
        seen, prefix = see_through(prefix)
    return (cast("Conditional", seen), prefix) if getattr(seen, "conditional", False) else None


def retried(change: Callable[[], _T], what: str) -> _T:
    """Make a change again and again until nobody comes between.

    Args:
        change: Reads what it changes, and raises `ChangedError` if that is another by the time it is put.
        what: What is changed, for messages.

    Raises:
        ConflictError: If others are quicker time after time.
    """
    for attempt in range(_TRIES):
        try:
            return change()
        except ChangedError:
            time.sleep(random.random() * min(0.01 * 2**attempt, 1.0))
    raise ConflictError(f"others changed it, too, and were quicker {_TRIES} times", path=what)


class TaggedStore(Wrapper):
    """A store for one change: it remembers what was read, and puts only over that.

    Args:
        inner: The store.
        target: What can put on condition, and the prefix of the keys there, as `conditional` finds them.
    """

    __slots__ = ("_prefix", "_tags", "_target")

    def __init__(self, inner: Store, target: tuple[Conditional, str]) -> None:
        super().__init__(inner)
        self._target, self._prefix = target
        self._tags: dict[str, str | None] = {}

    @property
    def native(self) -> object | None:
        """The inner store's handle: chunks are written by the kernel, which has its own way."""
        return self.inner.native

    def see_through(self, prefix: str) -> tuple[Store, str]:
        """Tell which store, and which prefix there, the kernel should work on."""
        return self.inner, prefix

    def get(self, key: str) -> bytes | None:
        """Return the value, and remember which state of it this is."""
        found = self._target.get_tagged(self._prefix + key)
        self._tags[key] = None if found is None else found[1]
        return None if found is None else found[0]

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values, as `get` does."""
        return [self.get(key) for key in keys]

    def put(self, key: str, data: Buffer) -> None:
        """Store a value in place of the one that was read.

        Raises:
            ChangedError: If another is there by now.
        """
        if key not in self._tags:
            self.get(key)
        tag = self._target.put_if(self._prefix + key, data, self._tags[key])
        if tag is None:
            del self._tags[key]
            raise ChangedError("someone else has changed it at the same time", key=key, path=self.uri)
        self._tags[key] = tag
