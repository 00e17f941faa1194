"""Sources of every format, and what it means that a conversion kept everything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.tools.convert.verify import are_equal

TARGETS = ("zarr3", "zarr2", "zarr1", "zarr0")


@pytest.fixture(autouse=True)
def quiet(recwarn) -> Iterator[None]:
    """Sources that are legal but odd are warned of, which is not what these tests are about."""
    del recwarn
    return


def without_names(attributes: Any) -> str:
    """Attributes as text, NaN included; the names of dimensions are compared on their own."""
    return json.dumps({name: it for name, it in attributes.items() if name != "_ARRAY_DIMENSIONS"}, sort_keys=True)


def same_array(one: oz.Array, other: oz.Array) -> None:
    """Assert that two arrays hold the same bits, attributes and names."""
    assert one.shape == other.shape
    assert are_equal(np.asarray(one[...]), np.asarray(other[...]))
    attributes = dict(other.attrs)
    if one.format == "zarr2" and other.format == "zarr3" and "_FillValue" not in one.attrs:
        attributes.pop("_FillValue", None)  # the mask, which the fill value alone was before
    assert without_names(one.attrs) == without_names(attributes)
    assert (one.dims or None) == (other.dims or None)  # without dimensions, both say the same


def same_tree(one: Any, other: Any) -> None:
    """Assert that two nodes, and all below them, are equal."""
    assert type(one) is type(other)
    if isinstance(one, oz.Array):
        same_array(one, other)
        return
    assert without_names(one.attrs) == without_names(other.attrs)
    names = [name for name, _ in one.members(max_depth=None)]
    assert names == [name for name, _ in other.members(max_depth=None)]
    for name in names:
        assert isinstance(other[name], type(one[name]))
        if isinstance(one[name], oz.Array):
            same_array(one[name], other[name])


@pytest.fixture
def assert_same() -> Callable[[Any, Any], None]:
    """The check as a fixture."""
    return same_tree


def n5_store(values: np.ndarray[Any, Any], blocks: tuple[int, ...], compression: dict[str, Any]) -> dict[str, bytes]:
    """An N5 array as the specification describes it, written without Omnizarr; blocks of zeros are left out."""
    import bz2
    import gzip
    import struct

    store: dict[str, bytes] = {}
    turned = {"dimensions": values.shape[::-1], "blockSize": blocks[::-1]}
    document = {**turned, "dataType": values.dtype.name, "compression": compression, "units": "m", "n": [1, None]}
    store["attributes.json"] = json.dumps(document).encode()
    pack = {"raw": bytes, "gzip": gzip.compress, "bzip2": bz2.compress}[compression["type"]]
    for index in np.ndindex(*(-(-n // b) for n, b in zip(values.shape, blocks, strict=True))):
        block = values[tuple(slice(i * b, (i + 1) * b) for i, b in zip(index, blocks, strict=True))]
        if not block.any():
            continue
        header = struct.pack(f">HH{block.ndim}I", 0, block.ndim, *block.shape[::-1])
        data = block.astype(block.dtype.newbyteorder(">")).tobytes()
        store["/".join(map(str, index[::-1]))] = header + pack(data)
    return store
