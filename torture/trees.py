"""Scenarios of nodes: made, replaced, erased, copied; attributes and consolidated metadata."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import omnizarr as oz
from omnizarr.errors import NotFoundError
from torture.scenario import Scenario, expect, scenario


def _array(folder: Path, path: str) -> Any:  # noqa: ANN401 - values of any type
    """Return the values of an array and its attributes, or `None` if it is not there."""
    try:
        found: Any = oz.open_array(folder / "a.zarr", mode="r", path=path)
    except NotFoundError:
        return None
    return found[...], dict(found.attrs)


@scenario("create")
class Create(Scenario):
    """Arrays are made in groups that are not there yet."""

    zarr = "a.zarr"
    can_be_durable = True
    most = 10

    def make(self, folder: Path) -> None:
        oz.create_group(self.store(folder))

    def step(self, folder: Path, number: int) -> None:
        group: Any = oz.open_group(self.store(folder), mode="r+")
        path = f"g{number}/h/x"
        if path not in group:
            group.create_array(path, shape=(4,), dtype="i4", chunks=(2,), fill_value=-1)
        group[path][...] = number

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        names = sorted(oz.open_group(folder / "a.zarr", mode="r"))
        known = sorted(f"g{n}" for n in range(1, number + 1))
        expect([one for one in names if one != f"g{number + 1}" or exact] == known, "groups are", names)
        for n in range(1, number + 1):
            expect((_array(folder, f"g{n}/h/x")[0] == n).all(), "array", n)
        new = _array(folder, f"g{number + 1}/h/x")
        if new is not None:
            expect(not exact, "there is one more")
            expect(all(part.tolist() in ([-1, -1], [number + 1] * 2) for part in (new[0][:2], new[0][2:])), new)


@scenario("replace")
class Replace(Scenario):
    """An array is overwritten by a new one: the old one is there, or none, or the new one; never a mixture."""

    zarr = "a.zarr"

    def make(self, folder: Path) -> None:
        oz.create_group(self.store(folder))
        self.step(folder, 0)

    def step(self, folder: Path, number: int) -> None:
        options = {"chunks": (2, 2), "fill_value": -1, "attrs": {"n": number}}
        group: Any = oz.open_group(self.store(folder), mode="r+")
        group.create_array("x", shape=(4, 6), dtype="i4", overwrite=True, **options)[...] = number

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        found = _array(folder, "x")
        expect(found is not None or not exact, "nothing is there")
        if found is None:
            return
        values, n = found[0], found[1]["n"]
        expect(n in (number, number + (not exact)), "it is", n, "in state", number)
        allowed = {n} if n == number else {n, -1}
        for i in range(0, 4, 2):
            for j in range(0, 6, 2):
                seen = set(values[i : i + 2, j : j + 2].ravel().tolist())
                expect(len(seen) == 1 and seen <= allowed, "a chunk of", n, "is", seen)


@scenario("erase")
class Erase(Scenario):
    """An array goes, and comes again: as long as it is there, it is whole."""

    zarr = "a.zarr"
    kinds = 2
    can_be_durable = True

    def make(self, folder: Path) -> None:
        oz.create_group(self.store(folder))
        self.step(folder, 0)

    def step(self, folder: Path, number: int) -> None:
        group: Any = oz.open_group(self.store(folder), mode="r+")
        if number % 2:
            if "x" in group:
                del group["x"]
        else:
            # Chunks that say what they are in are put first: see what is done with documents that come last.
            group.create_array("x", shape=(4, 4), dtype="i4", chunks=(2, 2), fill_value=-1, overwrite=True)
            group["x"][...] = number

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        found = _array(folder, "x")
        if number % 2:  # about to be made
            allowed = {-1, number + 1}
            expect(found is None or (not exact and set(found[0].ravel().tolist()) <= allowed), "it is", found)
        else:  # about to go
            expect(found is not None or not exact, "it is gone")
            expect(found is None or (found[0] == number).all(), "it is", found)


@scenario("attributes")
class Attributes(Scenario):
    """Attributes change, with those of a group above whose metadata are consolidated."""

    zarr = "a.zarr"
    can_be_durable = True

    def make(self, folder: Path) -> None:
        group: Any = oz.create_group(self.store(folder), attrs={"n": 0})
        group.create_array("x", shape=(2,), dtype="i4", attrs={"n": 0})[...] = 5
        group.consolidate()

    def step(self, folder: Path, number: int) -> None:
        oz.open_array(self.store(folder), mode="r+", path="x").attrs["n"] = number

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        for consolidated in (True, False):
            group: Any = oz.open_group(folder / "a.zarr", mode="r", consolidated=consolidated)
            n = group["x"].attrs["n"]
            expect(n in (number, number + (not exact)) and (group["x"][...] == 5).all(), "it is", n)


@scenario("consolidate")
class Consolidate(Scenario):
    """Documents change, and are consolidated anew."""

    zarr = "a.zarr"
    can_be_durable = True
    options: ClassVar[dict[str, Any]] = {}

    def make(self, folder: Path) -> None:
        group: Any = oz.create_group(self.store(folder), **self.options)
        for name in ("x", "y/z"):
            group.create_array(name, shape=(3,), dtype="i4", attrs={"n": 0})[...] = 7
        group.consolidate()

    def step(self, folder: Path, number: int) -> None:
        group: Any = oz.open_group(self.store(folder), mode="r+")
        for name in ("x", "y/z"):
            group[name].attrs["n"] = number
        group.consolidate()

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        for consolidated in (True, False):
            group: Any = oz.open_group(folder / "a.zarr", mode="r", consolidated=consolidated)
            for name in ("x", "y/z"):
                n = group[name].attrs["n"]
                expect(n in (number, number + (not exact)), name, "is", n)
                expect((group[name][...] == 7).all(), name)


@scenario("consolidate v2")
class ConsolidateV2(Consolidate):
    """The same in Zarr v2, where the copy is a document of its own."""

    options: ClassVar[dict[str, Any]] = {"format": "zarr2"}


@scenario("copy")
class Copy(Scenario):
    """A group is copied: it shows up whole, and the same call goes on with what was stopped."""

    most = 8

    def make(self, folder: Path) -> None:
        group: Any = oz.create_group(folder / "source.zarr", attrs={"a": 1})
        group.create_array("x", shape=(6, 6), dtype="i4", chunks=(2, 3))[...] = np.arange(36).reshape(6, 6) + 1
        group.create_array("g/y", shape=(8,), dtype="f4", chunks=(2,), shards=(4,))[...] = 1.5

    def step(self, folder: Path, number: int) -> None:
        target = folder / f"copy{number}.zarr"
        if not (target / "zarr.json").exists() or (target / ".omnizarr-copy.json").exists():
            oz.copy(folder / "source.zarr", target)

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        for n in range(1, number + 2):
            try:
                group: Any = oz.open_group(folder / f"copy{n}.zarr", mode="r")
            except NotFoundError:
                expect(n > number, "copy", n, "is missing")
                continue
            expect(n <= number or not exact, "copy", n, "is there")
            expect((group["x"][...].ravel() == np.arange(36) + 1).all(), "x of copy", n)
            expect((group["g/y"][...] == 1.5).all() and group.attrs["a"] == 1, "y of copy", n)

    def sweep(self, folder: Path) -> None:
        """Copies that were stopped are gone on with."""
        for target in folder.glob("copy*.zarr"):
            if (target / "zarr.json").exists() and not (target / ".omnizarr-copy.json").exists():
                oz.open(target, mode="r+").close()
            else:
                oz.copy(folder / "source.zarr", target)


@scenario("append to many")
class AppendMany(Scenario):
    """A dataset of xarray grows: each variable is old or new, and they go together once it is opened for writing."""

    zarr = "a.zarr"
    most = 20

    @staticmethod
    def data(number: int) -> Any:  # noqa: ANN401 - a dataset
        """Return what a step appends."""
        import xarray  # noqa: PLC0415 - few scenarios need it

        import omnizarr.interop.xarray  # noqa: F401, PLC0415 - for `oz`

        time = np.arange(2 * number, 2 * number + 2)
        values = np.full((2, 3), number, "i4")
        return xarray.Dataset({"t": (("time", "x"), values), "u": (("time", "x"), -values)}, {"time": time})

    def make(self, folder: Path) -> None:
        self.data(0).oz.to_omnizarr(folder / "a.zarr", mode="w", encoding={"t": {"chunks": (4, 3)}})

    def step(self, folder: Path, number: int) -> None:
        group: Any = oz.open_group(folder / "a.zarr", mode="r+")
        if group["t"].shape[0] < 2 * number + 2:
            self.data(number).oz.to_omnizarr(folder / "a.zarr", append_dim="time")

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        group: Any = oz.open_group(folder / "a.zarr", mode="r", consolidated=False)
        for name, sign in (("t", 1), ("u", -1)):
            found = group[name][...]
            count = len(found) // 2 - 1
            expect(count in (number, number + (not exact)), name, "has", len(found), "in state", number)
            expect((found == sign * np.repeat(np.arange(count + 1), 2)[:, None]).all(), name, "is", found.tolist())
        times = group["time"][...].tolist()
        expect(times in [list(range(2 * n + 2)) for n in (number, number + (not exact))], "times are", times)

    def sweep(self, folder: Path) -> None:
        group: Any = oz.open_group(folder / "a.zarr", mode="r+")
        lengths = {group[name].shape[0] for name in ("t", "u", "time")}
        expect(len(lengths) == 1, "lengths are", lengths)
