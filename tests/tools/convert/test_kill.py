"""Conversions whose process is killed: nothing is lost, and the same call goes on where the other ended."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.model.grid import RegularGrid
from omnizarr.tools.convert import rollback
from omnizarr.tools.convert.journal import JOURNAL, Keeper
from omnizarr.tools.transfer.transfer import plan_transfer

VALUES = np.arange(60 * 40, dtype="f8").reshape(60, 40)

# Notes are written after each region, so that how far the run came does not depend on how fast it was.
CHILD = """
import os, sys
import omnizarr as oz
from omnizarr.tools.convert import journal

journal._EVERY = 0
def die(done, total, nbytes):
    if done == 4:
        os.kill(os.getpid(), 9)
oz.convert({source!r}, {target!r}, chunks=(6, 40), memory=20_000, progress=die)
"""

IN_PLACE = """
import os, sys
import omnizarr as oz
from omnizarr.store.fault import FaultStore

class Deadly(FaultStore):
    puts = 0
    def put(self, key, data):
        Deadly.puts += 1
        if Deadly.puts == {at}:
            os.kill(os.getpid(), 9)
        super().put(key, data)

oz.convert(Deadly(oz.FileStore({source!r})), format="v3", chunks=(30, 20), codecs=["zstd"])
"""


def killed(code: str) -> bool:
    """Run a program; say whether it was killed."""
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode != 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_elsewhere(tmp_path):
    source, target = tmp_path / "a", tmp_path / "b"
    oz.create_array(source, data=VALUES, chunks=(60, 4))
    assert killed(CHILD.format(source=str(source), target=str(target)))
    assert (target / JOURNAL).exists()
    assert oz.detect(target).kind == ""
    seen: list[int] = []
    options = {"chunks": (6, 40), "memory": 20_000}
    done = oz.convert(source, target, **options, progress=lambda at, *_: seen.append(at))
    assert done.resumed
    assert seen[0] > 3  # what was done is not done again
    assert np.array_equal(oz.open_array(target)[...], VALUES)
    assert sorted(one.name for one in target.iterdir()) == ["c", "zarr.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("at", [2, 5, 8, 9])
def test_in_place(tmp_path, at):
    source = tmp_path / "a"
    oz.create_array(source, data=VALUES, chunks=(60, 4), format="zarr2", attrs={"a": 1})
    before = {one.relative_to(source): one.read_bytes() for one in source.rglob("*") if one.is_file()}
    if not killed(IN_PLACE.format(source=str(source), at=at)):
        assert oz.open_array(source).format == "zarr3"
        return
    array = oz.open_array(source)
    assert np.array_equal(array[...], VALUES)  # the old or the new, but whole
    assert dict(array.attrs) == {"a": 1}
    other = tmp_path / "b"
    shutil.copytree(source, other)
    outcome = rollback(other)
    if outcome == "undone":
        assert {one.relative_to(other): one.read_bytes() for one in other.rglob("*") if one.is_file()} == before
    assert np.array_equal(oz.open_array(other)[...], VALUES)
    assert oz.convert(source, format="v3", chunks=(30, 20), codecs=["zstd"]).resumed
    assert oz.open_array(source).format == "zarr3"
    assert oz.open_array(source).chunks == (30, 20)
    assert np.array_equal(oz.open_array(source)[...], VALUES)
    assert not (source / JOURNAL).exists()


def stopped(source, target, at: int, **options) -> None:
    """Convert, and be interrupted after some regions."""

    def stop(done: int, *_: object) -> None:
        if done == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        oz.convert(source, target, progress=stop, **options)


@pytest.mark.parametrize("memory", [18_000, 60_000])
def test_with_other_memory_the_work_begins_anew(tmp_path, memory, monkeypatch):
    """Regions are others then, so that a number of them means nothing."""
    monkeypatch.setattr("omnizarr.tools.convert.journal._EVERY", 0)
    source, target = tmp_path / "a", tmp_path / "b"
    oz.create_array(source, data=VALUES, chunks=(60, 4))
    stopped(source, target, 4, chunks=(6, 40), memory=20_000)
    assert oz.convert(source, target, chunks=(6, 40), memory=memory).resumed
    assert np.array_equal(oz.open_array(target)[...], VALUES)


def test_values_between_two_stages_are_kept_until_no_note_needs_them(tmp_path, monkeypatch):
    monkeypatch.setattr("omnizarr.tools.transfer.transfer._FILE", 100)
    monkeypatch.setattr("omnizarr.tools.convert.journal._EVERY", 0)
    source, target = tmp_path / "a", tmp_path / "b"
    values = np.arange(1, 64**3 + 1, dtype="f4").reshape(64, 64, 64)
    oz.create_array(source, data=values, chunks=(1, 64, 64), codecs=["zstd"])
    old, options = oz.open_array(source).metadata, {"chunks": (64, 4, 4), "memory": 250_000}
    plan = plan_transfer(old, old._replace(grid=RegularGrid((64, 4, 4))), memory=250_000)
    assert len(plan.stages) == 2

    def no_more_notes(done: int, *_: object) -> None:
        if done == plan.total - 1:
            monkeypatch.setattr("omnizarr.tools.convert.journal._EVERY", 1e9)

    def killed_here(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Keeper, "commit", killed_here)
        with pytest.raises(KeyboardInterrupt):
            oz.convert(source, target, progress=no_more_notes, **options)
    assert (target / JOURNAL).exists()
    assert oz.convert(source, target, **options).resumed
    assert np.array_equal(oz.open_array(target)[...], values)
