"""The data of a set as Zarr of its own, which needs the sources no more."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refset.grids import array_metas
from omnizarr.refset.model import References
from omnizarr.refset.store import store_of


def export(
    references: References,
    where: str | os.PathLike[str],
    *,
    base: str = "",
    allow: Sequence[str] = ("*",),
    limits: Limits = DEFAULT_LIMITS,
    **options: Any,  # noqa: ANN401 - what `omnizarr.convert` takes
) -> None:
    """Write what a set refers to as Zarr.

    Without options chunks are copied as they are. With options, or where chunks are stored longer than what they hold,
    which nobody else can read, they are decoded and written anew.

    Args:
        references: The set.
        where: Where the Zarr hierarchy goes.
        base: What relative URLs are relative to.
        allow: What URLs may begin with that are read.
        limits: Bounds on what documents may claim.
        options: What `omnizarr.convert` takes: `format`, `chunks`, `shards`, `codecs` …; `overwrite`, `progress` both.

    Raises:
        ExistsError: If something is there.
    """
    store = store_of(references, uri="references", base=base, allow=allow, limits=limits)
    padded = any(meta.grid.stored is not None for _, meta in array_metas(references.documents, limits))
    plain = {"overwrite", "progress", "verify", "include", "exclude"}
    if padded or not options.keys() <= plain:
        import_module("omnizarr.tools.convert").convert(store, where, limits=limits, **options)
    else:
        import_module("omnizarr.tools.copy.copy").copy(store, where, limits=limits, **options)
