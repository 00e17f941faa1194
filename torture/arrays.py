"""Scenarios of one array: chunks, shards, shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import omnizarr as oz
from torture.scenario import Scenario, expect, scenario


@scenario("overwrite")
class Overwrite(Scenario):
    """Every chunk of an array is replaced; each is old or new."""

    zarr = "a.zarr"
    can_be_durable = True
    chunks = (2, 16)
    options: ClassVar[dict[str, Any]] = {}

    def make(self, folder: Path) -> None:
        a: Any = oz.create_array(self.store(folder), shape=(4, 32), dtype="i8", chunks=self.chunks, **self.options)
        a[...] = 0

    def step(self, folder: Path, number: int) -> None:
        oz.open_array(self.store(folder), mode="r+")[...] = number

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        found: Any = oz.open_array(folder / "a.zarr", mode="r")[...]
        for i in range(0, 4, 2):
            for j in range(0, 32, 16):
                values = set(found[i : i + 2, j : j + 16].ravel().tolist())
                expect(len(values) == 1, "a chunk is torn:", values)
                expect(values <= {number, number + (not exact)}, "a chunk is", values, "in state", number)


@scenario("overwrite v2")
class OverwriteV2(Overwrite):
    """The same in Zarr v2, whose chunks lie flat beside the document."""

    options: ClassVar[dict[str, Any]] = {"format": "zarr2"}


@scenario("write new chunks")
class NewChunks(Scenario):
    """Chunks that were not there are written into folders that were not there."""

    zarr = "a.zarr"
    can_be_durable = True
    most = 12

    def make(self, folder: Path) -> None:
        oz.create_array(self.store(folder), shape=(12, 4), dtype="i4", chunks=(1, 2), fill_value=-1)

    def step(self, folder: Path, number: int) -> None:
        oz.open_array(self.store(folder), mode="r+")[number - 1] = number

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        found: Any = oz.open_array(folder / "a.zarr", mode="r")[...]
        expected = np.repeat(np.where(np.arange(12) < number, np.arange(12) + 1, -1)[:, None], 4, 1)
        if not exact and number < 12:
            row = found[number]
            expect(
                all(len(set(part)) == 1 and part[0] in (-1, number + 1) for part in (row[:2], row[2:])), "torn:", row
            )
            expected[number] = row
        expect((found == expected).all(), "state", number, "is", found.tolist())


@scenario("shard")
class Shard(Scenario):
    """A part of a shard is changed, which no inner chunk fits; the whole shard is old or new."""

    zarr = "a.zarr"
    can_be_durable = True

    def make(self, folder: Path) -> None:
        a: Any = oz.create_array(self.store(folder), shape=(64,), dtype="i8", chunks=(4,), shards=(64,))
        a[...] = 0

    @staticmethod
    def place(number: int) -> slice:
        start = number * 7 % 58
        return slice(start, start + 6)

    def model(self, number: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the values of a state: each element is that of the last step that wrote it."""
        found = np.zeros(64, "i8")
        for one in range(max(1, number - 128), number + 1):
            found[self.place(one)] = one
        return found

    def step(self, folder: Path, number: int) -> None:
        oz.open_array(self.store(folder), mode="r+")[self.place(number)] = number

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        found: Any = oz.open_array(folder / "a.zarr", mode="r")[...]
        states = [self.model(number)] + ([] if exact else [self.model(number + 1)])
        expect(any((found == one).all() for one in states), "state", number, "is", found.tolist())


@scenario("append")
class Append(Scenario):
    """Rows are added; all of them show, or none."""

    zarr = "a.zarr"
    can_be_durable = True
    most = 30
    kinds = 2

    def make(self, folder: Path) -> None:
        oz.create_array(self.store(folder), shape=(0, 6), dtype="i4", chunks=(4, 3), fill_value=-1)

    def step(self, folder: Path, number: int) -> None:
        a: Any = oz.open_array(self.store(folder), mode="r+")
        if a.shape[0] < 6 * number:
            a.append(np.full((6, 6), number, "i4"))

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        found: Any = oz.open_array(folder / "a.zarr", mode="r")[...]
        rows = found.shape[0] // 6
        expect(rows in (number, number + (not exact)) and found.shape == (rows * 6, 6), "shape", found.shape)
        expect((found == np.repeat(np.arange(1, rows + 1), 6)[:, None]).all(), "rows of", number, "are", found.tolist())


@scenario("resize")
class Resize(Scenario):
    """An array is filled, cut and made longer, again and again: what was cut off does not come back."""

    zarr = "a.zarr"
    can_be_durable = True
    kinds = 3
    lengths = (40, 7, 40)

    def make(self, folder: Path) -> None:
        oz.create_array(self.store(folder), shape=(40,), dtype="i4", chunks=(4,), fill_value=-1)[...] = 0

    def step(self, folder: Path, number: int) -> None:
        a: Any = oz.open_array(self.store(folder), mode="r+")
        kind = number % 3
        if kind == 0:
            a[...] = number
        else:
            a.resize(self.lengths[kind])

    def states(self, number: int) -> list[int]:
        """Return the values of a state."""
        base = number - number % 3
        return ([base] * 40, [base] * 7, [base] * 7 + [-1] * 33)[number % 3]

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        found: Any = oz.open_array(folder / "a.zarr", mode="r")[...]
        old, new = self.states(number), self.states(number + 1)
        if found.shape == (40,) and number % 3 == 2 and not exact:  # each chunk is old or new
            good = all(found[i : i + 4].tolist() in (old[i : i + 4], new[i : i + 4]) for i in range(0, 40, 4))
        else:
            good = found.tolist() == old or (found.tolist() == new and not exact)
        expect(good, "state", number, "is", found.tolist())


@scenario("resize two dimensions")
class ResizeTwo(Resize):
    """The same in two dimensions and shards."""

    can_be_durable = False

    def make(self, folder: Path) -> None:
        shape, chunks, shards = (9, 9), (2, 2), (4, 4)
        options: Any = {"dtype": "i4", "chunks": chunks, "shards": shards, "fill_value": -1}
        a: Any = oz.create_array(self.store(folder), shape=shape, **options)
        a[...] = 0

    def step(self, folder: Path, number: int) -> None:
        a: Any = oz.open_array(self.store(folder), mode="r+")
        kind = number % 3
        if kind == 0:
            a[...] = number
        else:
            a.resize(((9, 9), (3, 5), (9, 9))[kind])

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        found: Any = oz.open_array(folder / "a.zarr", mode="r")[...]
        old, new = self.grid(number), self.grid(number + 1)
        if number % 3 == 2 and not exact:
            good = found.shape == (9, 9)
            for i in range(0, 9, 4):
                for j in range(0, 9, 4):
                    box = np.s_[i : i + 4, j : j + 4]
                    good = good and any((found[box] == one[box]).all() for one in (old, new))
        else:
            good = any(found.shape == one.shape and (found == one).all() for one in ([old] if exact else [old, new]))
        expect(good, "state", number, "is", found.tolist())

    @staticmethod
    def grid(number: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Return the values of a state."""
        whole = np.full((9, 9), number - number % 3)
        if number % 3 == 1:
            return whole[:3, :5]
        if number % 3 == 2:
            whole[3:], whole[:, 5:] = -1, -1
        return whole
