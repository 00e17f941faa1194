"""Files that a killed process left in folders, beside the keys that a store lists."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from omnizarr.native import FileStore
from omnizarr.store.left import is_alive
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
            if found is not None and not is_alive(int(found[1], 16)):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, name))  # noqa: PTH108, PTH118 - as above
                    count += 1
    return count
