"""Several who append to one set: one after the other, so that none is lost, or told that they came too late."""

from __future__ import annotations

import multiprocessing
import os
from contextlib import nullcontext

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError, OmnizarrError
from omnizarr.refs.combining import appending

FORK = multiprocessing.get_context("fork") if os.name != "nt" else None


@pytest.fixture
def files(tmp_path):
    found = []
    for number in range(4):
        found.append(str(tmp_path / f"{number}.nc"))
        with oz.Dataset(found[-1], "w") as file:
            file.createDimension("time", 1)
            file.createDimension("x", 50)
            file.createVariable("time", "i4", ("time",))[:] = [number]
            file.createVariable("v", "f4", ("time", "x"))[:] = np.full((1, 50), number)
    return found


def make(files, where) -> str:
    oz.refs.write(oz.refs.combine(files[:2], concat="time"), where)
    return str(where)


def append(where: str, file: str, barrier, told) -> None:
    barrier.wait()
    try:
        oz.refs.append(where, [file], concat="time")
    except OmnizarrError as error:
        told.put(str(error))
    else:
        told.put("")


@pytest.mark.skipif(os.name == "nt", reason="forks")
@pytest.mark.parametrize("name", ["s.json", "s.json.zst", "s.parq"])
def test_nothing_is_lost_where_two_append(tmp_path, files, name):
    for number in range(4):
        where = make(files, tmp_path / f"{number}{name}")
        barrier, told = FORK.Barrier(2), FORK.Queue()
        work = [FORK.Process(target=append, args=(where, file, barrier, told)) for file in files[2:]]
        for one in work:
            one.start()
        said = [told.get(timeout=60) for _ in work]
        for one in work:
            one.join()
        with oz.open_group(where) as group:
            times, values = group["time"][...].tolist(), group["v"][..., 0].tolist()
        assert times == values == sorted(times)
        # Whoever came second with what lies before the end is told so.
        assert len(times) == 2 + said.count("")
        assert all("time" in one for one in said if one)


@pytest.mark.parametrize("name", ["s.json", "s.parq"])
def test_a_set_that_changes_meanwhile_is_a_conflict(tmp_path, files, name, monkeypatch):
    """Where files have no locks, as on some servers, or in another program."""
    where = make(files, tmp_path / name)
    for lock in ("Held", "document_lock"):
        monkeypatch.setattr(appending, lock, lambda *_: nullcontext())
    step = "combine" if name == "s.json" else "plan"
    real = getattr(appending, step)

    def meanwhile(*args, **options):
        monkeypatch.undo()
        oz.refs.append(where, [files[2]], concat="time")
        return real(*args, **options)

    monkeypatch.setattr(appending, step, meanwhile)
    with pytest.raises(ConflictError, match="meanwhile"):
        oz.refs.append(where, [files[3]], concat="time")
    with oz.open_group(where) as group:
        assert group["time"][...].tolist() == [0, 1, 2]
