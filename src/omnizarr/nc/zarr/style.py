"""The ways in which a dataset can be written to Zarr."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from omnizarr.errors import UnsupportedError
from omnizarr.nc.kinds import NCZARR, NCZARR3, ZARR, ZARR3, ZARR_KINDS

GROUP_KEY: Final = "_nczarr_group"
ARRAY_KEY: Final = "_nczarr_array"
ATTR_KEY: Final = "_nczarr_attr"
SUPERBLOCK_KEY: Final = "_nczarr_superblock"
DIMENSIONS_KEY: Final = "_ARRAY_DIMENSIONS"
SCALAR_DIMENSION: Final = "_scalar_"
MANAGED: Final = frozenset((GROUP_KEY, ARRAY_KEY, ATTR_KEY, SUPERBLOCK_KEY, DIMENSIONS_KEY, "_NCZARR_ATTR"))
"""Names of attributes that are written anew each time."""
HIDDEN: Final = MANAGED | {"_NCProperties"}
"""Names that no attribute of a user can have: what is stored under them belongs to the format."""

STORED_IN: Final = "stored_in"
"""In `_nczarr_array`: the folder below the array where its elements are while they are being stored anew."""


class Style(NamedTuple):
    """How to write.

    Attributes:
        kind: One of `omnizarr.nc.kinds.ZARR_KINDS`.
        xarray: Whether names of dimensions are in `_ARRAY_DIMENSIONS`, too, where xarray looks for them (Zarr v2).
        also: "4.9.0" to write a second set of metadata for that version of netcdf-c, which knows no newer one.
        separator: What separates the numbers in the keys of chunks; by default "." in Zarr v2, "/" in v3.
        consolidated: Whether a copy of all documents is kept at the root; `None` for where zarr-python needs it.
    """

    kind: str = NCZARR
    xarray: bool = True
    also: str = ""
    separator: Literal[".", "/"] | None = None
    consolidated: bool | None = None

    @property
    def is_v3(self) -> bool:
        """Whether documents are those of Zarr v3."""
        return self.kind in (NCZARR3, ZARR3)

    @property
    def is_pure(self) -> bool:
        """Whether there is nothing but what Zarr itself knows."""
        return self.kind in (ZARR, ZARR3)


def style(kind: str, *, also: str = "", separator: str | None = None, **options: bool | None) -> Style:
    """Return the style that options ask for.

    Raises:
        UnsupportedError: If there is no such way of writing.
    """
    if kind not in ZARR_KINDS:
        raise UnsupportedError(f"{kind!r} is no kind of Zarr", hint=f"One of: {', '.join(ZARR_KINDS)}.")
    if separator not in (None, ".", "/"):
        raise UnsupportedError(f"separator is {separator!r}, not '/' or '.'")
    if also not in ("", "4.9.0") or (also and kind != NCZARR):
        raise UnsupportedError(f"also={also!r} is not to be had for {kind}", hint='also="4.9.0" goes with "nczarr".')
    unknown = options.keys() - {"xarray", "consolidated"}
    if unknown:
        raise UnsupportedError(f"there is no option {', '.join(sorted(unknown))} for writing Zarr")
    xarray = options.get("xarray")
    return Style(kind, xarray is not False, also, separator, options.get("consolidated"))  # type: ignore[arg-type]  # checked above
