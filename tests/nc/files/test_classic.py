"""netCDF-3, against the C library in both directions, and against files that are not what they say."""

import tempfile
from contextlib import suppress
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from omnizarr.errors import CorruptError, OmnizarrError, SelectionError, UnsupportedError
from omnizarr.nc.files.classic import open_source
from omnizarr.nc.files.classic_writing import create_source
from omnizarr.nc.source import everything, filled
from omnizarr.nc.tree import Attr, Group
from omnizarr.nc.types import ATOMIC, BYTE, CHAR, DOUBLE, INT, SHORT, STRING, of_numpy

nc4 = pytest.importorskip("netCDF4")

FORMATS = {"classic": "NETCDF3_CLASSIC", "64-bit offset": "NETCDF3_64BIT_OFFSET", "cdf5": "NETCDF3_64BIT_DATA"}
CLASSIC = [one for one in ATOMIC if one.code <= 6]
ALL = [one for one in ATOMIC if one != STRING]


@st.composite
def trees(draw):
    """Some dimensions, one of them unlimited perhaps, and variables and attributes of all types."""
    kind = draw(st.sampled_from(sorted(FORMATS)))
    types = ALL if kind == "cdf5" else CLASSIC
    root = Group()
    for number, size in enumerate(draw(st.lists(st.integers(1, 4), max_size=3))):
        root.add_dim(f"d{number}", size)
    if draw(st.booleans()):
        root.add_dim("time", draw(st.integers(0, 3)), unlimited=True)
    fixed = [dim for dim in root.dims.values() if not dim.unlimited]
    for number in range(draw(st.integers(0, 4))):
        dims = draw(st.lists(st.sampled_from(fixed), max_size=3)) if fixed else []
        if "time" in root.dims and draw(st.booleans()):
            dims = [root.dims["time"], *dims]
        var = root.add_var(f"v{number}", draw(st.sampled_from(types)), tuple(dims))
        for each in draw(st.lists(st.sampled_from(types), max_size=2, unique=True)):
            var.attrs[each.name] = draw(attributes(each.name, each))
    for each in draw(st.lists(st.sampled_from(types), max_size=3, unique=True)):
        root.attrs[each.name] = draw(attributes(each.name, each))
    return kind, root


@st.composite
def attributes(draw, name, kind):
    if kind == CHAR:
        return Attr.of_text(name, draw(st.text(min_size=1, max_size=9).filter(lambda text: "\0" not in text)))
    return Attr(name, kind, np.arange(draw(st.integers(1, 5))).astype(kind.numpy))


def values_of(var):
    numbers = np.arange(int(np.prod(var.shape))) % 100 + 20
    return (
        numbers.astype("u1").view("S1").reshape(var.shape)
        if var.type == CHAR
        else numbers.reshape(var.shape).astype(var.type.numpy)
    )


def same(found, expected):
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


@given(trees())
@settings(max_examples=40)
def test_the_c_library_reads_what_is_written(drawn):
    kind, root = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.nc")
        source = create_source(path, root, kind)
        for var in source.root.vars.values():
            if var.name != "v1":  # one is left to be filled
                source.write(var, everything(var), values_of(var))
        source.close()
        assert list(Path(folder).iterdir()) == [path]
        with nc4.Dataset(path) as file:
            file.set_auto_maskandscale(False)
            file.set_auto_chartostring(False)
            assert file.data_model == FORMATS[kind]
            assert [(d.name, len(d), d.isunlimited()) for d in file.dimensions.values()] == [
                (d.name, d.size, d.unlimited) for d in root.dims.values()
            ]
            assert list(file.variables) == list(root.vars)
            assert file.ncattrs() == list(root.attrs)
            for var in root.vars.values():
                there = file[var.name]
                assert there.dimensions == tuple(dim.name for dim in var.dims)
                assert of_numpy(there.dtype) == var.type
                expected = filled(var, var.shape) if var.name == "v1" else values_of(var)
                assert same(np.asarray(there[...]).reshape(var.shape), expected)
                for attr in var.attrs.values():
                    found = there.getncattr(attr.name)
                    assert found.encode() == attr.value if attr.type == CHAR else same(np.atleast_1d(found), attr.value)


