"""Arrays: two handles write boxes of one array and change its shape; every element is what was written last."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import omnizarr as oz
from omnizarr.errors import OmnizarrError
from tests.stateful.places import KINDS, Place, actors, attempted, faults

FILL = -1
LAYOUTS = {
    "plain": {"chunks": (3, 4)},
    "compressed": {"chunks": (4, 2), "codecs": ["bytes", "zstd", "crc32c"]},
    "sharded": {"chunks": (2, 2), "shards": (4, 4)},
    "version 2": {"chunks": (3, 3), "format": "zarr2", "order": "F"},
    "strings": {"chunks": (3, 4), "dtype": "string"},
}
lengths = st.integers(0, 9)
steps = st.integers(1, 3)
boxes = st.tuples(*(st.tuples(lengths, lengths, steps) for _ in range(2)))


def _slices(box, shape):
    return tuple(slice(min(a, n), min(b, n), step) for (a, b, step), n in zip(box, shape, strict=True))


class ArrayMachine(RuleBasedStateMachine):
    """Two handles of one array."""

    @initialize(kind=st.sampled_from(KINDS), layout=st.sampled_from(sorted(LAYOUTS)), shape=st.tuples(lengths, lengths))
    def start(self, kind: str, layout: str, shape: tuple[int, int]) -> None:
        self.place = Place(kind)
        self.text = layout == "strings"
        options = {"dtype": "i4", "fill_value": str(FILL) if self.text else FILL, **LAYOUTS[layout]}
        oz.create_array(self.place.store(), shape=shape, **options)
        self.model = np.full(shape, FILL, "i4")
        self.next = 0
        self.arrays = [self.handle(), self.handle()]

    def handle(self, store=None):
        return oz.open_array(self.place.store() if store is None else store, mode="r+")

    def teardown(self) -> None:
        if hasattr(self, "place"):
            self.place.close()

    def state(self):
        found = oz.open_array(self.place.store(), mode="r")[...]
        return np.array(found.tolist(), "O").astype("i4").reshape(found.shape) if self.text else found

    def values(self, shape):
        count = int(np.prod(shape))
        made = np.arange(self.next, self.next + count, dtype="i4").reshape(shape)
        self.next += count
        return made

    def given(self, values):
        return values.astype(str).astype("O") if self.text else values

    @rule(actor=actors, box=boxes)
    def write(self, actor: int, box) -> None:
        key = _slices(box, self.model.shape)
        values = self.values(self.model[key].shape)
        array = self.arrays[actor]
        array.refresh()
        array[key] = self.given(values)
        self.model[key] = values

    @rule(actor=actors, box=boxes)
    def write_unaware(self, actor: int, box) -> None:
        """Write through a handle that knows an older shape, which may be longer or shorter."""
        array = self.arrays[actor]
        key = _slices(box, tuple(map(min, array.shape, self.model.shape)))
        values = self.values(self.model[key].shape)
        array[key] = self.given(values)
        self.model[key] = values
        np.testing.assert_array_equal(self.state(), self.model)

    @rule(actor=actors, box=boxes)
    def read(self, actor: int, box) -> None:
        key = _slices(box, self.model.shape)
        array = self.arrays[actor]
        array.refresh()
        expected = self.given(self.model)[key]
        assert array.shape == self.model.shape
        assert np.asarray(array[key]).tolist() == expected.tolist()

    @rule(actor=actors, shape=st.tuples(lengths, lengths))
    def resize(self, actor: int, shape: tuple[int, int]) -> None:
        array = self.arrays[actor]
        array.refresh()
        array.resize(shape)
        self.model = _resized(self.model, shape)
        np.testing.assert_array_equal(self.state(), self.model)

    @rule(actor=actors, count=st.integers(0, 4), axis=st.integers(0, 1))
    def append(self, actor: int, count: int, axis: int) -> None:
        shape = list(self.model.shape)
        shape[axis] = count
        if self.model.shape[axis] > 20:
            return
        values = self.values(tuple(shape))
        array = self.arrays[actor]
        array.refresh()
        array.append(self.given(values), axis)
        self.model = np.concatenate([self.model, values], axis)
        np.testing.assert_array_equal(self.state(), self.model)

    @rule(box=boxes, fault=faults)
    def write_fails(self, box, fault) -> None:
        """A process that stops in the midst of a write: each element is old or new."""
        key = _slices(box, self.model.shape)
        values = self.values(self.model[key].shape)
        new = self.model.copy()
        new[key] = values
        failing = self.place.failing(fault)
        error = attempted(lambda: self.handle(failing).__setitem__(key, self.given(values)), OmnizarrError)
        found = self.state()
        assert np.all((found == self.model) | (found == new))
        assert (error is not None) == bool(failing.fired)
        assert error is None or error.key
        assert error is not None or np.array_equal(found, new)
        self.model = found.astype("i4")

    @rule(shape=st.tuples(lengths, lengths), fault=faults)
    def resize_fails(self, shape, fault) -> None:
        """A process that stops in the midst of a resize: the old array or the new one."""
        failing = self.place.failing(fault)
        error = attempted(lambda: self.handle(failing).resize(shape), OmnizarrError)
        found = self.state()
        new = _resized(self.model, shape)
        if error is None:
            np.testing.assert_array_equal(found, new)
        else:
            assert found.shape in (self.model.shape, shape)
            old = self.model if found.shape == self.model.shape else new
            # What is to be cut off may be gone already while the shape is still the old one.
            assert np.all((found == old) | (found == FILL))
            both = tuple(slice(0, min(a, b)) for a, b in zip(self.model.shape, shape, strict=True))
            np.testing.assert_array_equal(found[both], self.model[both])
        self.model = found.astype("i4")

    @rule(actor=actors)
    def drop(self, actor: int) -> None:
        self.arrays[actor] = self.handle()


def _resized(old, shape):
    new = np.full(shape, FILL, "i4")
    both = tuple(slice(0, min(a, b)) for a, b in zip(old.shape, shape, strict=True))
    new[both] = old[both]
    return new
