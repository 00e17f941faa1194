"""Chunks of different lengths as users give them."""

from __future__ import annotations

import numpy as np
import pytest

from omnizarr.array.defaults import grid_layout
from omnizarr.array.index import blocks
from omnizarr.array.uneven import is_uneven, uneven_grid
from omnizarr.errors import SelectionError, ShapeError
from omnizarr.model.grid import RectilinearGrid, RegularGrid


@pytest.mark.parametrize(
    ("given", "shape", "expected"),
    [
        ([[10, 20, 30], [5, 5]], (60, 10), RectilinearGrid((((10, 1), (20, 1), (30, 1)), ((5, 2),)))),
        ([[10, 20, 30], 5], (60, 10), RectilinearGrid((((10, 1), (20, 1), (30, 1)), 5))),
        ([[10, 20, 30], -1], (60, 10), RectilinearGrid((((10, 1), (20, 1), (30, 1)), 10))),
        ([[10, 20, 30], None], (60, 0), RectilinearGrid((((10, 1), (20, 1), (30, 1)), 1))),
        ([np.array([1, 2]), (3,)], (3, 3), RectilinearGrid((((1, 1), (2, 1)), ((3, 1),)))),
        ([[[10, 3], 5]], (35,), RectilinearGrid((((10, 3), (5, 1)),))),
        ([[10, 20]], (15,), RectilinearGrid((((10, 1), (20, 1)),))),
        ([[5, 10]], (0,), RectilinearGrid((((5, 1), (10, 1)),))),
        (((10, 10, 4), (5, 5)), (24, 10), RectilinearGrid((((10, 2), (4, 1)), ((5, 2),)))),
        (((24,), (10,)), (24, 10), RectilinearGrid((((24, 1),), ((10, 1),)))),
        (((10, 4, 4),), (18,), RectilinearGrid((((10, 1), (4, 2)),))),
        (((4, 10),), (14,), RectilinearGrid((((4, 1), (10, 1)),))),
        (RectilinearGrid((4,), clipped=True), (10,), RectilinearGrid((4,), clipped=True)),
        (RegularGrid((4,)), (10,), RegularGrid((4,))),
    ],
)
def test_grids(given, shape, expected):
    assert is_uneven(given)
    found = uneven_grid("chunks", given, shape)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("given", [5, (5, 5), [5, -1], None, True, "auto", (), [None], np.array([2, 3]), 2.5])
def test_chunks_of_one_shape_are_none_of_its_business(given):
    assert not is_uneven(given)


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        ([[10, 20]], (31,)),
        ([[]], (0,)),
        ([[10], [5]], (10,)),
        ([[10]], (10, 5)),
        ([[10, 0]], (10,)),
        ([[10, -1]], (9,)),
        ([[10, 2.5]], (10,)),
        ([[10, True]], (10,)),
        ([[10, "5"]], (10,)),
        ([[10, None]], (10,)),
        ([[10, [1, 2, 3]]], (10,)),
        ([[10, [[1], 2]]], (10,)),
        ([[10], 0], (10, 10)),
        ([[10], "x"], (10, 10)),
        (RectilinearGrid((4, 4)), (10,)),
        (RectilinearGrid((((4, 1), (5, 1)),)), (10,)),
    ],
)
def test_what_is_no_grid(given, shape):
    with pytest.raises(ShapeError):
        uneven_grid("chunks", given, shape)


def test_layouts_with_shards():
    grid, chunks, shards = grid_layout((60, 8), 4, (10, 4), [[20, 40], 8])
    assert (grid, chunks, shards) == (RectilinearGrid((((20, 1), (40, 1)), 8)), (10, 4), (40, 8))
    grid, chunks, shards = grid_layout((2_000_000,), 8, "auto", [[400_000, 1_600_000]])
    assert shards == (1_600_000,)
    assert 400_000 % chunks[0] == 0
    assert 8 * chunks[0] <= 1 << 20
    assert grid_layout((10,), 4, (5,), (10,)) == (RegularGrid((10,)), (5,), (10,))
    with pytest.raises(ShapeError, match="do not divide every shard"):
        grid_layout((60, 8), 4, (20, 4), [[20, 30, 10], 8])
    with pytest.raises(ShapeError, match="one shape"):
        grid_layout((60, 8), 4, [[20, 40], 8], (60, 8))


def test_blocks_of_different_lengths():
    grid = RectilinearGrid((((10, 2), (25, 1)), 4))
    assert blocks((1, 0), (40, 10), grid).dims == [(10, 1, 10), (0, 1, 4)]
    assert blocks((2, 2), (40, 10), grid).dims == [(20, 1, 20), (8, 1, 2)]
    assert blocks((slice(1, 3), ...), (40, 10), grid).dims == [(10, 1, 30), (0, 1, 10)]
    assert blocks((-1,), (45, 10), grid).dims == [(20, 1, 25), (0, 1, 10)]
    with pytest.raises(SelectionError, match=r"grid of \(2, 3\)"):
        blocks((2, 0), (20, 10), grid)
