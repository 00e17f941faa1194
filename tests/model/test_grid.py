"""Grids of chunks."""

from __future__ import annotations

import pytest

from omnizarr.model.grid import RegularGrid


@pytest.mark.parametrize(
    ("shape", "chunks", "counts"),
    [
        ((), (), ()),
        ((10, 10), (4, 5), (3, 2)),
        ((1,), (100,), (1,)),
        ((0, 5), (3, 5), (0, 1)),
        ((0, 5), (0, 5), (0, 1)),
        ((2**62,), (1,), (2**62,)),
    ],
)
def test_counts(shape, chunks, counts):
    assert RegularGrid(chunks).counts(shape) == counts


def test_ranks_must_match():
    with pytest.raises(ValueError):
        RegularGrid((2,)).counts((2, 2))
