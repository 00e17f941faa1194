"""Links among folders, behind which values can be read that no listing has."""

from __future__ import annotations

import os

from omnizarr.errors import UnsupportedError
from omnizarr.native import FileStore
from omnizarr.store.protocol import Store, kernel_target, place_name


def check_no_links(store: Store, prefix: str) -> None:
    """Refuse folders below a prefix that are links: values in them can be read, but are not listed.

    Raises:
        UnsupportedError: There is one, which a copy of what is listed would silently lack.
    """
    native, start = kernel_target(store, prefix)
    if not isinstance(native, FileStore):
        return
    for folder, names, _ in os.walk(os.path.join(native.root, start)):  # noqa: PTH118 - whole trees of files
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118
            if os.path.islink(path):  # noqa: PTH114
                message = f"the folder {path!r} is a link, and links are not copied"
                hint = "Put the folder itself in the place of the link."
                raise UnsupportedError(message, path=place_name(store, prefix.rstrip("/")), hint=hint)
