"""What must never be lost: nodes that are moved or copied, data that are rechunked in place, changes of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import (
    ExistsError,
    LimitError,
    MetadataError,
    NodeTypeError,
    NotFoundError,
    OmnizarrError,
    OmnizarrWarning,
    ShapeError,
    UnsupportedError,
)

FORMATS = pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
RECORD = (
    b'{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": [["a", "|O"]], "fill_value": null, "order": "C",'
    b' "filters": null, "compressor": null}'
)


def made(fmt="zarr3"):
    store = {}
    group = oz.create_group(store, format=fmt)
    group.create_array("a/x", data=[1, 2, 3])
    return store, group


@FORMATS
@pytest.mark.parametrize("root", ["", "/"])
def test_a_root_does_not_go_into_itself(fmt, root):
    store, group = made(fmt)
    before = dict(store)
    with pytest.raises(ExistsError, match="cannot be moved into itself"):
        group.move(root, "new")
    with pytest.raises(ExistsError, match="cannot be copied into itself"):
        group.copy(root, "cp")
    with pytest.raises(ExistsError, match="cannot be moved into itself"):
        group["a"].move(root, "new")
    assert store == before


@FORMATS
def test_a_copy_does_not_erase_its_source(fmt):
    store, group = made(fmt)
    before = dict(store)
    for target in ("a", ""):
        with pytest.raises(ExistsError, match="in place of a group that holds it"):
            group.copy("a/x", target, overwrite=True)
    with pytest.raises(ExistsError, match="in place of"):
        oz.open(store).copy("a/x", "a", into=group, overwrite=True)
    assert store == before


def test_moving_onto_something_has_no_hint_of_an_argument_it_lacks():
    _, group = made()
    group.create_group("b")
    with pytest.raises(ExistsError) as caught:
        group.move("a", "b")
    assert "overwrite" not in str(caught.value)
    with pytest.raises(ExistsError, match="overwrite=True"):
        group.copy("a", "b")


@FORMATS
def test_copying_to_a_root(fmt):
    _, group = made(fmt)
    other = oz.create_group({}, format=fmt)
    other.create_group("old")
    with pytest.raises(ExistsError):
        group.copy("a", "", into=other)
    copy = group.copy("a", "", into=other, overwrite=True)
    assert (copy.path, list(oz.open(other.store))) == ("", ["x"])
    assert copy["x"][...].tolist() == [1, 2, 3]


def test_copying_between_formats_and_into_arrays_is_refused():
    _, new = made()
    store, old = made("zarr2")
    before = dict(store)
    with pytest.raises(UnsupportedError, match="format") as caught:
        new.copy("a", "b", into=old)
    assert caught.value.hint
    old.create_group("b")
    with pytest.raises(NodeTypeError, match="cannot hold"):
        old.copy("b", "a/x/z")
    del old["b"]
    assert store == before


@FORMATS
def test_rechunking_in_place(fmt, tmp_path):
    values = np.arange(1, 9, dtype="i2")
    for where in (str(tmp_path / "p.zarr"), {}):
        oz.create_array(where, data=values, chunks=8, format=fmt)
        oz.create_array(where, data=oz.open(where), chunks=2, overwrite=True, format=fmt)
        array = oz.open_array(where)
        assert (array.chunks, array.dtype, array[...].tolist()) == ((2,), values.dtype, values.tolist())
        oz.open_array(where, "w", data=oz.open(where), chunks=4, format=fmt)
        assert oz.open(where)[...].tolist() == values.tolist()
    group = oz.create_group({}, format=fmt)
    group.create_array("t", data=["a", "bc"], dtype=str)
    array = group.create_array("t", data=group["t"], chunks=1, overwrite=True)
    assert (array.metadata.dtype.vlen, list(array[...])) == ("string", ["a", "bc"])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"data": [1, 2], "shape": 3}, ShapeError),
        ({"data": ["x"], "dtype": "i4"}, ShapeError),
        ({"data": ["x", 5], "dtype": str}, ShapeError),
        ({"data": ["x", "\ud800"], "dtype": str}, ShapeError),
        ({"data": [b"x", 5], "dtype": bytes}, ShapeError),
        ({"shape": (2**63,)}, OmnizarrError),
        ({"shape": (1,) * 65}, OmnizarrError),
        ({"shape": 2, "attrs": {"deep": json.loads("[" * 150 + "]" * 150)}}, (LimitError, MetadataError)),
    ],
)
@FORMATS
def test_a_failing_create_changes_nothing(fmt, options, error):
    store, group = made(fmt)
    before = dict(store)
    with pytest.raises(error):
        group.create_array("b/c", **options)
    with pytest.raises(error):
        group.create_array("a/x", **options, overwrite=True)
    assert store == before
    empty = {}
    with pytest.raises(error):
        oz.create_array(empty, format=fmt, **options)
    assert not empty


def test_a_failing_resize_changes_nothing():
    store, group = made()
    before = dict(store)
    with pytest.raises(OmnizarrError):
        group["a/x"].resize(2**63)
    assert store == before
    assert group["a/x"].shape == (3,)


SHOW = "import sys, omnizarr as oz; print(oz.open(sys.argv[1]).dims)"


def test_dimensions_are_what_the_attribute_says(tmp_path):
    place = str(tmp_path / "d.zarr")
    array = oz.create_array(place, shape=(2, 2), dims=("x", "y"), format="zarr2")
    assert array.attrs["_ARRAY_DIMENSIONS"] == ["x", "y"]
    array.attrs["_ARRAY_DIMENSIONS"] = ["q", "r"]
    assert array.dims == oz.open(place).dims == ("q", "r")
    assert array.metadata == oz.open(place).metadata
    shown = subprocess.run([sys.executable, "-c", SHOW, place], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "('q', 'r')"
    for change in (lambda: array.attrs.update(k=1), array.attrs.clear):
        change()
        assert array.metadata == oz.open(place).metadata
    assert array.dims is None
    assert dict(array.attrs) == {}


def test_dimensions_that_disagree_are_refused():
    for attrs, dims in (({"_ARRAY_DIMENSIONS": ["q"]}, ("x",)), ({}, ("x", None))):
        with pytest.raises((ShapeError, UnsupportedError)):
            oz.create_array({}, shape=(2,) * len(dims), dims=dims, attrs=attrs, format="zarr2")


def test_what_one_store_was_told_is_not_seen_in_another():
    def new():
        store = {}
        return store, oz.create_array(store, shape=7, dims=("x",), format="zarr2")

    _, first = new()
    first.attrs["k"] = 1
    first.attrs.clear()
    store, second = new()
    second.attrs["k"] = 1
    assert dict(oz.open(store).attrs) == {"_ARRAY_DIMENSIONS": ["x"], "k": 1}
    assert second.metadata == oz.open(store).metadata


def with_unreadable(fmt):
    store, group = made(fmt)
    store["rec/.zarray" if fmt == "zarr2" else "rec/zarr.json"] = RECORD if fmt == "zarr2" else b"{broken"
    store["rec/0"] = b"1234"
    store["bad/.zarray" if fmt == "zarr2" else "bad/zarr.json"] = b"\xff"
    return store, group


@FORMATS
def test_one_unreadable_member_does_not_spoil_a_group(fmt):
    store, group = with_unreadable(fmt)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(group) == group.keys() == ["a", "bad", "rec"]
        assert len(group) == 3
        assert "rec" in group
        assert "cannot be read" in str(group.tree())
        assert "cannot be read" in group._repr_html_()
    with pytest.warns(OmnizarrWarning, match="'(rec|bad)' is left out, as it cannot be read: .") as caught:
        assert [name for name, _ in group.members()] == ["a"]
    assert [str(one.message)[:5] for one in caught] == ["'bad'", "'rec'"]
    assert {one.filename for one in caught} == {__file__}
    with pytest.warns(OmnizarrWarning, match="cannot be read"):
        assert [name for name, _ in group.members(None)] == ["a", "a/x"]
    with pytest.warns(OmnizarrWarning):
        assert ([name for name, _ in group.groups()], group.arrays()) == (["a"], [])
    for read in (group.__getitem__, group.get):
        with pytest.raises(MetadataError) as caught:
            read("rec")
        assert caught.value.path.endswith("/rec")
        assert caught.value.key.startswith("rec/")
    with pytest.warns(OmnizarrWarning, match=r"bad|rec"):
        group.consolidate()
    assert list(oz.open(store)["a"]) == ["x"]
    assert group.copy("rec", "b/rec") is None
    group.move("rec", "moved")
    assert store["moved/0"] == store["b/rec/0"] == b"1234"
    assert ("rec" in group, "moved" in group) == (False, True)
    for name in ("moved", "b", "bad"):
        del group[name]
    assert [name for name, _ in oz.open(store).members(None)] == ["a", "a/x"]


def test_paths_that_are_none():
    _, group = made()
    for path in (0, None, 1.5, b"a"):
        assert path not in group
        for use in (group.__getitem__, group.__delitem__, group.create_group, group.require_group):
            with pytest.raises(NodeTypeError, match="text"):
                use(path)
    assert "../x" not in group
    assert group.get("../x") is None
    assert group.get("../x", group) is group


def test_hints_for_what_is_not_there(tmp_path):
    place = str(tmp_path / "old.zarr")
    oz.create_group(place, format="zarr2")
    with pytest.raises(NotFoundError, match="zarr2") as caught:
        oz.open(place, format="zarr3")
    assert 'format="zarr2"' in caught.value.hint
    with pytest.raises(NotFoundError, match='mode="a"') as caught:
        oz.open(str(tmp_path / "none.zarr"), "r+")
    assert caught.value.path.endswith("none.zarr")
    with pytest.raises(ExistsError, match='mode="a"'):
        oz.open(place, "w-")
    with pytest.raises(NotFoundError) as caught:
        oz.open(place)["x/y"]
    assert caught.value.path.startswith("file://")


def test_errors_name_the_place():
    store = {"g/a/zarr.json": b"{"}
    with pytest.raises(MetadataError) as caught:
        oz.open(store, path="g/a")
    assert caught.value.path.startswith("memory://")
    assert caught.value.path.endswith("/g/a")
    assert caught.value.key == "g/a/zarr.json"


def in_threads(work, count=8):
    barrier = threading.Barrier(count)

    def run(number):
        barrier.wait()
        work(number)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run, range(count)))


@pytest.fixture(params=["folder", "dict"])
def place(request, tmp_path):
    return str(tmp_path / "s.zarr") if request.param == "folder" else {}


@FORMATS
@pytest.mark.parametrize("shared", [True, False])
def test_appends_of_threads_all_arrive(fmt, place, shared):
    array = oz.create_array(place, shape=0, dtype="i4", chunks=16, format=fmt)

    def work(number):
        mine = array if shared else oz.open_array(place, "r+")
        for step in range(20):
            mine.append([number * 100 + step])
            assert mine[...].size

    in_threads(work)
    expected = sorted(number * 100 + step for number in range(8) for step in range(20))
    assert sorted(oz.open(place)[...].tolist()) == expected


@FORMATS
def test_changes_of_threads_to_a_consolidated_group_all_arrive(fmt, place):
    group = oz.create_group(place, format=fmt)
    group.consolidate()

    def work(number):
        mine = group if number % 2 else oz.open_group(place, "r+")
        for step in range(10):
            name = f"n{number}_{step}"
            mine.attrs[name] = step
            mine.create_array(name, shape=2, attrs={"a": 1})
            mine.require_group("all")
            oz.open(place, "a", path=f"late{step}", format=fmt)

    in_threads(work)
    names = {f"n{number}_{step}" for number in range(8) for step in range(10)}
    found = oz.open_group(place, consolidated=True)
    assert found.attrs.keys() == names
    copies = found._context.block.children("")
    assert set(copies) == set(found) == names | {"all"} | {f"late{step}" for step in range(10)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_does_not_wait_for_a_lock_of_its_parent(place):
    group = oz.create_group(place)
    context = group._context
    held, done = threading.Event(), threading.Event()

    def hold():
        with context.lock:
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        group.attrs["k"] = 1
        os._exit(7)
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        done.set()
        thread.join()
