"""The data of a set as Zarr of its own, which needs the sources no more."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refs.taking import AnySet, taken
from omnizarr.refset.grids import array_metas
from omnizarr.refset.store import store_of
from omnizarr.store.cloud.servers import named_servers


def export(
    references: AnySet,
    where: str | os.PathLike[str],
    *,
    base: str = "",
    allow: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    **options: Any,  # noqa: ANN401 - what `omnizarr.convert` takes
) -> None:
    """Write what a set refers to as Zarr.

    Without options chunks are copied as they are. With options, or where chunks are stored longer than what they hold,
    which nobody else can read, they are decoded and written anew.

    Args:
        references: The set, or its place.
        where: Where the Zarr hierarchy goes.
        base: What relative URLs of a set in memory are relative to.
        allow: For a set in memory, which places may be read, by default all; for one that is named by its place,
            which ones besides its own folder and public servers.
        limits: Bounds on what documents may claim.
        options: What `omnizarr.convert` takes: `format`, `chunks`, `shards`, `codecs` …; `overwrite`, `progress` both.

    Raises:
        ExistsError: If something is there.
    """
    place = references
    references, allow = taken(references, allow, limits)
    servers = named_servers(place, allow)
    store = store_of(references, uri="references", base=base, allow=allow, limits=limits, servers=servers)
    padded = any(meta.grid.stored is not None for _, meta in array_metas(references.documents, limits))
    plain = {"overwrite", "progress", "verify", "include", "exclude"}
    if padded or not options.keys() <= plain:
        import_module("omnizarr.tools.convert").convert(store, where, limits=limits, **options)
    else:
        import_module("omnizarr.tools.copy.copy").copy(store, where, limits=limits, **options)
