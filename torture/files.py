"""Scenarios of archives, reference sets and netCDF."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np

import omnizarr as oz
from torture.scenario import Scenario, expect, scenario


@scenario("zip")
class Zip(Scenario):
    """An archive is changed and closed: it is in the last closed state, or in the new one."""

    zarr = "a.zip"
    can_be_durable = True

    def store(self, folder: Path, name: str = "a.zip") -> oz.ZipStore:
        return oz.ZipStore(folder / name, durable=self.durable)

    def make(self, folder: Path) -> None:
        with self.store(folder) as store:
            group: Any = oz.create_group(store, attrs={"n": 0})
            group.create_array("x", shape=(4, 32), dtype="i8", chunks=(2, 16))[...] = 0

    def step(self, folder: Path, number: int) -> None:
        store = self.store(folder)
        try:
            group: Any = oz.open_group(store, mode="r+")
            group["x"][...] = number
            group.attrs["n"] = number
            store.flush()
        except oz.OmnizarrError:
            store.discard()  # or else what was put by then would be written
            raise
        finally:
            store.close()

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        group: Any = oz.open_group(folder / "a.zip", mode="r")
        n = group.attrs["n"]
        expect(n in (number, number + (not exact)), "it is", n, "in state", number)
        expect((group["x"][...] == n).all(), "the archive is torn")
        group.close()

    def sweep(self, folder: Path) -> None:
        oz.open(folder / "a.zip", mode="r+").close()


def _inline(values: Any) -> str:  # noqa: ANN401 - whatever NumPy takes
    return "base64:" + b64encode(np.asarray(values, "<i4").tobytes()).decode()


def _array(shape: tuple[int, ...], chunks: tuple[int, ...]) -> str:
    about = {"zarr_format": 2, "dtype": "<i4", "order": "C", "compressor": None, "filters": None, "fill_value": -1}
    return json.dumps({**about, "shape": shape, "chunks": chunks})


def references(number: int) -> dict[str, Any]:
    """Return a set with two times, the values of which tell its number."""
    dims = {"t": ["time", "x"], "time": ["time"]}
    refs = {
        ".zgroup": '{"zarr_format": 2}',
        "t/.zarray": _array((2, 4), (1, 4)),
        "time/.zarray": _array((2,), (2,)),
        "t/0.0": _inline([number] * 4),
        "t/1.0": _inline([number] * 4),
        "time/0": _inline([2 * number, 2 * number + 1]),
        **{f"{name}/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": names}) for name, names in dims.items()},
    }
    return {"version": 1, "refs": refs}


@scenario("append references (json)")
class AppendJson(Scenario):
    """A set of references in JSON grows along time."""

    file = "a.json"
    most = 12

    def make(self, folder: Path) -> None:
        oz.refs.write(oz.refs.combine([references(0)], concat="time"), folder / self.file)

    def step(self, folder: Path, number: int) -> None:
        group: Any = oz.open_group(folder / self.file, mode="r")
        if group["t"].shape[0] < 2 * number + 2:
            oz.refs.append(folder / self.file, [references(number)], concat="time")

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        group: Any = oz.open_group(folder / self.file, mode="r")
        values, times = group["t"][...], group["time"][...]
        count = len(times) // 2 - 1
        expect(count in (number, number + (not exact)), "state", number, "has", count + 1)
        expect(times.tolist() == list(range(2 * count + 2)), "times are", times.tolist())
        expect((values == np.repeat(np.arange(count + 1), 2)[:, None]).all(), "values are", values.tolist())

    def sweep(self, folder: Path) -> None:
        """A file is opened for nothing but to be replaced."""
        references_now = oz.refs.read(folder / self.file)
        oz.refs.write(references_now, folder / self.file, overwrite=True)


@scenario("append references (parquet)")
class AppendParquet(AppendJson):
    """The same in parquet, where only the last files are written."""

    file = "a.parq"

    def make(self, folder: Path) -> None:
        made = oz.refs.combine([references(0)], concat="time")
        oz.refs.write(made, folder / self.file, record_size=4)

    def sweep(self, folder: Path) -> None:
        from omnizarr.refset.parquet_place import place_of  # noqa: PLC0415 - nothing else needs it

        place_of(folder / self.file)


@scenario("append to netCDF")
class AppendNetcdf(Scenario):
    """Two variables over an unlimited dimension grow: what was there stays, what is new is whole or missing."""

    most = 20
    zarr = "a.zarr"

    def make(self, folder: Path) -> None:
        with oz.Dataset(str(folder / "a.zarr"), "w", format="NCZARR") as dataset:
            dataset.createDimension("time", None)
            dataset.createDimension("x", 3)
            dataset.createVariable("time", "i4", ("time",), chunksizes=(4,))
            dataset.createVariable("t", "i4", ("time", "x"), chunksizes=(4, 3))

    def step(self, folder: Path, number: int) -> None:
        with oz.Dataset(str(folder / "a.zarr"), "a") as dataset:
            dataset["time"][number - 1] = number
            dataset["t"][number - 1] = [number] * 3

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        with oz.Dataset(str(folder / "a.zarr"), "r") as dataset:
            size = len(dataset.dimensions["time"])
            expect(size in (number, number + (not exact)), "there are", size, "in state", number)
            expected = np.arange(1, size + 1)
            for name in ("time", "t"):
                found = np.ma.filled(dataset[name][...], -7)
                found = found if found.ndim == 1 else found[:, 0]
                expect((found[:number] == expected[:number]).all(), name, "is", found.tolist())
                expect(set(found[number:].tolist()) <= {-7, number + 1}, name, "is", found.tolist())
