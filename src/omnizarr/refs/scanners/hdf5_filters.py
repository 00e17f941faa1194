"""The filters of a dataset of HDF5, and the codecs that undo them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from omnizarr.codec import hdf5_filters
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.scanners.hdf5_elements import Element

CodecJSON: TypeAlias = dict[str, JSON]

NBIT: Final = 5


class Filter(NamedTuple):
    """One filter of a dataset: its number in HDF5's registry, and its parameters."""

    number: int
    parameters: tuple[int, ...]


def filters_of(plist: Any) -> list[Filter]:  # noqa: ANN401 - a list of h5py's
    """Return the filters of a dataset, in the order in which they were applied."""
    found: list[Filter] = []
    for index in range(plist.get_nfilters()):
        number, _, parameters, _ = plist.get_filter(index)
        found.append(Filter(int(number), tuple(int(one) for one in parameters)))
    return found


def codecs_of(filters: Sequence[Filter], element: Element, chunks: tuple[int, ...]) -> list[CodecJSON]:
    """Return the codecs that undo filters, in the order of writing.

    Args:
        filters: The filters.
        element: The elements, some of whose traits filters need to know.
        chunks: The shape of a chunk, without the dimensions of its elements.

    Raises:
        UnsupportedError: If there is no codec for one of them.
    """
    dtype = np.dtype((element.dtype, element.tail)) if element.tail else element.dtype
    found = hdf5_filters.codecs_of(filters, dtype, chunks)
    size = prod(chunks) * dtype.itemsize
    for one in found:
        width = one.get("elementsize")
        if one["id"] == "omnizarr.hdf5_shuffle" and isinstance(width, int) and size % width == 0:
            one["id"] = "shuffle"  # which everyone knows
        elif one["id"] == "fletcher32":
            size += 4
        elif one["id"] != "shuffle":
            break
    return found
