"""Copying a node into a folder: beside its place at first, which the copy takes in one step once it is whole.

So of several who make a node there at the same moment one does, no chunk is ever of another, and what a copy that
fails or is killed leaves is never taken for values. Its folder has a name that no listing shows, as files have that are
being written.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Final, TypeGuard

from omnizarr.errors import ExistsError, OmnizarrError, StoreError
from omnizarr.format.names import join
from omnizarr.hierarchy.left import check_nothing_left, forget_left_attributes
from omnizarr.hierarchy.nodes import format_of
from omnizarr.store.file import FileStore
from omnizarr.store.left import is_alive
from omnizarr.store.protocol import Store, kernel_target, place_name

_END: Final = ".partial"
_WAIT: Final = 0.02
"""Seconds for a program that has made a folder to put a document into it."""


def is_folder(store: Store) -> TypeGuard[FileStore]:
    """Whether folders of a store can be renamed, and nothing of somebody's own stands before it."""
    return isinstance(store, FileStore) and kernel_target(store)[0] is store.native


@contextmanager
def beside(store: FileStore, path: str) -> Generator[str, None, None]:
    """Give the path of a folder beside a node's, to write to; what is left of it in the end is removed."""
    above = path.rpartition("/")[0]
    _sweep(store, above)
    place = join(above, f".{os.getpid():x}-{_machine()}{os.urandom(4).hex()}{_END}")
    try:
        yield place
    finally:
        with suppress(OmnizarrError):  # the next copy here sweeps
            store.erase_prefix(place + "/")


def take_place(store: FileStore, place: str, path: str, hint: str | None) -> None:
    """Give a folder the name of a node, if nothing has it.

    Raises:
        ExistsError: If something is there.
        StoreError: If the folder cannot get the name.
    """
    target = store.path(path)
    if os.path.isdir(target):  # noqa: PTH112 - pathlib takes longer to import
        _wait_for(lambda: format_of(store, path) is not None)
    for _ in range(2):
        if format_of(store, path) is None and store.move_folder(place, path):
            if store.durable:
                _sync(os.path.dirname(target))  # noqa: PTH120 - as above
            return
        if format_of(store, path) is not None:
            message = "another program has made a node there at the same time"
            raise ExistsError(message, path=place_name(store, path), hint=hint)
        check_nothing_left(store, path, hint)
        forget_left_attributes(store, path)
        for folder, _, _ in os.walk(target, topdown=False):  # empty ones are in the way, too
            with suppress(OSError):
                os.rmdir(folder)  # noqa: PTH106 - as above
    raise StoreError("the copy is whole, but cannot get its name", path=place_name(store, path))


def _wait_for(done: Callable[[], bool]) -> None:
    end = time.monotonic() + _WAIT
    while not done() and time.monotonic() < end:
        time.sleep(_WAIT / 10)


def _sync(folder: str) -> None:
    """Let the names in a folder survive a loss of power."""
    with suppress(OSError):  # not every system opens folders
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _sweep(store: FileStore, above: str) -> None:
    """Remove what copies of this machine's processes that are gone have left in a folder."""
    start = above + "/" if above else ""
    own = _machine()
    with suppress(OSError, ValueError, OmnizarrError):  # nobody has asked for this
        for name in os.listdir(store.path(above) if above else store.root):  # noqa: PTH208 - as above
            process, _, number = name.removesuffix(_END).removeprefix(".").partition("-")
            if name.endswith(_END) and number.startswith(own) and not is_alive(int(process, 16)):
                store.erase_prefix(f"{start}{name}/")


def _machine() -> str:
    """Stand for this machine, and this container: numbers of processes mean something there alone."""
    known = os.uname().nodename if hasattr(os, "uname") else ""
    with suppress(OSError):
        known += os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - as above
    return f"{zlib.crc32(known.encode()):08x}"
