"""What lies in folders beside the keys that a store lists: files that a killed process left behind, and links."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from omnizarr.errors import UnsupportedError
from omnizarr.native import FileStore
from omnizarr.store.left import is_alive
from omnizarr.store.protocol import Store, kernel_target, place_name

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


def check_no_links(store: Store, prefix: str) -> None:
    """Refuse folders below a prefix that are links: values in them can be read, but are not listed.

    Raises:
        UnsupportedError: There is one, which a copy of what is listed would silently lack.
    """
    native, start = kernel_target(store, prefix)
    if not isinstance(native, FileStore):
        return
    for folder, names, _ in os.walk(os.path.join(native.root, start)):  # noqa: PTH118 - as above
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118
            if os.path.islink(path):  # noqa: PTH114
                message = f"the folder {path!r} is a link, and links are not copied"
                hint = "Put the folder itself in the place of the link."
                raise UnsupportedError(message, path=place_name(store, prefix.rstrip("/")), hint=hint)
