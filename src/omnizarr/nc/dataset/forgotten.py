"""Datasets that nobody closes: what they hold is brought to its place when they go, or at the end of the program."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from weakref import finalize

from omnizarr.nc.dataset.handle import Handle


def close_with(owner: object, handle: Handle, after: Callable[[], Any] | None) -> finalize[..., object]:
    """Close a dataset with the object that shows it, and call something then.

    A method `__del__` would come too late: at the end of a program the modules that write are gone by then, and of
    objects that refer to each other the store may be closed before the dataset is.
    """
    return finalize(owner, _close, handle, after, os.getpid())


def _close(handle: Handle, after: Callable[[], Any] | None, process: int) -> None:
    if handle.is_open and process == os.getpid():  # what a child inherits is its parent's to write
        handle.is_open = False
        handle.source.close()
        if after is not None:
            after()