@given(trees())
@settings(max_examples=40)
def test_what_the_c_library_writes_is_read(drawn):
    kind, root = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.nc")
        with nc4.Dataset(path, "w", format=FORMATS[kind]) as file:
            for dim in root.dims.values():
                file.createDimension(dim.name, None if dim.unlimited else dim.size)
            for var in root.vars.values():
                made = file.createVariable(var.name, var.type.text, tuple(dim.name for dim in var.dims))
                for attr in var.attrs.values():
                    made.setncattr(attr.name, attr.value.decode() if attr.type == CHAR else attr.value)
            for attr in root.attrs.values():
                file.setncattr(attr.name, attr.value.decode() if attr.type == CHAR else attr.value)
            file.set_auto_maskandscale(False)
            for var in root.vars.values():
                if var.name != "v1":
                    file[var.name][tuple(slice(0, n) for n in var.shape) or ...] = values_of(var)
        if not any(var.dims and var.dims[0].unlimited and var.name != "v1" for var in root.vars.values()):
            for dim in root.dims.values():
                dim.size = 0 if dim.unlimited else dim.size
        source = open_source(path)
        assert source.kind == kind
        assert [(d.name, d.size, d.unlimited) for d in source.root.dims.values()] == [
            (d.name, d.size, d.unlimited) for d in root.dims.values()
        ]
        assert list(source.root.attrs.values()) == list(root.attrs.values())
        for var, there in zip(root.vars.values(), source.root.vars.values(), strict=True):
            assert (there.name, there.type, there.attrs) == (var.name, var.type, var.attrs)
            assert [d.name for d in there.dims] == [d.name for d in var.dims]
            expected = filled(var, var.shape) if var.name == "v1" else values_of(var)
            assert same(source.read(there, everything(there)), expected)
        source.close()


@given(st.data())
@settings(max_examples=60)
def test_selections_are_those_of_numpy(data):
    root = Group()
    t, x = root.add_dim("t", 5, unlimited=True), root.add_dim("x", 7)
    model = np.arange(35, dtype="i2").reshape(5, 7)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.nc")
        for name, dims in (("a", (t, x)), ("b", (t, x)), ("c", (x, x))):
            root.add_var(name, SHORT, dims)
        source = create_source(path, root, "classic")
        written = {name: np.full((5, 7) if name != "c" else (7, 7), -32767, "i2") for name in "abc"}
        for name in "ab":
            key = data.draw(keys((5, 7)))
            block = model[np.ix_(*(np.arange(*k.indices(99)) if isinstance(k, slice) else k for k in key))]
            written[name][np.ix_(*(np.arange(*k.indices(99)) if isinstance(k, slice) else k for k in key))] = block
            source.write(source.root.vars[name], key, block)
        source.close()
        back = open_source(path)
        for name in "abc":
            var = back.root.vars[name]
            assert same(back.read(var, everything(var)), written[name])
            key = data.draw(keys(var.shape))
            index = np.ix_(*(np.arange(*k.indices(99)) if isinstance(k, slice) else k for k in key))
            assert np.array_equal(back.read(var, key), written[name][index])
        back.close()


@st.composite
def keys(draw, shape):
    parts = []
    for size in shape:
        if draw(st.booleans()):
            start = draw(st.integers(0, size - 1))
            parts.append(slice(start, draw(st.integers(start, size)), draw(st.integers(1, 3))))
        else:
            parts.append(np.array(draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=4, unique=True))))
    return parts


