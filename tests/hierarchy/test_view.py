"""Lazy views: whatever is composed reads what NumPy gives, in one call."""

import pickle
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.array.io import Access
from omnizarr.errors import SelectionError

SHAPE = (7, 6, 5)


@pytest.fixture(scope="module")
def pair():
    values = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    return oz.create_array({}, data=values, chunks=(3, 2, 4), dims=("t", "y", "x")), values


@contextmanager
def reads(monkeypatch):
    seen = []
    real = Access.read

    def read(self, found):
        seen.append(found)
        return real(self, found)

    with monkeypatch.context() as patch:
        patch.setattr(Access, "read", read)
        yield seen


def slices(size):
    bound = st.none() | st.integers(-size - 2, size + 2)
    return st.builds(slice, bound, bound, st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]))


@st.composite
def steps(draw, shape):
    """One step on something of a shape: a selection or a transposition."""
    if draw(st.booleans()) and len(shape) > 1:
        return "transpose", tuple(draw(st.permutations(range(len(shape)))))
    first = draw(st.integers(0, len(shape)))
    last = draw(st.integers(first, len(shape)))

    def items(sizes):
        for size in sizes:
            if len(shape) < 8 and draw(st.integers(0, 5)) == 0:
                yield None
            yield draw(st.integers(-size, size - 1) if size and draw(st.booleans()) else slices(size))

    return "pick", (*items(shape[:first]), *[...] * (last < len(shape)), *items(shape[last:]))


@settings(deadline=None)
@given(data=st.data())
def test_what_is_composed_reads_as_numpy_gives_it(pair, data):
    array, values = pair
    view = array.lazy
    for _ in range(data.draw(st.integers(1, 5))):
        kind, step = data.draw(steps(values.shape))
        view, values = (
            (view.transpose(step), values.transpose(step)) if kind == "transpose" else (view[step], values[step])
        )
        assert (view.shape, view.ndim, view.size, view.nbytes) == (
            values.shape,
            values.ndim,
            values.size,
            values.nbytes,
        )
    np.testing.assert_array_equal(np.asarray(view), values)
    assert tuple(map(sum, view.pieces)) == values.shape


@st.composite
def fancy(draw, shape):
    items, length = [], draw(st.integers(0, 4))
    for size in shape:
        kind = draw(st.sampled_from(["slice", "array", "int", "mask"])) if size else "slice"
        if kind == "array":
            items.append(draw(st.lists(st.integers(-size, size - 1), min_size=length, max_size=length)))
        elif kind == "mask" and length == 1:
            items.append(np.eye(size, dtype=bool)[draw(st.integers(0, size - 1))])
        elif kind == "int":
            items.append(draw(st.integers(-size, size - 1)))
        else:
            items.append(draw(slices(size)))
    return tuple(np.array(one, int) if isinstance(one, list) else one for one in items)


@settings(deadline=None)
@given(data=st.data())
def test_index_arrays_read_as_numpy_gives_it(pair, data):
    array, values = pair
    view = array.lazy
    for _ in range(data.draw(st.integers(0, 2))):
        kind, step = data.draw(steps(values.shape))
        view, values = (
            (view.transpose(step), values.transpose(step)) if kind == "transpose" else (view[step], values[step])
        )
    key = data.draw(fancy(values.shape))
    np.testing.assert_array_equal(np.asarray(view[key]), values[key])


def test_nothing_is_read_before_it_is_asked_for_and_then_once(pair, monkeypatch):
    array, values = pair
    with reads(monkeypatch) as seen:
        view = array.lazy[1:, ::-2].T[None, 2:, 1]
        assert view.dims == (None, "x", "t")
        assert repr(view) == "<omnizarr.View of '/' (1, x: 3, t: 6) int64>"
        assert not seen
        assert (np.asarray(view) == values[1:, ::-2].T[None, 2:, 1]).all()
    assert len(seen) == 1
    assert seen[0].counts == (6, 1, 3)


def test_functions_of_numpy_take_views(pair):
    array, values = pair
    assert np.array_equal(array.lazy[0] + array.lazy[1], values[0] + values[1])
    assert np.array_equal(np.concatenate([array.lazy[0], array.lazy[1]]), np.concatenate([values[0], values[1]]))
    assert np.sum(array.lazy[2], axis=0).tolist() == values[2].sum(axis=0).tolist()
    assert len(array.lazy) == 7
    assert np.asarray(array.lazy, dtype="f4").dtype == np.float32


