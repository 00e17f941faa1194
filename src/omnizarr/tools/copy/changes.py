"""What can be changed on the way when a dataset is copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict


class Changes(TypedDict, total=False):
    """Keywords of `omnizarr.copy` that write a dataset anew; each has a letter of nccopy's on the command line."""

    kind: str | None
    """What to write: "netCDF-4", "netCDF-4 classic model", "classic", "64-bit offset", "cdf5", "nczarr", "nczarr3",
    "zarr" or "zarr3", or any other name that nccopy knows; by default what the target's ending says, or what the source
    is."""

    level: int | None
    """Level of deflate for all variables, 1 to 9; 0 for no filters at all."""

    shuffle: bool
    """Whether to shuffle bytes before deflate."""

    chunks: Sequence[str] | Mapping[str, int | Sequence[int]] | str
    """Lengths of chunks along dimensions, `"time/10,lat/90"` or `{"time": 10}`, or of variables, `"t:1,90"` or
    `{"t": (1, 90)}`; `"/"` for none."""

    filters: Sequence[str] | str
    """Filters of variables by their numbers or names, `"t,zstd,3"` or `"*,307,9"`; `"none"` for none."""

    values_of: Sequence[str]
    """Variables whose values are copied; of others, only definitions are."""

    variables: Sequence[str]
    """The only variables that are copied."""

    values_of_groups: Sequence[str]
    """Groups whose values are copied."""

    groups: Sequence[str]
    """The only groups that are copied, with all below them."""

    fixed: bool
    """Whether unlimited dimensions become fixed ones."""

    buffer: int
    """About how many bytes are copied at a time."""

    smallest_chunk: int
    """Variables whose chunks would have fewer bytes are stored in one piece, where `chunks` names their dimensions."""

    in_memory: bool
    """Whether a netCDF-4 file is made in memory, and stored when it is whole."""

    cache: int | None
    """Bytes of chunks that HDF5 keeps in memory for each variable."""

    cache_slots: int | None
    """How many chunks that may be."""
