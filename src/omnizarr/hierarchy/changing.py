"""Changing metadata that others may change at the same time.

In this process one lock is enough. No other process's change is lost either. Where the store can put on condition, as
object stores can, a change is made to what was read, put only if that is still there, and made anew if it is not; who
adds to an array, or resizes it, keeps others from doing so by a lease in the store. In a folder, whoever changes an
array locks its folder. Of a group the document is locked, since every change below it may change that as well.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from omnizarr.format.dialects import WRITABLE, dialect
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.lock import address
from omnizarr.late import LateModule
from omnizarr.store.folder_lock import BusyError, Held, LateError, document_lock, folder_lock
from omnizarr.store.tagged import Conditional, TaggedStore, conditional, retried

if TYPE_CHECKING:
    from omnizarr.hierarchy import lease
else:
    lease = LateModule("omnizarr.hierarchy.lease")

_T = TypeVar("_T")
_Lock = TypeVar("_Lock")


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


def changed_array(
    context: Context,
    path: str,
    lock: Callable[[], AbstractContextManager[_Lock]],
    change: Callable[[_Lock, Context], _T],
) -> _T:
    """Make a change of an array with a lock of its own held, as `changed` does.

    Where there was no folder to lock, which somebody else has made anew until the document was read, all begins anew.

    Args:
        context: The store, opened for writing.
        path: The array's path.
        lock: Makes the lock.
        change: As for `changed`; it is given what is held first.
    """
    while True:
        with lock() as held, suppress(LateError):
            return changed(context, path, partial(change, held))


def array_lock(context: Context, path: str, form: str, *, wait: bool = True) -> Held:
    """Keep others from changing an array, where the store is a folder.

    To be taken before the lock of the context: whoever appends to several arrays has it long before that.
    """
    return folder_lock(context.store, path, dialect(form).documents, wait=wait)


def alone(context: Context, path: str, form: str) -> AbstractContextManager[Held | lease.Lease]:
    """Keep others from changing the shape of an array, where the store is a folder or can put on condition.

    To be taken before the lock of the context, as `array_lock`.

    Returns:
        What holds it, whose `check` is to be called before each step that must not meet those of others.
    """
    target = conditional(context.store, path + "/" if path else "")
    return array_lock(context, path, form) if target is None else _leased(address(context.store, path), target)


def folder_of(held: Held | lease.Lease) -> Held | None:
    """Return what holds an array's folder, if that is how others are kept away."""
    return held if isinstance(held, Held) else None


@contextmanager
def _leased(place: str, target: tuple[Conditional, str]) -> Generator[lease.Lease, None, None]:
    with lease.turn({place}), lease.Lease(*target) as held:  # one thread of this process at a time asks for it
        yield held


@contextmanager
def seized(context: Context, path: str) -> Generator[None, None, None]:
    """Hold a node that is erased, moved or replaced, so that nobody who is changing it brings a part of it back.

    Where the store can put on condition, whoever changes it sees by that that it is gone.
    """
    with folder_lock(context.store, path), _documents_held(context, path), context.placing(path):
        yield


@contextmanager
def _documents_held(context: Context, path: str) -> Generator[None, None, None]:
    """Hold the lock of the context, and a node's documents.

    Where folders have no locks, whoever changes an array holds its document, and waits for the lock of the context. So
    nobody waits the other way round: what somebody else holds is waited for with nothing in hand, and all begins anew.
    """
    forms = WRITABLE if conditional(context.store) is None else ()
    while True:
        with ExitStack() as held:
            held.enter_context(context.lock)
            busy = ""
            for form in forms:
                try:
                    held.enter_context(documents_lock(context, path, form, wait=False))
                except BusyError:
                    busy = form
                    break
            if not busy:
                yield
                return
        with documents_lock(context, path, busy):
            pass


def documents_lock(context: Context, path: str, form: str, *, wait: bool = True) -> Held:
    """Keep others from changing a group, and from replacing any node, where the store is a folder.

    To be taken with the lock of the context held.
    """
    start = path + "/" if path else ""
    return document_lock(context.store, [start + name for name in dialect(form).documents], wait=wait)
