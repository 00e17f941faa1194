"""Selections against NumPy: what a selection picks, the shape it gives, and what assignment through it changes."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from omnizarr.array.index import Mask, Points, Selection, basic, blocks, mask, orthogonal, points
from omnizarr.errors import SelectionError
from omnizarr.model.grid import RegularGrid

EXAMPLES = settings(max_examples=max(500, settings().max_examples))
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)


def grid_of(selection):
    """The orthogonal indices of a Selection, as NumPy's ix_ wants them."""
    lines = []
    for dim, count in zip(selection.dims, selection.counts, strict=True):
        if isinstance(dim, tuple):
            start, step, number = dim
            assert (type(start), type(step), type(number)) == (int, int, int)
            assert start >= 0
            assert step >= 1
            lines.append(np.arange(number) * step + start)
        else:
            assert dim.dtype == np.int64
            assert dim.ndim == 1
            assert dim.flags.c_contiguous
            assert not dim.size or dim.min() >= 0
            lines.append(dim)
        assert len(lines[-1]) == count
    return np.ix_(*lines)


def coordinates_of(selection):
    if isinstance(selection, Mask):
        assert selection.mask.flags.c_contiguous
        selection = selection.points()
    for line in selection.coords:
        assert line.dtype == np.int64
        assert line.ndim == 1
        assert line.flags.c_contiguous
        assert line.size == np.prod(selection.shape, dtype=int)
        assert not line.size or line.min() >= 0
    return selection.coords


def fetch(array, selection):
    """What the kernel and the layer above it do for a read, in NumPy alone."""
    out = np.empty(selection.shape, array.dtype)
    if isinstance(selection, Selection):
        view = selection.view(out)
        assert out.size == 0 or np.shares_memory(view, out)
        view[...] = array[grid_of(selection)] if array.ndim else array
    else:
        out.reshape(-1)[...] = array[coordinates_of(selection)]
    return out


def assign(array, selection, values):
    """The same for a write."""
    values = np.broadcast_to(values, selection.shape)
    if isinstance(selection, Selection):
        array[grid_of(selection) if array.ndim else ()] = selection.view(values)
    else:
        array[coordinates_of(selection)] = values.reshape(-1)


def same_as_numpy(shape, index, select=basic, expected=None):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    wanted = array[index] if expected is None else expected(array)
    selection = select(index, shape)
    found = fetch(array, selection)
    assert found.shape == np.shape(wanted)
    np.testing.assert_array_equal(found, wanted)
    return array, selection


@st.composite
def basic_cases(draw):
    shape = draw(SHAPES)
    index = draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True, max_dims=8))
    return shape, index


@EXAMPLES
@given(basic_cases())
def test_basic_picks_what_numpy_picks(case):
    _, selection = same_as_numpy(*case)
    assert isinstance(selection, Selection)
    assert selection.order is None


@EXAMPLES
@given(basic_cases(), st.data())
def test_basic_assigns_what_numpy_assigns(case, data):
    shape, index = case
    array, selection = same_as_numpy(shape, index)
    expected = array.copy()
    value_shape = data.draw(st.sampled_from([(), selection.shape, selection.shape[-1:]]))
    values = -1 - np.arange(np.prod(value_shape, dtype=int)).reshape(value_shape)
    expected[index] = values
    assign(array, selection, values)
    np.testing.assert_array_equal(array, expected)


@EXAMPLES
@given(st.integers(0, 40), st.data())
def test_every_slice_agrees_with_python(size, data):
    bound = st.none() | st.integers(-60, 60) | st.sampled_from([-(2**70), 2**70])
    step = st.none() | st.integers(-50, 50).filter(bool) | st.sampled_from([-(2**70), 2**70])
    same_as_numpy((size,), slice(data.draw(bound), data.draw(bound), data.draw(step)))


@st.composite
def axis_items(draw, size):
    """An index that oindex takes, for one dimension."""
    ints = st.integers(-size, size - 1) if size else st.nothing()
    some = st.lists(ints, max_size=8) if size else st.just([])
    kinds = [
        st.slices(size),
        some,
        some.map(lambda values: np.array(values, np.int16)),
        hnp.arrays(bool, size),
        st.lists(st.booleans(), min_size=size, max_size=size) if size else st.just([]),
    ]
    return draw(st.one_of(*kinds, *([ints, ints.map(np.int32)] if size else [])))


