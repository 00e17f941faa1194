"""Combining what is at many places: files are scanned first, sets are read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, Unpack

from omnizarr.refs.combine.combining import Settings
from omnizarr.refs.combine.combining import combine as combine_sets
from omnizarr.refs.combine.selectors import Selector
from omnizarr.refs.scan.many import Progress, checked, scan_all
from omnizarr.refs.scan.source import DEFAULTS, Options
from omnizarr.refset.model import References

Input: TypeAlias = "str | os.PathLike[str] | References | tuple[str, References]"
"""A place, a set, or a name and a set."""


def combine(
    inputs: Iterable[Input] | Mapping[str, References],
    *,
    concat: str | Sequence[str] | Mapping[str, Selector] = (),
    scan: Options = DEFAULTS,
    workers: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> References:
    """Make one set of many files, or sets.

    Variables that have a dimension of `concat` are joined along it, in the order of its coordinate; a dimension that
    the files do not have is put before their own. All other variables must be the same in all files that have them.
    What does not fit together (types, codecs, scale factors, fill values) is one error that names the files.

    Args:
        inputs: Files that are scanned, sets that are read, sets in memory, or pairs of a name and a set.
        concat: The dimensions. A mapping says where the coordinate of each file is from: `None` for its coordinate
            variable, "attr:NAME" for an attribute, "INDEX" for its place in the list, a pattern of its name such as
            "{date:%Y%m%d}.nc", a list of values, or a function of its name and set.
        scan: What is wanted of files that are scanned.
        workers: How many processes scan.
        cache: A folder where results of scans are kept.
        on_error: Whether files that cannot be scanned are an error, or left out with a warning.
        progress: Called after each file that was scanned.
        settings: Choices where files differ: `identical`, names of variables that are not compared;
            `compat="override"`, the first of variables that differ; `attributes`, what becomes of attributes that
            differ; `keep`, which of two files counts at the same place; `missing`, whether places without a file are
            an error; `sort=False`, the order that is given.

    Raises:
        MetadataError: If the files do not fit together.
        ScanError: If some cannot be scanned.

    >>> import numpy as np, omnizarr as oz, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> for day in (1, 2):
    ...     _ = oz.create_array(f"{folder}/{day}.zarr", path="t", data=np.full(4, day), chunks=2, dims=["x"])
    >>> days = oz.refs.combine([f"{folder}/1.zarr", f"{folder}/2.zarr"], concat={"day": "{:d}.zarr"})
    >>> oz.refs.write(days, f"{folder}/days.json")
    >>> oz.open(f"{folder}/days.json")["t"][...].tolist()
    [[1, 1, 1, 1], [2, 2, 2, 2]]
    """
    given: list[Any] = list(inputs.items()) if isinstance(inputs, Mapping) else list(inputs)
    places = [i for i, one in enumerate(given) if isinstance(one, (str, os.PathLike))]
    if places:
        found = scan_all([given[i] for i in places], scan, workers=workers, cache=cache, progress=progress)
        checked(found, on_error)
        for i, one in zip(places, found, strict=True):
            given[i] = None if one.references is None else (one.where, one.references)
    return combine_sets([one for one in given if one is not None], concat=concat, **settings)
