"""Changing metadata that others may change at the same time.

In this process one lock is enough. No other process's change is lost either. Where the store can put on condition, as
object stores can, a change is made to what was read, put only if that is still there, and made anew if it is not. In a
folder the document is locked. Who adds to an array, or resizes it, keeps others from doing so for that long: by a lease
in the store, or by a lock on the array's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

from omnizarr.format.dialects import WRITABLE, dialect
from omnizarr.hierarchy.context import Context
from omnizarr.late import LateModule
from omnizarr.store.folder_lock import Held, document_lock, folder_lock
from omnizarr.store.tagged import TaggedStore, conditional, retried

if TYPE_CHECKING:
    from omnizarr.hierarchy import lease
else:
    lease = LateModule("omnizarr.hierarchy.lease")

_T = TypeVar("_T")


def changed(context: Context, path: str, form: str, change: Callable[[Context], _T]) -> _T:
    """Make a change with the lock held, again and again until nobody came between.

    Args:
        context: The store, opened for writing.
        path: The node's path.
        form: Its format, by whose documents all who change the node know each other.
        change: Reads what it changes through the context that it is given, and writes it there.

    Raises:
        ConflictError: If others are quicker time after time.
    """
    with context.lock, context.placing(path):
        target = conditional(context.store)
        if target is None:
            with _document(context, path, form):
                return change(context)
        return retried(lambda: change(context.over(TaggedStore(context.store, target))), path or "/")


@contextmanager
def alone(context: Context, path: str) -> Generator[Callable[[], None], None, None]:
    """Keep others from changing the shape of an array, where the store is a folder or can put on condition.

    Yields:
        What raises an error if others may have gone on meanwhile: to be called before each step that must not meet
        theirs.
    """
    target = conditional(context.store, path + "/" if path else "")
    if target is None:
        # The folder first, as whoever appends to several arrays has it: that may be another thread.
        with folder_lock(context.store, path) as folder, context.lock:
            yield folder.check
        return
    with context.lock, lease.Lease(*target) as held:
        yield held.check


@contextmanager
def seized(context: Context, path: str) -> Generator[None, None, None]:
    """Hold a node that is erased, moved or replaced, so that nobody who is changing it brings a part of it back.

    Where the store can put on condition, whoever changes it sees by that that it is gone.
    """
    with folder_lock(context.store, path), context.lock, context.placing(path), ExitStack() as documents:
        for form in WRITABLE if conditional(context.store) is None else ():
            documents.enter_context(_document(context, path, form))
        yield


def _document(context: Context, path: str, form: str) -> Held:
    start = path + "/" if path else ""
    return document_lock(context.store, [start + name for name in dialect(form).documents])
