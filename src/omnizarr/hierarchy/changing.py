"""Changing metadata that others may change at the same time.

In this process one lock is enough. No other process's change is lost either. Where the store can put on condition, as
object stores can, a change is made to what was read, put only if that is still there, and made anew if it is not; who
adds to an array, or resizes it, keeps others from doing so by a lease in the store. In a folder, whoever changes an
array locks its folder. Of a group the document is locked, since every change below it may change that as well.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

from omnizarr.format.dialects import WRITABLE, dialect
from omnizarr.hierarchy.context import Context
from omnizarr.late import LateModule
from omnizarr.store.folder_lock import Held, document_lock, folder_lock
from omnizarr.store.tagged import Conditional, TaggedStore, conditional, retried

if TYPE_CHECKING:
    from omnizarr.hierarchy import lease
else:
    lease = LateModule("omnizarr.hierarchy.lease")

_T = TypeVar("_T")


def changed(context: Context, path: str, change: Callable[[Context], _T]) -> _T:
    """Make a change with the lock held, again and again until nobody came between.

    Others are kept away by the caller where a store has locks; where it can put on condition that is not needed.

    Args:
        context: The store, opened for writing.
        path: The node's path.
        change: Reads what it changes through the context that it is given, and writes it there.

    Raises:
        ConflictError: If others are quicker time after time.
    """
    with context.lock, context.placing(path):
        target = conditional(context.store)
        if target is None:
            return change(context)
        return retried(lambda: change(context.over(TaggedStore(context.store, target))), path or "/")


def changed_group(context: Context, path: str, form: str, change: Callable[[Context], _T]) -> _T:
    """Make a change of a group's documents, as `changed` does, with others kept away from them."""
    with context.lock, documents_lock(context, path, form):
        return changed(context, path, change)


def array_lock(context: Context, path: str, form: str) -> Held:
    """Keep others from changing an array, where the store is a folder.

    To be taken before the lock of the context: whoever appends to several arrays has it long before that.
    """
    return folder_lock(context.store, path, dialect(form).documents)


def alone(context: Context, path: str, form: str) -> AbstractContextManager[Held | lease.Lease]:
    """Keep others from changing the shape of an array, where the store is a folder or can put on condition.

    Returns:
        What holds it, whose `check` is to be called before each step that must not meet those of others.
    """
    target = conditional(context.store, path + "/" if path else "")
    return array_lock(context, path, form) if target is None else _leased(context, target)


@contextmanager
def _leased(context: Context, target: tuple[Conditional, str]) -> Generator[lease.Lease, None, None]:
    with context.lock, lease.Lease(*target) as held:  # one thread of this process at a time asks for it
        yield held


@contextmanager
def seized(context: Context, path: str) -> Generator[None, None, None]:
    """Hold a node that is erased, moved or replaced, so that nobody who is changing it brings a part of it back.

    Where the store can put on condition, whoever changes it sees by that that it is gone.
    """
    with folder_lock(context.store, path), context.lock, context.placing(path), ExitStack() as documents:
        for form in WRITABLE if conditional(context.store) is None else ():
            documents.enter_context(documents_lock(context, path, form))
        yield


def documents_lock(context: Context, path: str, form: str) -> Held:
    """Keep others from changing a group, and from replacing any node, where the store is a folder.

    To be taken with the lock of the context held.
    """
    start = path + "/" if path else ""
    return document_lock(context.store, [start + name for name in dialect(form).documents])
