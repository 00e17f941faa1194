"""One dataset as six versions of netcdf-c wrote it: all of it is read, and all of it is the same.

What a version itself has lost, or written otherwise than it was told:

=======  ==========================================================================================================
4.8.0    double quotes in text are spelled with an escape of its own, which is read back as what it stands for
4.8.1    the same
all      the fill value of doubles that were never written, cut to six digits; the value that netCDF has is put there
=======  ==========================================================================================================
"""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import omnizarr as oz
from omnizarr.model.dtype import DType
from omnizarr.nc.source import everything
from omnizarr.nc.tree import Group
from omnizarr.nc.types import CHAR, DOUBLE, FLOAT, INT, Atomic
from omnizarr.nc.zarr.reader import open_reader

ARCHIVE = Path(__file__).with_name("nczarr-generations.zip")
GENERATIONS = {"4.8.0": "A0", "4.8.1": "B", "4.9.0": "B", "4.9.2": "C", "4.9.3": "D", "4.10.1": "D"}
TYPES = ["double", "float", "byte", "ubyte", "short", "ushort", "int", "uint", "int64", "uint64", "char", "int"]
NAMES = ["lat", "temp", "b", "ub", "sh", "us", "i", "ui", "i64", "u64", "name", "unwritten"]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("generations")
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(place)
    return place


@pytest.fixture(scope="module", params=GENERATIONS)
def version(request) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def source(unpacked, version):
    return open_reader(unpacked / f"netcdf-c-{version}")


def attributes(node) -> list[tuple[str, Atomic, object]]:
    return [(one.name, one.type, one.value if one.type == CHAR else one.value.tolist()) for one in node.attrs.values()]


def test_generation(source, version):
    assert (source.kind, source.generation) == ("nczarr", GENERATIONS[version])


def test_definitions(source):
    root = source.root
    assert {name: (dim.size, dim.unlimited) for name, dim in root.dims.items()} == {
        "lat": (3, False),
        "lon": (4, False),
        "len": (5, False),
    }
    assert [(var.name, var.type.name) for var in root.vars.values()] == list(zip(NAMES, TYPES, strict=True))
    assert [group.path for group in root.walk()] == ["/", "/model", "/model/sub"]
    model = root.groups["model"]
    assert list(model.dims) == ["level"]
    assert [dim.path for dim in model.vars["p"].dims] == ["/model/level", "/lon"]
    assert model.groups["sub"].vars["k"].dims == (root.dims["lat"],)
    assert [dim.name for dim in root.vars["name"].dims] == ["lat", "len"]


def test_attributes(source):
    root = source.root
    assert attributes(root) == [
        ("title", CHAR, b"an example"),
        ("quoted", CHAR, b"it is a 'test'"),
        ("history", CHAR, b"line one\nline two"),
        ("answer", INT, [42]),
        ("pi", DOUBLE, [3.25]),
        ("json", CHAR, b'{"a": [1,2]}'),
    ]
    assert attributes(root.vars["temp"]) == [
        ("units", CHAR, b"K"),
        ("valid_range", FLOAT, [150.0, 350.0]),
        ("_FillValue", FLOAT, [-9999.0]),
    ]
    assert attributes(root.vars["i"]) == [("flags", INT, [1, 2, 3])]
    assert attributes(root.groups["model"].vars["p"]) == [("long_name", CHAR, b"pressure")]
    assert not root.vars["b"].attrs
    assert not root.groups["model"].attrs


def test_values(source, unpacked):
    with h5py.File(unpacked / "expected.nc") as expected:
        for group in source.root.walk():
            for var in group.vars.values():
                values = source.read(var, everything(var))
                assert values.dtype == var.type.numpy
                assert values.flags.writeable
                np.testing.assert_array_equal(values, expected[var.path][()], err_msg=var.path)


def test_storage(source):
    for group in source.root.walk():
        for var in group.vars.values():
            assert var.storage.chunks == var.shape
            assert not var.storage.no_fill
            assert not var.storage.codecs
            assert var.fill == (-9999 if var.name == "temp" else var.type.fill)


def test_unwritten_doubles_are_filled_with_the_value_of_netcdf(source):
    assert source.root.vars["lat"].handle.meta.fill.value(DType.of("f8")) == DOUBLE.fill


def test_plain_view(unpacked, version):
    """Even read as plain Zarr, text is text, wherever the array's own documents tell who wrote it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oz.OmnizarrWarning)  # 4.8 wrote no JSON, and others leave members out
        root = oz.open(unpacked / f"netcdf-c-{version}")
        assert root.attrs["json"] == ('{"a": [1,2]}' if version.startswith("4.8") else {"a": [1, 2]})
        array = root["name"]
    if version == "4.8.0":
        return  # documents of its own tell, which plain Zarr does not know
    assert array.dtype == "S1"
    assert array[0].tobytes() == b"north"


def test_archive_is_opened_within_itself(tmp_path):
    """A zip with a folder in it, as netcdf-c makes them, and one without."""
    for top in ("netcdf-c-4.9.2/", ""):
        place = tmp_path / f"{bool(top)}.zip"
        with zipfile.ZipFile(ARCHIVE) as archive, zipfile.ZipFile(place, "w") as made:
            for name in archive.namelist():
                if name.startswith("netcdf-c-4.9.2/") and not name.endswith("/"):
                    made.writestr(top + name.removeprefix("netcdf-c-4.9.2/"), archive.read(name))
        source = open_reader(place)
        assert source.generation == "C"
        assert isinstance(source.root, Group)
        var = source.root.vars["sh"]
        assert source.read(var, everything(var)).tolist() == [-32768, -1, 1, 32767]
