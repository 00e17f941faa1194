"""Reference sets that grow: readers of any age see what their set held, and an append that stops leaves no trace."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from omnizarr.errors import OmnizarrError
from omnizarr.refset.model import Chunks, References
from omnizarr.refset.parquet_append import append_parquet
from omnizarr.refset.parquet_reading import open_parquet, read_parquet
from omnizarr.refset.parquet_writing import write_parquet
from tests.stateful.places import KINDS, Place, actors, attempted, faults


def _document(count: int) -> dict[str, bytes]:
    array = {"zarr_format": 2, "shape": [count], "chunks": [1], "dtype": "|u1", "order": "C", "fill_value": 0}
    return {"a/.zarray": json.dumps(array | {"compressor": None, "filters": None}).encode()}


class ReferencesMachine(RuleBasedStateMachine):
    """A set in Parquet, one that appends, and two readers."""

    @initialize(kind=st.sampled_from(KINDS), record_size=st.integers(1, 7), count=st.integers(0, 5))
    def start(self, kind: str, record_size: int, count: int) -> None:
        self.place = Place(kind)
        self.next = 0
        self.model = self.made(count)
        write_parquet(self.references(self.model, count), self.place.store(), record_size=record_size)
        self.readers = [(open_parquet(self.place.store()), count) for _ in range(2)]

    def teardown(self) -> None:
        if hasattr(self, "place"):
            self.place.close()

    def made(self, count: int) -> list[bytes]:
        self.next += count
        return [str(self.next - i).encode() for i in range(count)]

    def references(self, rows: list[bytes], count: int) -> References:
        return References(_document(count), {"a": Chunks.of_bytes((len(rows),), dict(enumerate(rows)))}, [])

    def state(self) -> list[bytes]:
        chunks = read_parquet(self.place.store()).arrays["a"]
        ends = np.stack([chunks.offsets, chunks.offsets + chunks.lengths], 1).tolist()
        assert chunks.numbers is None or chunks.numbers.tolist() == list(range(len(chunks)))
        return [bytes(chunks.inline[start:stop]) for start, stop in ends]

    @rule(count=st.integers(1, 9))
    def append(self, count: int) -> None:
        if len(self.model) < 60:
            rows = self.made(count)
            append_parquet(self.place.store(), self.references(rows, len(self.model) + count))
            self.model += rows

    @rule(count=st.integers(1, 9), fault=faults)
    def append_fails(self, count: int, fault) -> None:
        if len(self.model) >= 60:
            return
        rows = self.made(count)
        failing = self.place.failing(fault)
        added = self.references(rows, len(self.model) + count)
        error = attempted(lambda: append_parquet(failing, added), OmnizarrError)
        found = self.state()
        assert (error is not None) == bool(failing.fired)
        assert found in (self.model, self.model + rows)
        assert error is not None or len(found) > len(self.model)
        self.model = found

    @rule(actor=actors)
    def reopen(self, actor: int) -> None:
        self.readers[actor] = open_parquet(self.place.store()), len(self.model)

    @rule(actor=actors, row=st.integers(0, 59))
    def read(self, actor: int, row: int) -> None:
        # How many rows an append that failed has left is not the same each time, so nothing may be drawn by it.
        store, count = self.readers[actor]
        if count:
            assert store.get(f"a/{row % count}") == self.model[row % count]

    @invariant()
    def the_set_is_whole(self) -> None:
        if hasattr(self, "model"):
            assert self.state() == self.model
