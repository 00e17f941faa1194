"""Several processes that change one folder at the same moment lose nothing of each other's."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.hierarchy.changing import alone
from omnizarr.hierarchy.consolidated import load_block

pytestmark = pytest.mark.skipif(os.name == "nt", reason="folders are not locked there")

MANY = 32


@pytest.fixture(scope="module")
def processes():
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        yield partial(pool.map, chunksize=1)


def _append(place, number):
    oz.open_array(place, mode="r+").append(np.full((1, 4), number))


def _set(place, number):
    oz.open(place, mode="r+").attrs[f"a{number}"] = number


def _create(place, number):
    oz.open_group(place, mode="r+").create_array(f"a{number}", data=np.arange(3))


def _put_field(place, name):
    """Return how often somebody else has put back what was there before."""
    a, lost = oz.open_array(place, mode="r+"), 0
    for value in range(200):
        a[name] = value
        lost += (a[name] != value).any()
    return lost


def _set_together(place, barrier, number):
    """Return in how many rounds the copy was left behind by all who have changed the array at once."""
    array, behind = oz.open_group(place, mode="r+")["x"], 0
    for value in range(40):
        array.attrs[f"a{number}"] = value
        barrier.wait()
        behind += own_and_copy(place)[0] != own_and_copy(place)[1]
        barrier.wait()
    return behind


def own_and_copy(place):
    own = json.loads((place / "x/zarr.json").read_bytes())["attributes"]
    root = json.loads((place / "zarr.json").read_bytes())
    return own, root["consolidated_metadata"]["metadata"]["x"]["attributes"]


def _append_long(place):
    try:
        return oz.open_array(place, mode="r+").append(np.random.default_rng(0).random(2_000_000))
    except oz.errors.OmnizarrError as error:
        return type(error).__name__


def _consolidate_or_create(place, number):
    if number == 50:
        oz.consolidate(place)
    else:
        _create(place, number)


def _put_first(place):
    oz.open_array(place, mode="r+")[0] = -1


def _erase_b(place):
    del oz.open_group(place, mode="r+")["b"]


def _consolidate(place, number):
    if number % 2:
        oz.consolidate(place)
    else:
        _set(place, number)


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_appends(processes, tmp_path, form):
    place = tmp_path / "a.zarr"
    oz.create_array(place, shape=(0, 4), chunks=(3, 4), dtype="i4", format=form)
    processes(partial(_append, place), range(MANY))
    assert sorted(oz.open_array(place)[:, 0].tolist()) == list(range(MANY))


@pytest.mark.parametrize("form", ["zarr3", "zarr2", "zarr1", "zarr0"])
def test_attributes_of_an_array(processes, tmp_path, form):
    place = tmp_path / "a.zarr"
    oz.create_array(place, shape=(3,), dtype="i4", format=form)
    processes(partial(_set, place), range(MANY))
    assert dict(oz.open_array(place).attrs) == {f"a{i}": i for i in range(MANY)}


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_what_is_consolidated(processes, tmp_path, form):
    """Attributes of the group, and nodes that are made in it."""
    place = tmp_path / "g.zarr"
    oz.create_group(place, format=form).consolidate()
    processes(partial(_set, place), range(MANY))
    processes(partial(_create, place), range(MANY))
    copy = oz.open_group(place, consolidated=True)
    assert dict(copy.attrs) == {f"a{i}": i for i in range(MANY)}
    there = {key.partition("/")[0] for key in _copied(place, form)} - {".zgroup", ".zattrs"}
    assert there == {f"a{i}" for i in range(MANY)}


def _copied(place, form):
    if form == "zarr2":
        return json.loads((place / ".zmetadata").read_bytes())["metadata"]
    return json.loads((place / "zarr.json").read_bytes())["consolidated_metadata"]["metadata"]


def test_consolidating_loses_no_attribute(processes, tmp_path):
    place = tmp_path / "g.zarr"
    oz.create_group(place)
    processes(partial(_consolidate, place), range(MANY))
    assert dict(oz.open_group(place).attrs) == {f"a{i}": i for i in range(0, MANY, 2)}


def test_fields(processes, tmp_path):
    place = tmp_path / "a.zarr"
    oz.create_array(place, shape=(500,), dtype=[("x", "i4"), ("y", "i4")], format="zarr2", fill_value=None)[...] = 0
    assert processes(partial(_put_field, place), ["x", "y"]) == [0, 0]


def test_threads_that_append_and_set_do_not_wait_for_each_other_for_ever(tmp_path):
    group = oz.create_group(tmp_path / "g.zarr")
    a = group.create_array("a", shape=(0,), chunks=(4,), dtype="i4")
    own = oz.open_array(tmp_path / "g.zarr" / "a", mode="r+")

    def work(array, number):
        for i in range(20):
            array.append([number])
            array.attrs[f"{number}.{i}"] = i

    threads = [
        threading.Thread(target=work, args=(one, at), daemon=True) for at, one in enumerate((a, own, a, own), start=1)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert not any(one.is_alive() for one in threads)
    a.refresh()
    assert np.bincount(a[...]).tolist() == [0, 20, 20, 20, 20]
    assert len(a.attrs) == 80


def test_the_copy_has_what_the_last_of_several_has_left(tmp_path):
    place = tmp_path / "g.zarr"
    root = oz.create_group(place)
    for number in range(100):  # so that changing the copy takes a while
        root.create_array(f"y{number}", shape=1, dtype="i4")
    root.create_array("x", shape=1, dtype="i4")
    root.consolidate()
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(3) as pool:
        assert pool.map(partial(_set_together, place, manager.Barrier(3)), range(3), chunksize=1) == [0, 0, 0]


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_nodes_that_are_made_while_somebody_consolidates(processes, tmp_path, form):
    place = tmp_path / "g.zarr"
    root = oz.create_group(place, format=form)
    for number in range(200):
        root.create_array(f"b{number}", shape=1, dtype="i4")
    processes(partial(_consolidate_or_create, place), range(100))
    copy = load_block(oz.FileStore(place), "", oz.Limits())
    assert sorted(copy.children("")) == list(oz.open_group(place, consolidated=False))


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("replaced", [False, True])
def test_what_is_erased_while_somebody_appends_stays_so(tmp_path, form, replaced):
    place = tmp_path / "g.zarr"
    root = oz.create_group(place, format=form)
    codec = {"name": "gzip", "configuration": {"level": 5}} if form == "zarr3" else {"id": "gzip", "level": 5}
    root.create_array("x", data=np.full(50_000, 7.0), chunks=(10_000,), codecs=[codec])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        under_way = pool.apply_async(_append_long, [place / "x"])
        chunks = place / "x/c" if form == "zarr3" else place / "x"
        while not any(int(name) > 20 for name in (one.name for one in chunks.iterdir()) if name.isdigit()):
            assert not under_way.ready()
        if replaced:
            root.create_array("x", data=np.full(30_000, 1.5, "f4"), attrs={"new": 1}, overwrite=True)
        else:
            del root["x"]
        assert under_way.get() == (2_050_000,)  # it was waited for
    if replaced:
        assert np.array_equal(root["x"][...], np.full(30_000, 1.5, "f4"))
        assert root["x"].attrs == {"new": 1}
    else:
        assert not (place / "x").exists()


def test_an_append_to_what_is_erased_with_the_group_above_it_fails(processes, tmp_path):
    root = oz.create_group(tmp_path / "g.zarr")
    array = root.create_array("b/x", data=np.arange(4))
    with alone(array._context, array.path, array.format) as held:
        held.check()
        processes(_erase_b, [tmp_path / "g.zarr"])
        with pytest.raises(oz.errors.ConflictError, match="erased, or replaced"):
            held.check()


KILLED = """
import os, signal, sys, threading, time
import numpy as np
import omnizarr as oz
from omnizarr.hierarchy import resize

