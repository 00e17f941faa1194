"""Grids of chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnizarr.errors import LimitError, UnsupportedError
from omnizarr.model.grid import RectilinearGrid, RegularGrid, laid, merged, place, runs_of, start_of


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
    for grid in (RectilinearGrid((2,)), RectilinearGrid((((2, 1),),))):
        for ask in (grid.counts, grid.common, grid.lengths, lambda shape, grid=grid: grid.fitted(shape, (1,))):
            with pytest.raises(ValueError):
                ask((2, 2))


@pytest.mark.parametrize(
    ("edges", "size", "lengths"),
    [
        (((10, 2), (25, 1)), 45, (10, 10, 25)),
        (((10, 2), (25, 1)), 21, (10, 10, 25)),
        (((10, 2), (25, 1)), 20, (10, 10)),
        (((10, 2), (25, 1)), 1, (10,)),
        (((10, 2), (25, 1)), 0, ()),
        ((), 0, ()),
        (((1, 3), (5, 10**15)), 14, (1, 1, 1, 5, 5, 5)),
        (7, 100, 7),
    ],
)
def test_lengths_of_the_chunks_that_hold_a_part_of_the_array(edges, size, lengths):
    grid = RectilinearGrid((edges,))
    assert grid.lengths((size,)) == (lengths,)
    if isinstance(lengths, tuple):
        assert grid.counts((size,)) == (len(lengths),)


@given(st.lists(st.integers(1, 9), max_size=12))
def test_places_and_starts_agree_with_a_list_of_chunks(lengths):
    runs = runs_of(lengths)
    assert [length for length, count in runs for _ in range(count)] == lengths
    expected = [(i, sum(lengths[:i]), length) for i, length in enumerate(lengths) for _ in range(length)]
    assert [place(runs, at) for at in range(sum(lengths))] == expected
    assert [start_of(runs, i) for i in range(len(lengths) + 1)] == [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    with pytest.raises(IndexError):
        place(runs, sum(lengths))


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), max_size=8))
def test_merging_changes_no_chunk(runs):
    listed = [length for length, count in runs for _ in range(count)]
    assert merged(runs) == runs_of(listed)


def test_huge_runs_are_counted_but_not_listed():
    grid = RectilinearGrid((((1, 2**40), (3, 2**40)),))
    assert grid.counts((2**42,)) == (2**41,)
    assert grid.longest == (3,)
    with pytest.raises(LimitError, match="too many to list"):
        grid.lengths((2**42,))


@pytest.mark.parametrize(
    ("grid", "shape", "common"),
    [
        (RegularGrid((4, 6)), (10, 10), (4, 6)),
        (RectilinearGrid((((4, 3), (6, 1)), 7)), (10, 10), (2, 7)),
        (RectilinearGrid((4, 5), clipped=True), (10, 10), (2, 5)),
        (RectilinearGrid((4,), clipped=True), (0,), (4,)),
    ],
)
def test_what_divides_every_chunk(grid, shape, common):
    assert grid.common(shape) == common


def test_growing_adds_a_chunk_and_shrinking_keeps_all():
    grid = RectilinearGrid((((10, 2), (25, 1)), 7))
    assert grid.fitted((45, 1000), (1, 1)) == grid
    assert grid.fitted((3, 2), (1, 1)) == grid
    assert grid.fitted((46, 2), (1, 1)).edges == (((10, 2), (25, 1), (1, 1)), 7)
    assert grid.fitted((70, 2), (1, 1)).edges == (((10, 2), (25, 2)), 7)
    assert grid.fitted((46, 2), (5, 1)).edges == (((10, 2), (25, 1), (5, 1)), 7)
    assert RectilinearGrid(((),)).fitted((3,), (1,)).edges == (((3, 1),),)


def test_grids_of_different_kinds_are_different():
    assert RegularGrid((4,)) != RectilinearGrid((4,))
    assert RectilinearGrid((4,)) != RectilinearGrid((4,), clipped=True)


@pytest.mark.parametrize(
    ("edges", "stored", "expected"),
    [
        (5, 5, 5),
        (((4, 2),), ((4, 2),), ((4, 2),)),
        (((4, 2), (2, 1)), ((4, 3),), ((4, 2, 4), (2, 1, 4))),
        (((3, 3),), ((4, 1), (5, 2)), ((3, 1, 4), (3, 2, 5))),
        (((1, 2), (2, 2)), ((3, 1), (4, 2), (5, 1)), ((1, 1, 3), (1, 1, 4), (2, 1, 4), (2, 1, 5))),
        (((2**40, 2**20),), ((2**41, 2**20),), ((2**40, 2**20, 2**41),)),
    ],
)
def test_lengths_as_stored_stand_beside_what_chunks_hold(edges, stored, expected):
    assert laid(edges, stored) == expected
    assert RectilinearGrid((edges,), stored=(stored,)).kernel_edges == (expected,)


def test_a_padded_grid_is_measured_as_it_is_stored():
    grid = RectilinearGrid((((4, 2), (2, 1)), 5), stored=(((4, 3),), 5))
    assert grid.longest == (4, 5)
    assert grid.common((10, 5)) == (4, 5)
    assert grid.lengths((10, 5)) == ((4, 4, 2), 5)
    with pytest.raises(UnsupportedError, match="stored longer than what they hold are only read"):
        grid.fitted((20, 5), (1, 1))
    plain = grid._replace(stored=None)
    assert plain.kernel_edges == plain.edges
    assert plain.longest == (4, 5)
    assert plain.common((10, 5)) == (2, 5)


def test_chunks_of_no_length_get_one_when_the_array_grows():
    assert RegularGrid((0, 5)).fitted((3, 5), (1, 1)) == RegularGrid((1, 5))
    whole = RegularGrid((4, 5))
    assert whole.fitted((30, 50), (1, 1)) is whole
    empty = RectilinearGrid((0, 7), clipped=True)
    assert empty.common((0, 14)) == (0, 7)
    assert empty.fitted((5, 5), (1, 1)) == RectilinearGrid((1, 7), clipped=True)
    assert RectilinearGrid(((),)).longest == (0,)


def test_as_many_chunks_as_are_listed(monkeypatch):
    monkeypatch.setattr("omnizarr.model.grid.MOST_LISTED", 3)
    grid = RectilinearGrid((((2, 4),),))
    assert grid.lengths((6,)) == ((2, 2, 2),)
    with pytest.raises(LimitError, match="4 chunks of different lengths") as caught:
        grid.lengths((7,))
    assert caught.value.hint == "metadata.grid holds them as runs."
