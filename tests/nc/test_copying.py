"""Copies of datasets from any kind of place to any other."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, NotFoundError, OmnizarrWarning, UnsupportedError
from omnizarr.nc.copying import Choice, copy_dataset
from omnizarr.nc.opening import open_source
from omnizarr.nc.pieces import piece_shape, pieces
from omnizarr.nc.source import MemorySource, everything
from omnizarr.nc.tree import Attr, Dim, Filter, Storage, Var
from omnizarr.nc.types import DOUBLE, FLOAT, INT, SHORT, STRING
from tests.nc.files.samples import assert_same, rich

pytest.importorskip("h5py")


def plain():
    """What every kind can hold."""
    source = MemorySource(name="plain")
    root = source.root
    t, x = root.add_dim("t", 5, unlimited=True), root.add_dim("x", 6)
    root.attrs["title"] = Attr.of_text("title", "a title")
    for name, kind, dims in (("t", DOUBLE, (t,)), ("v", FLOAT, (t, x)), ("s", SHORT, (x,)), ("one", INT, ())):
        var = root.add_var(name, kind, dims)
        var.attrs["units"] = Attr.of_text("units", "m")
        var.attrs["range"] = Attr.of_values("range", kind, [0, 9])
        size = int(np.prod(var.shape))
        source.write(var, everything(var), np.arange(size).reshape(var.shape).astype(kind.numpy))
    return source


@pytest.mark.parametrize("kind", ["netCDF-4", "nczarr3"])
def test_everything_goes_from_kind_to_kind(tmp_path, kind):
    expected = rich()
    copy_dataset(expected, tmp_path / "first.nc", Choice(kind="netCDF-4"))
    source = open_source(tmp_path / "first.nc")
    done = copy_dataset(source, tmp_path / "second", Choice(kind=kind, buffer=50))
    assert (done.kind, done.variables) == (kind, sum(len(group.vars) for group in expected.root.walk()))
    second = open_source(tmp_path / "second")
    assert_same(second, expected)
    source.close()
    second.close()


@pytest.mark.parametrize(
    "kind", ["classic", "64-bit offset", "cdf5", "netCDF-4", "netCDF-4 classic model", "nczarr", "nczarr3"]
)
def test_there_and_back_again(tmp_path, kind):
    expected = plain()
    place = tmp_path / ("a.zarr" if "zarr" in kind else "a.nc")
    copy_dataset(expected, place, Choice(kind=kind, buffer=40))
    source = open_source(place)
    assert source.kind == kind
    assert_same(source, expected)
    copy_dataset(source, tmp_path / "b.nc", Choice(kind="nc4"))
    back = open_source(tmp_path / "b.nc")
    assert_same(back, expected)
    source.close()
    back.close()


def test_the_command_takes_names_for_kinds(tmp_path):
    copy_dataset(plain(), tmp_path / "a.nc")
    assert oz.copy(tmp_path / "a.nc", tmp_path / "b.zarr").kind == "nczarr"
    assert oz.copy(tmp_path / "b.zarr", tmp_path / "c.nc").kind == "netCDF-4"
    assert oz.copy(tmp_path / "b.zarr", tmp_path / "d.cdf").kind == "classic"
    assert oz.copy(tmp_path / "d.cdf", tmp_path / "e.nc").kind == "classic"
    assert oz.copy(tmp_path / "d.cdf", tmp_path / "f.nc", level=1).kind == "netCDF-4 classic model"
    assert oz.copy(tmp_path / "b.zarr", tmp_path / "g.zarr").kind is None  # every key as it is
    assert oz.copy(tmp_path / "b.zarr", tmp_path / "h.zarr", fixed=True).kind == "nczarr"
    for name in "bcdefg":
        source = open_source(next(tmp_path.glob(f"{name}.*")))
        assert_same(source, plain())
        source.close()


def storages(path):
    source = open_source(path)
    found = {var.name: var.storage for var in source.root.vars.values()}
    source.close()
    return found


def test_filters_and_chunks(tmp_path):
    copy_dataset(plain(), tmp_path / "a.nc")
    a = tmp_path / "a.nc"

    def stored(name, **changes):
        oz.copy(a, tmp_path / name, **changes)
        return storages(tmp_path / name)

    deflated = stored("b.nc", level=3, shuffle=True)
    assert {name: (one.deflate, one.shuffle) for name, one in deflated.items()} == {
        "t": (3, True), "v": (3, True), "s": (3, True), "one": (0, False)
    }  # fmt: skip
    chunked = stored("c.nc", chunks="t/2,x/3", smallest_chunk=1)
    assert (chunked["v"].chunks, chunked["s"].chunks) == ((2, 3), (3,))
    assert stored("c2.nc", chunks="x/3")["s"].kind == "contiguous"  # too small to be divided
    mixed = stored("d.nc", chunks=["v:5,2", "s:compact"], filters=["v,fletcher32", "t,shuffle|deflate,2"])
    assert (mixed["v"].chunks, mixed["v"].fletcher32, mixed["v"].deflate) == ((5, 2), True, 0)
    assert (mixed["s"].kind, mixed["t"].deflate, mixed["t"].shuffle) == ("compact", 2, True)
    oz.copy(tmp_path / "b.nc", tmp_path / "e.nc", level=0)
    assert not any(one.deflate or one.shuffle for one in storages(tmp_path / "e.nc").values())
    oz.copy(tmp_path / "b.nc", tmp_path / "f.nc", filters="none", fixed=True, chunks="/")
    assert {one.kind for one in storages(tmp_path / "f.nc").values()} == {"contiguous"}
    oz.copy(tmp_path / "b.nc", tmp_path / "g.zarr", chunks={"v": (1, 6)})
    zarr = storages(tmp_path / "g.zarr")
    assert (zarr["v"].chunks, zarr["v"].deflate, zarr["v"].shuffle) == ((1, 6), 3, True)
    oz.copy(tmp_path / "g.zarr", tmp_path / "h.nc")
    assert storages(tmp_path / "h.nc")["v"].deflate == 3
    for place in tmp_path.iterdir():
        source = open_source(place)
        for dim in source.root.dims.values():
            dim.unlimited = dim.name == "t"
        assert_same(source, plain())
        source.close()


def test_filters_that_hdf5_has_not_are_replaced_and_said(tmp_path):
    source = plain()
    source.root.vars["v"].storage = Storage(chunks=(5, 6), filters=(Filter(32999, (3,)),))
    with pytest.warns(OmnizarrWarning, match=r"v \(32999\)"):
        copy_dataset(source, tmp_path / "a.nc")
    assert storages(tmp_path / "a.nc")["v"].deflate == 4
    with pytest.raises(UnsupportedError, match="32999"):
        oz.copy(tmp_path / "a.nc", tmp_path / "b.nc", filters="v,32999,3")
    assert not (tmp_path / "b.nc").exists()


def test_parts(tmp_path):
    copy_dataset(rich(), tmp_path / "a.nc")

    def copied(name, **changes):
        oz.copy(tmp_path / "a.nc", tmp_path / name, **changes)
        source = open_source(tmp_path / name)
        found = {var.path: source.read(var, everything(var)) for g in source.root.walk() for var in g.vars.values()}
        groups = [group.path for group in source.root.walk()]
        source.close()
        return found, groups

    every, _ = copied("b.nc")
    some, groups = copied("c.nc", variables=["x", "deep"])
    assert list(some) == ["/x", "/inner group/deep"]
    assert len(groups) == 3
    values, _ = copied("d.nc", values_of=["x"])
    assert list(values) == list(every)
    assert np.array_equal(values["/x"], every["/x"])
    assert (values["/y"] == -2147483647).all()
    inner, groups = copied("e.nc", groups=["below"])
    assert list(inner) == ["/inner group/below/u"]
    assert groups == ["/", "/inner group", "/inner group/below"]
    outer, groups = copied("f.nc", groups=["/"])
    assert groups == ["/"]
    assert "/x" in outer
    kept, _ = copied("g.nc", values_of_groups=["/inner group"])
    assert np.array_equal(kept["/inner group/deep"], every["/inner group/deep"])
    assert (kept["/y"] == -2147483647).all()
    with pytest.raises(NotFoundError, match="nonsense"):
        copied("h.nc", variables=["nonsense"])
    with pytest.raises(NotFoundError, match="dimension"):
        copied("h.nc", chunks="nonsense/5")
    assert not (tmp_path / "h.nc").exists()


def test_what_is_there_is_replaced_only_if_that_is_said(tmp_path):
    copy_dataset(plain(), tmp_path / "a.nc")
    oz.copy(tmp_path / "a.nc", tmp_path / "b.zarr")
    for target in ("b.zarr", "a.nc"):
        with pytest.raises(ExistsError):
            oz.copy(tmp_path / "a.nc", tmp_path / target)
    oz.copy(tmp_path / "a.nc", tmp_path / "b.zarr", overwrite=True, variables=["s"])
    assert list(storages(tmp_path / "b.zarr")) == ["s"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ExistsError):
        oz.copy(tmp_path / "a.nc", tmp_path / "mine", overwrite=True)
    with pytest.raises(ExistsError, match="folder"):
        oz.copy(tmp_path / "a.nc", tmp_path / "mine", kind="nc3", overwrite=True)
    with pytest.raises(ExistsError):
        oz.copy(tmp_path / "b.zarr", tmp_path / "b.zarr", level=1, overwrite=True)
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"
    with pytest.raises(UnsupportedError, match="include"):
        oz.copy(tmp_path / "a.nc", tmp_path / "c.zarr", include=["s"])
    done = oz.copy(tmp_path / "a.nc", tmp_path / "d.zarr", dry_run=True)
    assert (done.dry_run, done.kind, done.keys) == (True, "nczarr", 4)
    assert not (tmp_path / "d.zarr").exists()


def test_a_kind_that_is_too_small_says_so_before_anything_is_written(tmp_path):
    copy_dataset(rich(), tmp_path / "a.nc")
    with pytest.raises(UnsupportedError, match="group /inner group"):
        oz.copy(tmp_path / "a.nc", tmp_path / "b.nc", kind="nc3")
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]


def test_a_copy_that_fails_leaves_nothing(tmp_path):
    source = plain()

    def read(var, key):
        raise OSError("the disk is gone")

    source.read = read
    with pytest.raises(OSError, match="gone"):
        copy_dataset(source, tmp_path / "a.nc")
    assert not any(tmp_path.iterdir())


def test_nccopy_chooses_the_same_chunks(tmp_path):
    memory = MemorySource()
    t, y, x = memory.root.add_dim("t", 3, unlimited=True), memory.root.add_dim("y", 60), memory.root.add_dim("x", 70)
    memory.root.add_var("a", FLOAT, (t, y, x))
    memory.root.add_var("b", FLOAT, (y, x))
    memory.root.add_var("small", FLOAT, (x,))
    copy_dataset(memory, tmp_path / "a.nc", Choice(kind="nc3"))
    words = ["-d2", "-s", "-c", "t/2,y/30"]
    try:
        subprocess.run(["nccopy", *words, tmp_path / "a.nc", tmp_path / "b.nc"], check=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("needs nccopy")
    oz.copy(tmp_path / "a.nc", tmp_path / "c.nc", level=2, shuffle=True, chunks="t/2,y/30")
    theirs, ours = storages(tmp_path / "b.nc"), storages(tmp_path / "c.nc")
    assert {name: (s.deflate, s.shuffle, s.chunks) for name, s in ours.items()} == {
        name: (s.deflate, s.shuffle, s.chunks) for name, s in theirs.items()
    }


@pytest.mark.parametrize("chunks", [None, (7, 7), (10, 1), (100, 100)])
@pytest.mark.parametrize("buffer", [1, 100, 1000, 10**6])
def test_pieces_cover_everything_once(chunks, buffer):
    var = Var("v", INT, (Dim("x", 20), Dim("y", 30)))
    seen = np.zeros(var.shape, int)
    shape = piece_shape(var, chunks, buffer)
    for key in pieces(var.shape, shape):
        seen[key] += 1
    assert (seen == 1).all()
    assert np.prod(shape) * 4 <= max(buffer, 16 * buffer, 4)


def test_strings_are_not_compressed_in_files(tmp_path):
    memory = MemorySource()
    x = memory.root.add_dim("x", 3)
    var = memory.root.add_var("s", STRING, (x,))
    memory.write(var, everything(var), np.array(["a", "", "é"], object))
    copy_dataset(memory, Path(tmp_path / "a.nc"))
    oz.copy(tmp_path / "a.nc", tmp_path / "b.nc", level=5, shuffle=True)
    source = open_source(tmp_path / "b.nc")
    assert_same(source, memory)
    assert not source.root.vars["s"].storage.deflate
    source.close()


@pytest.mark.parametrize(("mode", "kind"), [("nczarr,file", "nczarr"), ("zarr", "zarr"), ("netcdf-4", "netCDF-4")])
def test_a_url_says_the_kind(tmp_path, mode, kind):
    where = f"file://{tmp_path}/copy#mode={mode}"
    assert copy_dataset(plain(), where).kind == kind
    assert open_source(f"{tmp_path}/copy").kind == kind
