"""Changing metadata that others may change at the same time.

In this process one lock is enough. Where the store can put on condition, as object stores can, no other process's
change is lost either: a change is made to what was read, put only if that is still there, and made anew if it is not.
Who adds to an array, or resizes it, keeps others from doing so for that long, by a lease in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.lease import Lease
from omnizarr.store.tagged import TaggedStore, conditional, retried

_T = TypeVar("_T")


def changed(context: Context, path: str, change: Callable[[Context], _T]) -> _T:
    """Make a change with the lock held, again and again until nobody came between.

    Args:
        context: The store, opened for writing.
        path: The node's path, for messages.
        change: Reads what it changes through the context that it is given, and writes it there.

    Raises:
        ConflictError: If others are quicker time after time.
    """
    with context.lock, context.placing(path):
        target = conditional(context.store)
        if target is None:
            return change(context)
        return retried(lambda: change(context.over(TaggedStore(context.store, target))), path or "/")


@contextmanager
def alone(context: Context, path: str) -> Generator[Callable[[], None], None, None]:
    """Keep others from changing the shape of an array, where the store can put on condition.

    Yields:
        What raises an error if others may have gone on meanwhile: to be called before each step that must not meet
        theirs.
    """
    with context.lock:
        target = conditional(context.store, path + "/" if path else "")
        if target is None:
            yield lambda: None
            return
        with Lease(*target) as lease:
            yield lease.check
