"""From what a scan has found below a group to what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.info.remark import Remark
from omnizarr.tools.info.result import GroupInfo
from omnizarr.tools.info.scan import Scan

_MOST_NAMED: Final = 5


def group_info(found: Scan) -> GroupInfo:
    """Return what a group holds; stored chunks are not counted."""
    return GroupInfo(
        arrays=found.arrays,
        groups=found.groups,
        nbytes=found.nbytes,
        consolidated=found.consolidated,
        stale=found.stale,
        unreadable=found.unreadable,
    )


def remarks_of(found: Scan) -> list[Remark]:
    """Say what is odd about what lies below a group."""
    remarks = []
    if found.consolidated == "stale":
        message = f"consolidated metadata are behind the documents: {few_names(found.stale)}"
        remarks.append(Remark("stale-consolidation", message))
    if found.consolidated == "only":
        remarks.append(Remark("no-documents", "nothing but consolidated metadata says what is there"))
    if found.unreadable:
        names = [f"{path} ({why})" for path, why in found.unreadable]
        remarks.append(Remark("unreadable-nodes", f"nodes cannot be read: {few_names(names)}"))
    for name, (arrays, first) in found.remarks.items():
        others = f" and {arrays - 1} other arrays" if arrays > 1 else ""
        remarks.append(Remark(name, f"in {first}{others}"))
    return remarks


def few_names(names: list[str] | tuple[str, ...]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def conventions_of(attributes: Mapping[str, JSON], seen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the conventions that attributes speak of, and those that were seen below."""
    found = list(seen)
    named = attributes.get("Conventions", attributes.get("conventions"))
    if isinstance(named, str):
        found.append(named)
    if "_ARRAY_DIMENSIONS" in attributes:
        found.append("xarray")
    ome = attributes.get("ome")
    if isinstance(ome, dict) and "version" in ome:
        found.append(f"OME-NGFF {ome['version']}")
    elif "multiscales" in attributes:
        found.append("OME-NGFF")
    if any(name.startswith(("_nczarr", "_NCZARR", "_NCProperties")) for name in attributes):
        found.append("NCZarr")
    if "zarr_conventions" in attributes:
        found.append("zarr_conventions")
    return tuple(dict.fromkeys(found))