@st.composite
def orthogonal_cases(draw):
    shape = draw(SHAPES)
    items = [draw(axis_items(size)) for size in shape[: draw(st.integers(0, len(shape)))]]
    if draw(st.booleans()):
        place = draw(st.integers(0, len(items)))
        items[place:place] = [Ellipsis]
        tail = shape[len(shape) - (len(items) - place - 1) :]
        items[place + 1 :] = [draw(axis_items(size)) for size in tail] if tail != shape else items[place + 1 :]
    for place in draw(st.lists(st.integers(0, len(items)), max_size=2)):
        items.insert(place, None)
    return shape, tuple(items)


def one_axis_at_a_time(array, items):
    """Orthogonal selection as its definition says: each item applied to its own axis."""
    given_axes = sum(item is not None and item is not Ellipsis for item in items)
    position, axis = 0, 0
    for item in items:
        if item is Ellipsis:
            skipped = array.ndim - position - (given_axes - axis)
            position += skipped
            continue
        if item is None:
            array = np.expand_dims(array, position)
            position += 1
            continue
        chosen = np.array(item, _kind(item)) if isinstance(item, list) else item
        array = array[(slice(None),) * position + (chosen,)]
        axis += 1
        position += not np.isscalar(item)
    return array


def _kind(item):
    return bool if item and isinstance(item[0], bool) else np.int64


@EXAMPLES
@given(orthogonal_cases())
def test_orthogonal_picks_axis_by_axis(case):
    shape, items = case
    same_as_numpy(shape, items, orthogonal, lambda array: one_axis_at_a_time(array, items))


@EXAMPLES
@given(orthogonal_cases())
def test_orthogonal_assigns_axis_by_axis(case):
    shape, items = case
    array = np.zeros(shape, int)
    selection = orthogonal(items, shape)
    for dim in selection.dims:
        assume(isinstance(dim, tuple) or len(set(dim.tolist())) == dim.size)
    values = 1 + np.arange(np.prod(selection.shape, dtype=int)).reshape(selection.shape)
    assign(array, selection, values)
    np.testing.assert_array_equal(fetch(array, orthogonal(items, shape)), values)
    assert np.count_nonzero(array) == values.size


