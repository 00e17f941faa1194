"""The marks that NCZarr leaves in documents, in every place, case and spelling that they ever had.

==========  =============  ===============================================================================
generation  written by     where the marks are
==========  =============  ===============================================================================
A0          4.8.0          documents of their own: `.nczarr`, `.nczgroup`, `.nczvar`, `.nczattr`
A1          no release     the same, but `.nczarray` and `.nczattrs`
B           4.8.1, 4.9.0   upper case, in `.zgroup` and `.zarray`; `_NCZARR_ATTR` in `.zattrs`
C           4.9.1, 4.9.2   the same in lower case
D           4.9.3 and on   lower case, in `.zattrs`; Omnizarr's own are of this kind
3           Omnizarr       as D, in `attributes` of `zarr.json`
==========  =============  ===============================================================================

Whoever looks for a mark looks everywhere, so every mixture is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from omnizarr.errors import warn
from omnizarr.format.document import describe
from omnizarr.format.v2_netcdf import Writer
from omnizarr.model.jsonvalue import JSON

Mark: TypeAlias = Literal["superblock", "group", "array", "attr"]
Generation: TypeAlias = Literal["", "A0", "A1", "B", "C", "D", "3"]
"""Empty for Zarr without marks."""

DOCUMENTS: Final[dict[str, Mark]] = {
    ".nczarr": "superblock",
    ".nczgroup": "group",
    ".nczvar": "array",
    ".nczarray": "array",
    ".nczattr": "attr",
    ".nczattrs": "attr",
}
"""The documents of the first generation, and the marks that they hold."""

SPELLINGS: Final[dict[Mark, tuple[str, ...]]] = {
    "superblock": ("_nczarr_superblock", "_NCZARR_SUPERBLOCK", "_nczarr_superblock_", "_NCZARR_SUPERBLOCK_"),
    "group": ("_nczarr_group", "_NCZARR_GROUP", "_nczarr_group_", "_NCZARR_GROUP_"),
    "array": ("_nczarr_array", "_NCZARR_ARRAY", "_nczarr_array_", "_NCZARR_ARRAY_"),
    "attr": ("_nczarr_attr", "_NCZARR_ATTR", "_nczarr_attr_", "_NCZARR_ATTR_"),
}

HIDDEN: Final = frozenset(
    (*(name for names in SPELLINGS.values() for name in names), "_ARRAY_DIMENSIONS", "_NCProperties")
)
"""Attributes that are no attributes to users of the netCDF model."""

RESERVED: Final = frozenset(
    (
        *("_nc3_strict", "_Format", "_Codecs"),
        *("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates"),
    )
)
"""Attributes that libraries leave behind, unless a type is noted for them: then a user has set them."""

_LIBRARY: Final = re.compile(r"(?:^|,)netcdf=([0-9]+)\.([0-9]+)(?:\.([0-9]+))?")
_TRUE_ORDER: Final = (4, 9, 3)


def find_mark(mark: Mark, *places: Mapping[str, JSON]) -> dict[str, JSON] | None:
    """Return a mark, wherever it is: attributes first, then the further members of a document."""
    for place in places:
        for name in SPELLINGS[mark]:
            found = place.get(name)
            if isinstance(found, dict):
                return found
    return None


def generation_of(attributes: Mapping[str, JSON], extra: Mapping[str, JSON], form: str) -> Generation:
    """Tell the generation of a dataset by its root, if it is none of the first."""
    if find_mark("superblock", attributes) is not None:
        return "3" if form == "zarr3" else "D"
    for name in SPELLINGS["superblock"]:
        if isinstance(extra.get(name), dict):
            return "B" if name.isupper() else "C"
    # A group within a dataset has no superblock.
    if find_mark("group", attributes) is not None:
        return "3" if form == "zarr3" else "D"
    for name in SPELLINGS["group"]:
        if isinstance(extra.get(name), dict):
            return "B" if name.isupper() else "C"
    return ""


def writer_of(generation: Generation, attributes: Mapping[str, JSON]) -> Writer:
    """Say who wrote the arrays of a dataset: netcdf-c up to 4.9.2, since 4.9.3, or perhaps somebody else."""
    if generation in ("A0", "A1", "B", "C"):
        return "old"
    if generation:
        return "new"
    properties = attributes.get("_NCProperties")
    found = _LIBRARY.search(properties) if isinstance(properties, str) else None
    if found is None:
        return ""
    return "new" if tuple(int(part or 0) for part in found.groups()) >= _TRUE_ORDER else "old"


def member(mark: Mapping[str, JSON] | None, *names: str) -> JSON:
    """Return a member of a mark under the first of its names that it has."""
    for name in names if mark else ():
        found = mark.get(name) if mark else None
        if found is not None:
            return found
    return None


def names_in(value: JSON) -> list[str]:
    """Return a list of names, without what is none or repeated."""
    names = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    if value is not None and (not isinstance(value, list) or len(names) != len(value)):
        warn(f"a list of names in NCZarr's own metadata is {describe(value)}; what is no name is left out")
    return list(dict.fromkeys(names))
