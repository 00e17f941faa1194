"""Datasets: a writer defines, grows and writes; readers see what was there when they opened, or what is there now."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import omnizarr as oz
from omnizarr.errors import OmnizarrError
from tests.stateful.places import Place, attempted, faults

FILL = -1
NAMES = ["u", "v", "w"]
names = st.sampled_from(NAMES)


class DatasetMachine(RuleBasedStateMachine):
    """One that writes, and one that reads, a dataset with an unlimited dimension."""

    @initialize(kind=st.sampled_from(["folder", "mapping"]), zarr=st.sampled_from(["NCZARR", "NCZARR3"]))
    def start(self, kind: str, zarr: str) -> None:
        self.place = Place(kind)
        self.model: dict[str, np.ndarray] = {}
        self.attrs: dict[str, int] = {}
        self.rows = self.next = 0
        self.zarr = zarr
        with self.opened("w") as dataset:
            dataset.createDimension("t", None)
            dataset.createDimension("x", 3)
        self.writer = self.opened("r+")

    def opened(self, mode: str, store=None):
        where = self.place.store() if store is None else store
        return oz.Dataset(where, mode, format=self.zarr) if mode == "w" else oz.Dataset(where, mode)

    def teardown(self) -> None:
        if hasattr(self, "writer"):
            attempted(self.writer.close, OmnizarrError)
            self.place.close()

    def seen(self) -> tuple[dict[str, list], dict[str, int]]:
        with self.opened("r") as dataset:
            dataset.set_auto_mask(False)
            found = {name: np.asarray(var[...]).tolist() for name, var in dataset.variables.items()}
            return found, {name: int(dataset.getncattr(name)) for name in dataset.ncattrs() if name in NAMES}

    def expected(self) -> dict[str, list]:
        return {name: self.padded(values).tolist() for name, values in self.model.items()}

    def padded(self, values: np.ndarray) -> np.ndarray:
        more = np.full((max(self.rows - len(values), 0), 3), FILL, "i4")
        return np.concatenate([values, more])

    def check(self) -> None:
        self.writer.sync()
        assert self.seen() == (self.expected(), self.attrs)

    def define(self, dataset, name: str):
        return dataset.createVariable(name, "i4", ("t", "x"), fill_value=FILL, chunksizes=(2, 2))

    @rule(name=names)
    def create(self, name: str) -> None:
        if name not in self.model:
            self.define(self.writer, name)
            self.model[name] = np.empty((0, 3), "i4")
            self.check()

    @rule(name=names, row=st.integers(0, 8), count=st.integers(1, 3))
    def write(self, name: str, row: int, count: int) -> None:
        if name in self.model:
            self.model[name], self.rows = self.written(self.writer, name, row, count)
            self.check()

    def written(self, dataset, name: str, row: int, count: int) -> tuple[np.ndarray, int]:
        self.next += 1
        values = np.arange(count * 3, dtype="i4").reshape(count, 3) + 100 * self.next
        rows = max(self.rows, row + count)
        old = self.padded(self.model[name])
        new = np.full((rows, 3), FILL, "i4")
        new[: len(old)] = old
        new[row : row + count] = values
        self.pending = new, rows
        dataset.variables[name][row : row + count] = values
        return new, rows

    @rule(name=names, value=st.integers(-5, 5))
    def set_attribute(self, name: str, value: int) -> None:
        self.writer.setncattr(name, np.int32(value))
        self.attrs[name] = value
        self.check()

    @rule(close=st.booleans())
    def reopen(self, close: bool) -> None:
        """Close the writer, or forget it after a sync."""
        if close:
            self.writer.close()
        else:
            self.writer.sync()
        self.writer = self.opened("r+")
        self.check()

    @rule(name=names, row=st.integers(0, 8), count=st.integers(1, 3), fault=faults)
    def write_fails(self, name: str, row: int, count: int, fault) -> None:
        """A process that stops while it writes: each value is old or new, and the other variables are whole."""
        if name not in self.model:
            return
        self.writer.close()
        failing = self.place.failing(fault)

        def change() -> None:
            with self.opened("r+", failing) as dataset:
                self.written(dataset, name, row, count)

        attempted(change, OmnizarrError)
        new, rows = self.pending if self.next else (self.model[name], self.rows)
        found, attrs = self.seen()
        assert attrs == self.attrs
        assert found.keys() == self.model.keys()
        self.rows = max([self.rows, *(len(values) for values in found.values())])
        assert self.rows <= rows
        for other, values in self.model.items():
            got, old = np.array(found[other], "i4").reshape(-1, 3), self.padded(values)
            old = old[: len(got)] if len(got) < len(old) else self.padded(values)
            wanted = new[: len(got)] if other == name else old
            same = (got == old[: len(got)]) | (got == wanted) if len(old) >= len(got) else got == wanted
            assert np.all(same), (other, got, old, wanted)
            self.model[other] = got
        self.writer = self.opened("r+")
        self.check()