@st.composite
def fancy_cases(draw):
    """NumPy's mixed indices: arrays that broadcast, masks of one or more axes, integers, slices, None and ellipsis."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5))
    joint = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3))
    masks = draw(st.booleans())
    items = []
    axis = 0
    while axis < len(shape):
        size = shape[axis]
        kind = draw(st.sampled_from(["int", "slice", "array", "array", "mask", "stop"]))
        if kind == "stop":
            break
        if kind == "mask" and masks:
            width = draw(st.integers(1, len(shape) - axis))
            items.append(draw(hnp.arrays(bool, shape[axis : axis + width])))
            axis += width
            continue
        if kind == "int":
            items.append(draw(st.integers(-size, size - 1)))
        elif kind == "slice":
            items.append(draw(st.slices(size)))
        else:
            narrowed = tuple(draw(st.sampled_from([1, n])) for n in joint[draw(st.integers(0, len(joint))) :])
            items.append(draw(hnp.arrays(np.int64, narrowed, elements=st.integers(-size, size - 1))))
        axis += 1
    for extra in draw(st.lists(st.none(), max_size=2)) + draw(st.sampled_from([[], [Ellipsis]])):
        items.insert(draw(st.integers(0, len(items))), extra)
    return shape, tuple(items)


def numpy_or_skip(shape, items):
    try:
        picked = np.arange(np.prod(shape)).reshape(shape)[items]
    except IndexError:
        assume(False)  # Shapes of masks and arrays that do not broadcast: for the tests of errors.
    if not picked.size:
        # NumPy looks at no index where nothing is picked; here one out of bounds is an error all the same.
        try:
            basic(items, shape)
        except SelectionError as error:
            assume("out of bounds" not in error.message)


@settings(max_examples=2 * EXAMPLES.max_examples)
@given(fancy_cases())
def test_fancy_picks_what_numpy_picks(case):
    shape, items = case
    numpy_or_skip(shape, items)
    same_as_numpy(shape, items)


@EXAMPLES
@given(fancy_cases())
def test_fancy_assigns_what_numpy_assigns(case):
    shape, items = case
    numpy_or_skip(shape, items)
    array, selection = same_as_numpy(shape, items)
    picked = array[items]
    assume(np.unique(picked).size == picked.size)  # The order of writes to one element twice is the kernel's affair.
    expected = array.copy()
    values = -1 - np.arange(picked.size).reshape(picked.shape)
    expected[items] = values
    assign(array, selection, values)
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize(
    ("index", "kind"),
    [
        (([0, 2],), Selection),
        ((slice(None), [0, 2]), Selection),
        ((0, slice(None), [0, 2]), Selection),
        (([[0, 1], [2, 0]],), Selection),
        ((slice(None, None, -1), [[0, 1], [2, 0]]), Selection),
        (([[0], [2]], [[0, 1]]), Selection),
        (([0, 2], [0, 1]), Points),
        (([0, 2], slice(None), [0, 1]), Points),
        ((np.ones((4, 3, 5), bool),), Mask),
        ((np.ones((4, 3), bool),), Points),
        ((np.array([True, False, True, True]),), Selection),
    ],
)
def test_arrays_that_do_not_share_axes_stay_orthogonal(index, kind):
    _, selection = same_as_numpy((4, 3, 5), index)
    assert type(selection) is kind


@EXAMPLES
@given(st.data())
def test_points_pick_what_numpy_picks(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=6))
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=len(shape), min_side=0, max_side=4, max_dims=3))
    index = tuple(
        data.draw(hnp.arrays(np.int64, side, elements=st.integers(-size, size - 1)))
        for side, size in zip(shapes.input_shapes, shape, strict=True)
    )
    array, selection = same_as_numpy(shape, index, points, lambda array: np.asarray(array[index]))
    assert isinstance(selection, Points)
    assume(all(part.size for part in index))  # An empty list has forgotten its other dimensions.
    lists = tuple(part.tolist() for part in index)
    np.testing.assert_array_equal(fetch(array, points(lists, shape)), array[index])


@EXAMPLES
@given(st.data())
def test_a_mask_picks_and_assigns_what_numpy_does(data):
    shape = data.draw(SHAPES.filter(len))
    chosen = data.draw(hnp.arrays(bool, shape))
    for select in (mask, points, basic):
        array, selection = same_as_numpy(shape, chosen, select)
        assert isinstance(selection, Mask)
        expected = array.copy()
        expected[chosen] = values = -1 - np.arange(chosen.sum())
        assign(array, selection, values)
        np.testing.assert_array_equal(array, expected)
    same_as_numpy(shape, np.asfortranarray(chosen), mask)


@EXAMPLES
@given(st.data())
def test_blocks_pick_whole_chunks(data):
    shape = data.draw(SHAPES)
    chunks = tuple(data.draw(st.integers(1, 4)) for _ in shape)
    grid = tuple(-(-size // chunk) for size, chunk in zip(shape, chunks, strict=True))
    items, expected = [], []
    for size, chunk, number in list(zip(shape, chunks, grid, strict=True))[: data.draw(st.integers(0, len(shape)))]:
        item = data.draw(st.integers(-number, number - 1) if number and data.draw(st.booleans()) else st.slices(number))
        assume(isinstance(item, int) or item.step in (None, 1))
        items.append(item)
        chosen = np.arange(number)[item]
        inside = [i for i in range(size) if i // chunk in np.atleast_1d(chosen)]
        expected.append(slice(inside[0], inside[-1] + 1) if inside else slice(0, 0))
    same_as_numpy(
        shape, tuple(items), lambda index, _: blocks(index, shape, RegularGrid(chunks)), lambda a: a[tuple(expected)]
    )


def test_forms_of_plain_indices():
    shape = (4, 5)
    assert basic((), ()) == basic(..., ()) == Selection([], (), ())
    assert basic((2,), shape) == basic(2, shape) == basic(np.uint8(2), shape) == basic(np.array(2), shape)
    assert basic(-1, shape).dims == [(3, 1, 1), (0, 1, 5)]
    assert basic((slice(3, 0, -2), ...), shape) == Selection([(1, 2, 2), (0, 1, 5)], (2, 5), (2, 5), (0,))
    assert basic((None, 1, None), shape).shape == (1, 1, 5)
    assert basic(slice(np.int8(1), np.int64(3)), shape).dims[0] == (1, 1, 2)
    assert basic(slice(7, 9), shape).dims[0] == (0, 1, 0)
    assert basic((..., slice(0, 1, 100)), shape).dims[1] == (0, 1, 1)
    assert basic([], shape).shape == (0, 5)
    assert orthogonal(([], []), shape).shape == (0, 0)


class Number(int):
    """A whole number of another class."""


class Position:
    def __index__(self):
        return 3


@pytest.mark.parametrize("index", [Number(3), Position(), np.int8(3), np.array(3), np.uint64(3)])
def test_whatever_has_index_is_an_integer(index):
    for select in (basic, orthogonal):
        assert select((index, index), (4, 5)) == basic((3, 3), (4, 5))
    assert points((index, index), (4, 5)).shape == ()
