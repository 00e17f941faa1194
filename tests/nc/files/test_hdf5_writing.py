"""netCDF-4 files that are written here: read here, by the C library, and by ncdump."""

import shutil
import subprocess

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ReadOnlyError, SelectionError, StoreError, UnsupportedError
from omnizarr.nc.files.hdf5 import open_source
from omnizarr.nc.files.hdf5_writing import create_source
from omnizarr.nc.opening import create_source as create_anywhere
from omnizarr.nc.source import MemorySource, everything
from omnizarr.nc.tree import Attr, Filter, Group, Storage
from omnizarr.nc.types import BYTE, DOUBLE, INT, SHORT, STRING, Vlen
from tests.nc.files.samples import assert_same, rich

pytest.importorskip("h5py")


def written(path, source, kind="netCDF-4"):
    target = create_source(path, source.root, kind)
    there = {var.path: var for group in target.root.walk() for var in group.vars.values()}
    for group in source.root.walk():
        for var in group.vars.values():
            target.write(there[var.path], everything(var), source.read(var, everything(var)))
    target.close()
    return path


def test_everything_comes_back(tmp_path):
    expected = rich()
    source = open_source(written(tmp_path / "a.nc", expected))
    assert source.kind == "netCDF-4"
    assert_same(source, expected)
    source.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]


def test_ncdump_reads_it_as_a_whole(tmp_path):
    """A second file, made of what is read from the first, has the same text; and so has what ncgen makes of that."""
    if shutil.which("ncdump") is None or shutil.which("ncgen") is None:
        pytest.skip("needs ncdump and ncgen")
    first = written(tmp_path / "a.nc", rich())
    text = ncdump(first)
    for part in ("t = UNLIMITED ; // (2 currently)", 'string :a_string = "", "text" ;', "point v_point(t)"):
        assert part in text
    again = open_source(first)
    assert ncdump(written(tmp_path / "b.nc", again)) == text
    again.close()