def small(tmp_path):
    root = Group()
    t, x = root.add_dim("t", 3, unlimited=True), root.add_dim("x", 4)
    root.attrs["title"] = Attr.of_text("title", "a title")
    var = root.add_var("v", INT, (t, x))
    var.attrs["units"] = Attr.of_text("units", "m")
    root.add_var("w", DOUBLE, (x,))
    source = create_source(tmp_path / "a.nc", root, "classic")
    source.write(source.root.vars["v"], everything(var), np.arange(12, dtype="i4").reshape(3, 4))
    source.close()
    return tmp_path / "a.nc"


def read_all(source):
    for var in source.root.vars.values():
        source.read(var, everything(var))


def test_every_cut_of_a_file_is_an_error(tmp_path):
    data = small(tmp_path).read_bytes()
    for length in range(len(data)):
        with pytest.raises(CorruptError, match=r"netCDF-3|cut off"):
            read_all(open_source(data[:length]))


@given(st.integers(0, 200), st.binary(min_size=1, max_size=8))
@settings(max_examples=100)
def test_damaged_headers_never_crash(at, junk):
    with tempfile.TemporaryDirectory() as folder:
        data = bytearray(small(Path(folder)).read_bytes())
    data[at : at + len(junk)] = junk
    with suppress(OmnizarrError):
        source = open_source(bytes(data))
        for var in source.root.vars.values():
            key = tuple(slice(0, min(n, 5), 1) for n in var.shape)
            assert source.read(var, key).shape == tuple(min(n, 5) for n in var.shape)


def test_claims_that_no_file_can_keep_are_refused():
    huge = (2**31 - 1).to_bytes(4, "big")
    for head in (
        b"CDF\x01" + bytes(4) + b"\0\0\0\x0a" + huge,
        b"CDF\x01" + bytes(12) + b"\0\0\0\x0c" + huge,
        b"CDF\x01" + bytes(4) + b"\0\0\0\x0a" + b"\0\0\0\x01" + huge,
        b"CDF\x03" + bytes(100),
        b"CDF",
    ):
        with pytest.raises(CorruptError):
            open_source(head)


def test_a_file_that_is_still_written_has_as_many_records_as_it_has_room_for(tmp_path):
    data = bytearray(small(tmp_path).read_bytes())
    data[4:8] = b"\xff" * 4
    assert open_source(bytes(data)).root.dims["t"].size == 3


def test_reading_beyond_a_variable_is_an_error(tmp_path):
    source = open_source(small(tmp_path))
    with pytest.raises(SelectionError):
        source.read(source.root.vars["v"], [slice(0, 4, 1), slice(0, 4, 1)])
    source.close()
    source.close()


@pytest.mark.parametrize("kind", ["classic", "64-bit offset", "cdf5"])
def test_everything_that_does_not_fit_is_named_and_nothing_written(tmp_path, kind):
    root = Group()
    root.add_group("g")
    t, u, _ = (root.add_dim(name, 0, unlimited=True) for name in "tux")
    root.add_var("s", STRING, (t,))
    root.add_var("late", BYTE, (t, u))
    root.attrs["words"] = Attr.of_values("words", STRING, ["a"])
    with pytest.raises(UnsupportedError) as caught:
        create_source(tmp_path / "a.nc", root, kind)
    for part in (
        "group /g",
        "variable s of type string",
        ":words",
        "unlimited dimensions u, x beside t",
        "u of variable late",
    ):
        assert part in str(caught.value)
    assert not any(tmp_path.iterdir())


def test_sizes_that_do_not_fit_are_refused(tmp_path):
    root = Group()
    x = root.add_dim("x", 1 << 30)
    root.add_var("large", INT, (x,))
    root.add_var("after", INT, ())
    for kind in ("classic", "64-bit offset"):
        with pytest.raises(UnsupportedError, match="variable large of 4294967296 bytes"):
            create_source(tmp_path / "a.nc", root, kind)
    source = create_source(tmp_path / "a.nc", root, "cdf5")
    source.discard()
    assert not any(tmp_path.iterdir())
