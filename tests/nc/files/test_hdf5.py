"""netCDF-4 and HDF5 files that others wrote."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from omnizarr.errors import CorruptError, NotFoundError, OmnizarrError, OmnizarrWarning, StoreError, UnsupportedError
from omnizarr.nc.files.hdf5 import open_source
from omnizarr.nc.opening import open_source as open_anything
from omnizarr.nc.source import everything
from omnizarr.nc.types import CHAR, STRING, of_numpy

h5py = pytest.importorskip("h5py")
nc4 = pytest.importorskip("netCDF4")

ATOMIC = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "S1"]


@st.composite
def recipes(draw):
    """Dimensions, and variables on them with storage of all sorts, in groups."""
    # With two unlimited dimensions the C library chooses chunks of 16 MB.
    dims = [draw(st.one_of(st.none(), st.integers(1, 5))), *draw(st.lists(st.integers(1, 5), max_size=3))]
    names = [f"d{number}" for number in range(len(dims))]
    variables = draw(
        st.lists(
            st.tuples(
                st.sampled_from([*ATOMIC, "str"]),
                st.lists(st.sampled_from(names), max_size=3, unique=True),
                st.sampled_from(
                    [{}, {"zlib": True}, {"zlib": True, "shuffle": False, "fletcher32": True}, {"fill": 1}]
                ),
                st.sampled_from(["", "g", "g/h"]),
                st.booleans(),
            ),
            max_size=5,
        )
    )
    coordinates = draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    return dict(zip(names, dims, strict=True)), variables, coordinates


def make(path, recipe):
    dims, variables, coordinates = recipe
    with nc4.Dataset(path, "w") as file:
        file.set_auto_maskandscale(False)
        for name, size in dims.items():
            file.createDimension(name, size)
        for name in coordinates:
            file.createVariable(name, "f8", (name,))
        for number, (kind, names, how, group, big) in enumerate(variables):
            options = {key: value for key, value in how.items() if key != "fill"} if kind != "str" else {}
            if "fill" in how and kind not in ("str", "S1"):
                options["fill_value"] = 1
            endian = "big" if big and kind not in ("str", "S1", "i1", "u1") else "native"
            order = ">" if endian == "big" else "="
            home = file.createGroup(group) if group else file
            var = home.createVariable(
                f"v{number}",
                str if kind == "str" else np.dtype(kind).newbyteorder(order),
                names,
                endian=endian,
                **options,
            )
            var.note = f"a note on {number}"
            var.numbers = np.arange(number + 1, dtype="i2")
            shape = tuple(2 if dims[name] is None else dims[name] for name in names)
            values = np.arange(int(np.prod(shape)))
            if kind == "str":
                var[...] = np.array([f"s{n}" for n in values], object).reshape(shape) if shape else "s"
            elif kind == "S1":
                var[...] = (values % 26 + 97).astype("u1").view("S1").reshape(shape)
            else:
                var[...] = values.astype(kind).reshape(shape)


@given(recipes())
@settings(max_examples=25)
def test_the_view_is_that_of_the_c_library(recipe):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.nc")
        make(path, recipe)
        source = open_anything(path)
        with nc4.Dataset(path) as file:
            file.set_auto_maskandscale(False)
            file.set_auto_chartostring(False)
            compare(source, source.root, file)
        source.close()


def compare(source, group, there):
    assert [(d.name, d.size, d.unlimited) for d in group.dims.values()] == [
        (d.name, len(d), d.isunlimited()) for d in there.dimensions.values()
    ]
    assert list(group.vars) == list(there.variables)
    for name, var in group.vars.items():
        other = there[name]
        assert tuple(dim.name for dim in var.dims) == other.dimensions
        assert var.type == (STRING if other.dtype is str else of_numpy(other.dtype))
        assert list(var.attrs) == other.ncattrs()
        for attr in var.attrs.values():
            value = other.getncattr(attr.name)
            assert (
                attr.value.decode() == value if attr.type == CHAR else np.array_equal(attr.value, np.atleast_1d(value))
            )
        assert np.array_equal(source.read(var, everything(var)), np.asarray(other[...]).reshape(var.shape))
        filters = other.filters()
        assert (var.storage.deflate > 0, var.storage.shuffle, var.storage.fletcher32) == (
            filters["zlib"],
            filters["shuffle"],
            filters["fletcher32"],
        )
        chunks = other.chunking()
        assert (list(var.storage.chunks) if var.storage.kind == "chunked" else var.storage.kind) == chunks
        if var.type.numpy.kind in "iuf":
            assert var.storage.endian == other.endian()
    assert list(group.groups) == list(there.groups)
    for name, below in group.groups.items():
        compare(source, below, there.groups[name])


def test_user_types_are_those_of_the_file(tmp_path):
    if shutil.which("ncgen") is None:
        pytest.skip("needs ncgen")
    text = """netcdf a {
types:
  byte enum e { no = 0, yes = 1 } ;
  opaque(3) o ;
  compound c { int n ; float f(2) ; e flag ; string s ; } ;
  int(*) v ;
  c(*) vc ;
dimensions: x = 2 ;
variables:
  e ve(x) ; o vo(x) ; v vv(x) ; vc w ; string s(x) ; char t ;
  c :a = {1, {2, 3}, yes, "q"} ;
  v :b = {1, 2}, {} ;
  string :n = "a", NIL, "" ;
  t:_NoFill = "true" ;
data: ve = yes, no ; vo = 0X010203, 0XFFFFFF ; vv = {1,2,3}, {} ; w = {{1, {2, 3}, no, "x"}, {4, {5, 6}, yes, ""}} ;
  s = NIL, "" ;
group: g { types: int(*) v ; variables: v u ; data: u = {7} ; }
}"""
    (tmp_path / "a.cdl").write_text(text)
    subprocess.run(["ncgen", "-k", "nc4", "-o", tmp_path / "a.nc", tmp_path / "a.cdl"], check=True, timeout=60)
    source = open_source(tmp_path / "a.nc")
    root = source.root
    assert {name: type(one).__name__ for name, one in root.types.items()} == {
        "e": "Enum", "o": "Opaque", "c": "Compound", "v": "Vlen", "vc": "Vlen"
    }  # fmt: skip
    assert root.types["c"].fields[2].type == root.types["e"]
    assert root.types["e"].members == (("no", 0), ("yes", 1))
    read = {name: source.read(var, everything(var)) for name, var in root.vars.items()}
    assert read["ve"].tolist() == [1, 0]
    assert read["vo"].tobytes() == b"\1\2\3\xff\xff\xff"
    assert [one.tolist() for one in read["vv"]] == [[1, 2, 3], []]
    assert [(one["n"], one["f"].tolist(), one["s"]) for one in read["w"][()]] == [(1, [2, 3], "x"), (4, [5, 6], "")]
    assert read["s"].tolist() == [None, ""]
    assert root.vars["t"].storage.no_fill
    assert root.attrs["a"].value[0]["s"] == "q"
    assert root.attrs["n"].value.tolist() == ["a", None, ""]
    source.close()


def test_plain_hdf5_gets_dimensions_and_type_names(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["square"] = np.zeros((3, 3))
        file["g/line"] = np.arange(3)
        file["grown"] = file.create_dataset("g/up", (2,), "i4", maxshape=(None,), chunks=(2,))
        file["flag"] = np.array([True, False, True])
        file["pair"] = np.zeros(3, "c8")
        file["words"] = np.array([b"a", b"bcd"])
        file["half"] = np.ones(2, "f2")
        file.attrs["matrix"] = "text"
        file["square"].attrs["two"] = np.array([b"x", b"yz"])
    source = open_source(tmp_path / "a.h5")
    root = source.root
    with nc4.Dataset(tmp_path / "a.h5") as there:
        for group, other in ((root, there), (root.groups["g"], there["g"])):
            assert [(d.name, d.size, d.unlimited) for d in group.dims.values()] == [
                (d.name, len(d), d.isunlimited()) for d in other.dimensions.values()
            ]
        assert tuple(dim.name for dim in root.vars["square"].dims) == there["square"].dimensions
    assert root.types["_AnonymousEnum1"].members == (("FALSE", 0), ("TRUE", 1))
    assert source.read(root.vars["flag"], everything(root.vars["flag"])).tolist() == [1, 0, 1]
    assert source.read(root.vars["words"], everything(root.vars["words"])).tolist() == ["a", "bcd"]
    assert source.read(root.vars["half"], everything(root.vars["half"])).tolist() == [1, 1]
    assert root.vars["half"].type.name == "float"
    assert root.vars["square"].attrs["two"].value.tolist() == ["x", "yz"]
    source.close()


def test_what_netcdf_has_no_words_for_is_named(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["here"] = 1
        file["reference"] = file["here"].ref
        file["other file"] = h5py.ExternalLink("b.h5", "/x")
        file["nowhere"] = h5py.SoftLink("/gone")
        file["again"] = h5py.SoftLink("/")
        file["complex"] = np.zeros(2, "f16")
    with pytest.warns(OmnizarrWarning, match="/again.*/complex.*/nowhere.*/other file.*/reference|5 things"):
        source = open_source(tmp_path / "a.h5")
    assert list(source.root.vars) == ["here"]
    source.close()


def test_damaged_files_are_errors_that_name_them(tmp_path):
    path = tmp_path / "a.nc"
    with nc4.Dataset(path, "w") as file:
        file.createDimension("x", 1000)
        file.createVariable("v", "f8", ("x",), zlib=True)[:] = np.arange(1000)
        file.title = "a title"
    data = path.read_bytes()
    for length in (8, 40, 100, 1000, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(CorruptError, match=r"a\.nc"):
            open_source(path)
    place = data.index(b"x\x9c") if b"x\x9c" in data else data.index(b"x\x5e")
    path.write_bytes(data[:place] + bytes(50) + data[place + 50 :])
    source = open_source(path)
    with pytest.raises(OmnizarrError, match=r"a\.nc"):
        source.read(source.root.vars["v"], everything(source.root.vars["v"]))
    source.close()


def test_a_file_may_begin_with_a_block_of_a_users(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=1024) as file:
        file["v"] = np.arange(3)
    source = open_anything(tmp_path / "a.h5")
    assert source.read(source.root.vars["v"], [slice(1, 3, 1)]).tolist() == [1, 2]
    source.close()


OVERLAPPING = """
import random, sys
from omnizarr import Dataset
from omnizarr.nc.files.hdf5 import open_source
chosen, live = random.Random(1), []
for _ in range(1500):
    if len(live) < 5 and chosen.random() < 0.55:
        live.append(open_source(chosen.choice(sys.argv[1:])))
    elif live:
        source = live.pop(chosen.randrange(len(live)))
        assert source.read(source.root.vars["s"], [slice(0, 2, 1)]).tolist() == ["a", "b"]
        source.close()
