"""What writers that were killed have left behind, removed by whoever opens the place for writing next."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from omnizarr.errors import OmnizarrError
from omnizarr.native import FileStore, ZipStore
from omnizarr.store.protocol import Store, kernel_target


def sweep(store: Store) -> None:
    """Remove it; one look at a file's name where there is nothing.

    What cannot be removed now stays for the next: it is in nobody's way.
    """
    native = kernel_target(store)[0]
    if isinstance(native, (FileStore, ZipStore)):
        with suppress(OmnizarrError):
            native.sweep()


def is_alive(process: int) -> bool:
    """Whether a process of this machine runs; also where that cannot be told."""
    if os.name != "posix":
        return True  # there, asking would end it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def sweep_beside(path: str) -> None:
    """Remove files `<name>.<number of a process><eight random digits>.partial` of processes that are gone."""
    folder, name = os.path.split(path)
    left = re.compile(re.escape(name) + r"\.([0-9a-f]+)[0-9a-f]{8}\.partial")
    with suppress(OSError):  # nobody has asked for this
        for other in os.listdir(folder or "."):  # noqa: PTH208 - pathlib takes longer to import than all stores
            found = left.fullmatch(other)
            if found is not None and not is_alive(int(found[1], 16)):
                os.unlink(os.path.join(folder, other))  # noqa: PTH108, PTH118 - as above
