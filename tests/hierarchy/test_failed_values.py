"""Values that cannot be written: of a new array, or of what is appended to one, nothing is left."""

from __future__ import annotations

import multiprocessing
import os
import time
from functools import partial

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NotFoundError, OmnizarrError, StoreError, UnsafeError, UnsupportedError


def _files(folder):
    return sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())


def test_an_append_that_fails_leaves_nothing_that_could_come_back(tmp_path):
    for form, chunk in (("zarr3", "c/7"), ("zarr2", "7")):
        place = tmp_path / form
        array = oz.create_array(place, shape=(5,), chunks=(10,), dtype="i4", format=form)
        array[...] = 1
        before = _files(place)
        (place / chunk).mkdir()  # where a chunk should go
        with pytest.raises(StoreError, match=chunk):
            array.append(np.full(100, 9, "i4"))
        assert array.shape == (5,)
        assert _files(place) == before
        (place / chunk).rmdir()
        array.resize(30)
        assert array[...].tolist() == [1] * 5 + [0] * 25
        assert array.append([2]) == (31,)


def test_an_array_whose_data_cannot_be_written_is_not_made(tmp_path):
    for form, chunk in (("zarr3", "c/7"), ("zarr2", "7")):
        group = oz.open_group(tmp_path / form, "w", format=form)
        before = _files(tmp_path)
        (tmp_path / form / "a" / chunk).mkdir(parents=True)
        (tmp_path / form / "a" / "notes.txt").write_text("of somebody else")
        with pytest.raises(StoreError):
            group.create_array("a", data=np.arange(1, 101), chunks=(10,))
        assert "a" not in group
        assert [name for name in _files(tmp_path) if name not in before] == [f"{form}/a/notes.txt"]
        (tmp_path / form / "a" / "notes.txt").unlink()


def test_names_of_files_that_are_not_whole_are_refused(tmp_path):
    for group in (oz.open_group({}, "w"), oz.open_group(tmp_path, "w")):
        with pytest.raises(UnsafeError, match="reserved"):
            group.create_array(".run.partial", data=[1])
        with pytest.raises(UnsafeError, match="reserved"):
            group.create_group("a/.x.partial/b")
        group.create_array("run.partial", data=[1])
        assert list(group.keys()) == ["run.partial"]


def test_a_copy_of_what_lies_behind_a_link_is_refused(tmp_path):
    group = oz.open_group(tmp_path / "g", "w")
    group.create_array("t", data=np.arange(1, 21), chunks=(5,))
    (tmp_path / "g" / "t" / "c").rename(tmp_path / "g" / "real")
    (tmp_path / "g" / "t" / "c").symlink_to("../real")
    assert group["t"][...].sum() == 210
    with pytest.raises(UnsupportedError, match="is a link"):
        group.copy("t", "u")
    assert "u" not in group


def _write(place, count):
    array = oz.open_array(place, "r+")
    try:
        while True:
            array[...] = np.full(count, 1, "i4")
    except OmnizarrError as error:
        os._exit(0 if isinstance(error, NotFoundError) else 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("how", ["erase", "replace"])
def test_a_folder_into_which_somebody_still_writes_goes_all_the_same(how, tmp_path):
    group = oz.open_group(tmp_path, "w")
    group.create_array("t", shape=(20_000,), chunks=(10,), dtype="i4", codecs=[])
    process = multiprocessing.get_context("fork").Process(target=partial(_write, tmp_path / "t", 20_000))
    process.start()
    try:
        while not (tmp_path / "t" / "c" / "100").exists():
            time.sleep(0.001)
        if how == "erase":
            del group["t"]
            process.join(60)
            assert process.exitcode == 0
            assert _files(tmp_path) == ["zarr.json"]
        else:
            group.create_array("t", shape=(5,), dtype="f4", overwrite=True)
            assert group["t"].shape == (5,)
    finally:
        process.kill()
        process.join()
