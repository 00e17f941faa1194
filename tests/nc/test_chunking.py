"""Chunks as netcdf-c chooses them."""

from __future__ import annotations

import pytest

from omnizarr.nc.chunking import default_chunks
from omnizarr.nc.tree import Dim, Storage, Var
from omnizarr.nc.types import DOUBLE
from omnizarr.nc.zarr.layout import chunks_of

# What netcdf-c was seen to choose.
OBSERVED = [
    ([3000, 3000], 8, (1000, 1000)),
    ([1000, 1000, 1000], 4, (143, 143, 143)),
    ([5_000_000], 8, (1_666_667,)),
    ([None, 720, 1440], 4, (1, 720, 1440)),
    ([None], 8, (512,)),
    ([None], 1, (4096,)),
    ([None, None], 8, (1448, 1448)),
    ([100, 100], 8, (100, 100)),
    ([], 8, ()),
    ([0, 5], 8, (1, 5)),
]


@pytest.mark.parametrize(("lengths", "itemsize", "expected"), OBSERVED, ids=str)
def test_as_observed(lengths, itemsize, expected):
    assert default_chunks(lengths, itemsize) == expected


@pytest.mark.parametrize(
    ("storage", "expected"),
    [
        (Storage(), (1, 7)),
        (Storage(chunks=(3, 4)), (3, 4)),
        (Storage(chunks=(3, 40)), (3, 40)),
        (Storage(chunks=(3,)), (1, 7)),
        (Storage(kind="contiguous"), (1, 7)),
    ],
    ids=str,
)
def test_what_was_asked_for_comes_first(storage, expected):
    var = Var("v", DOUBLE, (Dim("t", 5, unlimited=True), Dim("x", 7)), storage=storage)
    assert chunks_of(var, 8) == expected


@pytest.mark.parametrize("kind", ["contiguous", "compact"])
def test_without_chunks_is_one_chunk_unless_that_is_huge(kind):
    storage = Storage(kind=kind, chunks=(2, 2))
    assert chunks_of(Var("v", DOUBLE, (Dim("y", 3000), Dim("x", 3000)), storage=storage), 8) == (3000, 3000)
    assert chunks_of(Var("v", DOUBLE, (Dim("y", 30_000), Dim("x", 30_000)), storage=storage), 8) == (1429, 1429)