def test_wrong_selections_say_so(pair):
    view = pair[0].lazy
    for wrong in [(7,), (0, 0, 0, 0), ("a",), (1.5,), ([9],), (slice("a"),), (True,), (..., 0, ...)]:
        with pytest.raises(SelectionError):
            view[wrong]
    with pytest.raises(SelectionError):
        view.transpose(0, 0, 1)
    with pytest.raises(TypeError):
        len(view[0, 0, 0])
    with pytest.raises(ValueError, match="copy"):
        np.asarray(view, copy=False)


def test_views_pickle_by_place(tmp_path):
    array = oz.create_array(tmp_path / "a", data=np.arange(10))
    assert pickle.loads(pickle.dumps(array.lazy[::-3])).read().tolist() == [9, 6, 3, 0]


def test_xarray_keeps_views_lazy(pair, monkeypatch):
    xr = pytest.importorskip("xarray")
    array, values = pair
    with reads(monkeypatch) as seen:
        variable = xr.Variable(("t", "y", "x"), array.lazy)
        part = variable.isel(t=slice(1, 5), y=2).transpose("x", "t")
        dataset = xr.Dataset({"v": variable}).isel(x=slice(None, None, -1))
        assert not seen
        assert (part.values == values[1:5, 2].T).all()
        assert len(seen) == 1
        assert (dataset["v"].values == values[..., ::-1]).all()
        assert (variable.isel(t=[4, 1], x=[0, 2]).values == values[[4, 1]][..., [0, 2]]).all()
        points = xr.Variable("p", [1, 2, 3])
        assert (variable.isel(t=points, y=points, x=points).values == values[[1, 2, 3], [1, 2, 3], [1, 2, 3]]).all()
        assert float((variable * 2).mean()) == values.mean() * 2


@pytest.mark.parametrize("key", [(slice(None), 1), (0,), (..., 0)])
def test_a_mask_has_the_lengths_of_its_axes(key):
    """A shorter one would select other elements than those that it was made for."""
    values = np.arange(60).reshape(3, 4, 5)
    view = oz.create_array({}, data=values, chunks=(2, 2, 2)).lazy
    whole = values[key]
    for mask in (whole > 7, np.ones(whole.shape[:1], bool)):
        assert (view[key][mask] == whole[mask]).all()
        for wrong in (mask[:-1], np.concatenate([mask, mask])):
            with pytest.raises(SelectionError, match="needs the shape"):
                view[key][wrong]
    with pytest.raises(SelectionError, match="axis 2"):
        view[0, ..., np.ones(4, bool)]
    assert (view[0, ..., np.arange(5) > 2] == values[0, ..., np.arange(5) > 2]).all()


def test_methods_of_arrays_read():
    values = np.arange(6.0).reshape(2, 3)
    view = oz.create_array({}, data=values, chunks=(1, 2)).lazy[:, ::-1]
    shown = values[:, ::-1]
    assert view.astype("i2", copy=True).dtype == "int16"
    for found, wanted in (
        (view.ravel(), shown.ravel()),
        (view.reshape(3, 2), shown.reshape(3, 2)),
        (view.copy(), shown),
    ):
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, wanted)
    assert view.tolist() == shown.tolist()


def test_without_dimensions_they_are_numbers():
    a = oz.create_array({}, data=np.array([2.5, -1.5]))
    alone = oz.create_array({}, data=np.array(3.25))
    for view, value in ((a.lazy[1], -1.5), (alone, 3.25), (alone.lazy, 3.25)):
        assert float(view) == value
        assert int(view) == int(value)
        assert complex(view) == value
        assert f"{float(view):.1f}" == f"{value:.1f}"
    for wrong in (a, a.lazy, a.lazy[:1]):
        for kind in (float, int, complex):
            with pytest.raises(TypeError, match="only an array without dimensions"):
                kind(wrong)
    with pytest.raises(ValueError, match="could not convert string"):
        float(oz.create_array({}, data=np.array("x")))