for _ in range(300):
    Dataset(sys.argv[1])
"""


def test_a_file_may_be_opened_again_and_closed_in_any_order(tmp_path):
    """HDF5 2.0 ends the process where datasets have fill values of variable length, and the first handle is closed."""
    paths = [tmp_path / "a.nc", tmp_path / "b.nc"]
    for path in paths:
        with nc4.Dataset(path, "w") as file:
            file.createDimension("x", 2)
            file.createVariable("s", str, ("x",))[:] = np.array(["a", "b"], object)
            file.createVariable("v", file.createVLType("i4", "list"), ("x",))[0] = np.arange(3, dtype="i4")
            for number in range(20):
                file.createVariable(f"v{number}", "f4", ("x",))[:] = 1
    done = subprocess.run([sys.executable, "-c", OVERLAPPING, *map(str, paths)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_file_is_closed_by_the_last_who_uses_it(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["v"] = np.arange(3)
    one, other = open_source(tmp_path / "a.h5"), open_source(tmp_path / "a.h5")
    one.close()
    one.close()
    with pytest.raises(CorruptError, match="was closed"):
        one.read(one.root.vars["v"], everything(one.root.vars["v"]))
    assert other.read(other.root.vars["v"], [slice(1, 3, 1)]).tolist() == [1, 2]
    other.close()
    with h5py.File(tmp_path / "a.h5", "r+") as file:  # which is refused while it is open for reading
        file["v"][0] = 7


def test_what_is_not_there_or_not_to_be_changed(tmp_path):
    with pytest.raises(NotFoundError):
        open_source(tmp_path / "no.nc")
    with pytest.raises(StoreError):
        open_source(tmp_path)
    with pytest.raises(UnsupportedError, match="oz copy"):
        open_source(tmp_path / "a.nc", "a")
