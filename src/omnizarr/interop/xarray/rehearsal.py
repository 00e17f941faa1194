"""Datasets that are to replace something, or to be new, are tried in memory first: a wrong encoding changes nothing."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from xarray import Dataset, Variable, conventions

from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.opening import Place, open_node
from omnizarr.interop.xarray.encoding import array_options, chunks_of, encode_variable, json_attributes
from omnizarr.interop.xarray.writing import check_names, create_variable, give_encoding
from omnizarr.store.memory import MemoryStore


def rehearse(dataset: Dataset, encoding: Mapping[str, Any] | None, word: str) -> None:
    """Create the arrays for which there is an encoding in memory, without their values.

    Args:
        dataset: The dataset.
        encoding: How its variables are stored, as the user gave it.
        word: The format.

    Raises:
        ValueError: If a name or an encoding is not what it should be.
        KeyError: If there is an encoding for no variable.
        OmnizarrError: If no array can be stored like that.
    """
    check_names(dataset)
    variables, attrs = conventions.encode_dataset_coordinates(dataset)
    json_attributes(attrs, "the dataset")
    if not encoding:
        return
    give_encoding(variables, encoding)
    group = open_node(Place(MemoryStore(), "w"), "w", word, None)
    if not isinstance(group, Group):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they come when it is done
        for name in encoding:
            var = variables[name]
            if var.chunks is None or var.dtype != object:  # Dask would compute the latter
                _try(group, var, str(name))


def _try(group: Group, var: Variable, name: str) -> None:
    """Create the array of a variable, by what its first element is encoded to."""
    first = encode_variable(var[(slice(0, 1),) * var.ndim], name)
    options = array_options(first, name, new=group.format == "zarr3", checked=True)
    options["shape"], options["chunks"] = var.shape, chunks_of(var, first.encoding, name)
    create_variable(group, name, options)