def ncdump(path):
    done = subprocess.run(["ncdump", "-n", "x", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_c_library_reads_values_dimensions_and_attributes(tmp_path):
    nc4 = pytest.importorskip("netCDF4")
    expected = rich()
    root = expected.root
    for name in [name for name, var in root.vars.items() if name.split("_")[-1] in ("key", "words", "named", "points")]:
        del root.vars[name]  # netCDF4-python has no such types
    for name in ("a_key", "a_words", "a_named", "a_points", "a_point", "a_row"):
        del root.attrs[name]
    for name in ("points", "named", "point", "words", "key"):
        root.types.pop(name)
    root.vars.pop("v_point")
    with nc4.Dataset(written(tmp_path / "a.nc", expected)) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        assert {d.name: (len(d), d.isunlimited()) for d in file.dimensions.values()} == {
            d.name: (d.size, d.unlimited) for d in root.dims.values()
        }
        assert list(file.variables) == list(root.vars)
        assert file["filled"].getncattr("_FillValue") == np.float32(-1.5)
        for name, var in root.vars.items():
            assert file[name].dimensions == tuple(dim.name for dim in var.dims)
            if var.type.numpy.kind in "iufS":
                assert np.array_equal(file[name][...], expected.read(var, everything(var)))
        assert file["inner group/below/u"].dtype == np.int8
        assert file["inner group/below/u"].dimensions == ("y", "z")


def test_unlimited_dimensions_grow_and_shorter_variables_are_filled(tmp_path):
    root = Group()
    t = root.add_dim("t", 0, unlimited=True)
    root.add_dim("lonely", 0, unlimited=True)
    root.add_var("a", INT, (t,))
    root.add_var("b", SHORT, (t,))
    target = create_source(tmp_path / "a.nc", root, "netCDF-4")
    a, b = target.root.vars.values()
    target.write(a, [slice(0, 6, 2)], np.array([1, 2, 3], "i4"))
    target.write(b, [np.array([2, 0])], np.array([5, 6], "i2"))
    assert target.read(b, everything(b)).tolist() == [6, -32767, 5, -32767, -32767]
    with pytest.raises(UnsupportedError):
        target.changed(a)
    target.sync()
    target.close()
    target.close()
    source = open_source(tmp_path / "a.nc")
    a, b = source.root.vars.values()
    fill = -2147483647
    assert source.read(a, everything(a)).tolist() == [1, fill, 2, fill, 3]
    assert source.read(b, [np.array([4, 2, 0])]).tolist() == [-32767, 5, 6]
    assert source.root.dims["t"].size == 5
    with pytest.raises(SelectionError):
        source.read(a, [slice(0, 6, 1)])
    with pytest.raises(ReadOnlyError):
        source.write(a, [slice(0, 1, 1)], np.zeros(1, "i4"))
    with pytest.raises(ReadOnlyError):
        source.changed(a)
    source.close()


@pytest.mark.parametrize(
    "storage",
    [
        Storage(chunks=(2, 3), deflate=4, shuffle=True, fletcher32=True, endian="little"),
        Storage(chunks=(4, 5), filters=(Filter(32000, ()),), endian="big"),
        Storage(kind="contiguous", endian="little"),
        Storage(kind="compact", endian="little"),
        Storage(kind="contiguous", no_fill=True, endian="big"),
    ],
)
def test_storage_is_what_was_asked_for(tmp_path, storage):
    memory = MemorySource()
    x, y = memory.root.add_dim("x", 4), memory.root.add_dim("y", 5)
    var = memory.root.add_var("v", DOUBLE, (x, y), storage)
    memory.write(var, everything(var), np.arange(20.0).reshape(4, 5))
    source = open_source(written(tmp_path / "a.nc", memory))
    found = source.root.vars["v"].storage
    assert (found.filters[0].id if found.filters else 0) == (storage.filters[0].id if storage.filters else 0)
    found.filters = storage.filters  # HDF5 adds parameters of its own
    assert found == storage
    assert_same(source, memory)
    source.close()


@pytest.mark.parametrize("number", [32001, 32004])
def test_chunks_that_a_filter_cannot_make_smaller(tmp_path, number):
    """Blosc gives up on noise. If HDF5 may not leave it out then, the write fails, and closing the file kills."""
    pytest.importorskip("hdf5plugin")
    parameters = (2, 2, 4, 600, 5, 1, 1) if number == 32001 else ()
    memory = MemorySource()
    x, y = memory.root.add_dim("x", 30), memory.root.add_dim("y", 20)
    storage = Storage(chunks=(15, 10), filters=(Filter(number, parameters),), endian="little")
    var = memory.root.add_var("v", INT, (x, y), storage)
    noise = np.random.default_rng(0).integers(-(2**31), 2**31, (30, 20)).astype("i4")
    memory.write(var, everything(var), noise)
    path = written(tmp_path / "a.nc", memory)
    source = open_source(path)
    assert source.root.vars["v"].storage.filters[0].id == number
    assert_same(source, memory)
    source.close()
    assert (oz.open(path)["v"][...] == noise).all()


def test_the_classic_model_is_marked_and_kept(tmp_path):
    memory = MemorySource()
    x = memory.root.add_dim("x", 4)
    memory.root.add_var("v", BYTE, (x,))
    source = open_source(written(tmp_path / "a.nc", memory, "netCDF-4 classic model"))
    assert source.kind == "netCDF-4 classic model"
    source.close()
    memory.root.add_var("s", STRING, ())
    with pytest.raises(UnsupportedError, match="variable s of type string"):
        create_source(tmp_path / "b.nc", memory.root, "netCDF-4 classic model")


def test_what_cannot_be_stored_leaves_the_old_file_alone(tmp_path):
    path = written(tmp_path / "a.nc", rich())
    before = path.read_bytes()
    root = Group()
    x = root.add_dim("x", 3)
    root.add_var("v", INT, (x,), Storage(chunks=(3,), filters=(Filter(32100, (1,)),)))
    with pytest.raises(UnsupportedError, match="filter"):
        create_source(path, root, "netCDF-4")
    root = Group()
    root.attrs["CLASS"] = Attr.of_text("CLASS", "mine")
    with pytest.raises(UnsupportedError, match="/:CLASS"):
        create_source(path, root, "netCDF-4")
    root = Group()
    var = root.add_var("s", STRING)
    target = create_source(path, root, "netCDF-4")
    with pytest.raises(UnsupportedError, match="zero byte"):
        target.write(target.root.vars["s"], (), np.array("a\0b", object))
    target.discard()
    var.type = Vlen("nowhere", INT)
    with pytest.raises(UnsupportedError, match="/nowhere"):
        create_source(path, root, "netCDF-4")
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.nc"]


@pytest.mark.parametrize("other", ["group", "type"])
def test_a_name_that_two_things_share_is_refused(tmp_path, other):
    root = Group()
    root.add_var("same", INT)
    if other == "group":
        root.add_group("same")
    else:
        root.add_type(Vlen("same", INT))
    with pytest.raises(UnsupportedError, match=f"'same' is the name of a variable and of a {other}"):
        create_source(tmp_path / "a.nc", root, "netCDF-4")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="cannot be written"):
        create_anywhere(tmp_path / "no" / "a.nc", Group())
    with pytest.raises(StoreError, match="path"):
        create_source({}, Group(), "netCDF-4")


def test_long_attributes_and_many_of_them(tmp_path):
    root = Group()
    root.attrs["long"] = Attr.of_text("long", "x" * 100_000)
    for number in range(50):
        root.attrs[f"z{99 - number}"] = Attr.of_values(f"z{99 - number}", INT, range(number + 1))
    source = open_source(written(tmp_path / "a.nc", MemorySource(root)))
    assert_same(source, MemorySource(root))
    source.close()