begun = threading.Event()
resize.replace = resize._clear = lambda *_: (begun.set(), time.sleep(60))
array = oz.open_array(sys.argv[1], mode="r+")

def put_parts():
    while True:
        array[1::2] = 5  # most of the time is that of compressing the chunk, which is locked
        begun.set()

change = {"append": lambda: array.append([9]), "resize": lambda: array.resize(4), "write": put_parts}[sys.argv[2]]
threading.Thread(target=change, daemon=True).start()
begun.wait()
time.sleep(0.1)
child = os.fork()
if not child:
    os.close(1)
    time.sleep(60)  # which has nothing to do with the array
    os._exit(0)
print(child, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def ended_with_a_child(place, change):
    """Return the number of a process that was forked by one that changed an array when it was killed."""
    command = [sys.executable, "-c", KILLED, place, change]
    return int(subprocess.run(command, timeout=30, check=False, stdout=subprocess.PIPE).stdout)


def test_a_chunk_that_a_killed_process_has_locked_is_not_kept_by_its_child(tmp_path):
    codec = {"name": "gzip", "configuration": {"level": 9}}
    values = np.random.default_rng(0).integers(0, 1000, 1_000_000)
    oz.create_array(tmp_path, data=values, chunks=values.shape, codecs=[codec])
    child = ended_with_a_child(tmp_path, "write")
    writer = multiprocessing.get_context("spawn").Process(target=_put_first, args=[tmp_path])
    writer.start()
    writer.join(20)
    try:
        os.kill(child, 0)  # fails if it has ended
        assert writer.exitcode == 0
    finally:
        os.kill(child, 9)
        writer.join()
    assert oz.open_array(tmp_path)[:2].tolist() == [-1, 5]


@pytest.mark.parametrize("change", ["append", "resize"])
def test_what_a_killed_process_has_locked_is_not_kept_by_its_child(tmp_path, change):
    oz.create_array(tmp_path, data=np.arange(7), chunks=(3,))
    child = ended_with_a_child(tmp_path, change)
    begin = time.monotonic()
    try:
        array = oz.open_array(tmp_path, mode="r+")
        array.append([7])
        os.kill(child, 0)  # fails if it has ended
    finally:
        os.kill(child, 9)
    assert time.monotonic() - begin < 20
    assert array[...].tolist() == [*range(7), 7]
