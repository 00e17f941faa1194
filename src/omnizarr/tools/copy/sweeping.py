"""Removing what a killed process left behind: files that it had begun to write and not yet given their names."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from omnizarr.native import FileStore
from omnizarr.store.protocol import Store, kernel_target

_PARTIAL = re.compile(r"\.([0-9a-f]+)-[0-9a-f]+\.partial")


def sweep(store: Store, prefix: str) -> int:
    """Remove unfinished files of processes that are gone below a prefix; return how many there were."""
    native, start = kernel_target(store, prefix)
    if not isinstance(native, FileStore):
        return 0
    count = 0
    for folder, _, names in os.walk(os.path.join(native.root, start)):  # noqa: PTH118 - whole trees of files
        for name in names:
            found = _PARTIAL.fullmatch(name)
            if found is not None and not _is_alive(int(found[1], 16)):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, name))  # noqa: PTH108, PTH118 - as above
                    count += 1
    return count


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # there, asking would end it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
