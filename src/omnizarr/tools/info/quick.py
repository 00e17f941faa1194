"""What `info` says of a group in a folder, found out without NumPy, whose import alone takes longer."""

from __future__ import annotations

import warnings
from typing import Final

from omnizarr.errors import OmnizarrError, OmnizarrWarning
from omnizarr.format.names import ATTRIBUTES_JSON, META, ZARR_JSON, ZGROUP, ZMETA
from omnizarr.store.file import FileStore
from omnizarr.tools.info.group import conventions_of, group_info, remarks_of
from omnizarr.tools.info.result import Info
from omnizarr.tools.info.scan import scan_near
from omnizarr.tools.listing.glance import glance

_OTHERS: Final = (META, ZMETA, ATTRIBUTES_JSON)
"""Documents of other formats, which `info` tells of if they lie beside those that count."""


def quick_info(where: str) -> Info | None:
    """Say what `omnizarr.info` says of a group; `None` where something is not of the plainest kind.

    Below the group there may be anything.
    """
    found = glance(where, 0)
    if found is None or found[0].kind != "group":
        return None
    root = found[0]
    new = root.format == "zarr3"
    try:
        store = FileStore(where)
        if any(text is not None for text in store.get_many(_OTHERS)):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("error", OmnizarrWarning)
            seen = scan_near(store, root.format)
    except (OmnizarrError, OmnizarrWarning):  # which `info` tells of
        return None
    return Info(
        name="/",
        uri=store.uri,
        store="file",
        kind="group",
        format=root.format,
        what="Zarr v3 group" if new else "Zarr v2 group",
        reason=f"there is {(ZARR_JSON if new else ZGROUP)!r}",
        attributes=root.attributes,
        conventions=conventions_of(root.attributes, seen.conventions),
        array=None,
        group=group_info(seen),
        remarks=tuple(dict.fromkeys(remarks_of(seen))),
    )
