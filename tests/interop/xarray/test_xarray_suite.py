"""xarray's own tests of its Zarr and netCDF backends, run against this engine."""

import asyncio

import pytest

suite = pytest.importorskip("xarray.tests.test_backends")
trees = pytest.importorskip("xarray.tests.test_backends_datatree")
pytest.importorskip("zarr")
conftest = pytest.importorskip("xarray.tests.conftest")

from tests.interop.xarray.adapter import led_through  # noqa: E402 - once it is known that xarray's tests are there

use_dask = conftest.use_dask
time_unit = conftest.time_unit
simple_datatree = conftest.simple_datatree
create_test_datatree = conftest.create_test_datatree
default_zarr_format = suite.default_zarr_format
unaligned_datatree_zarr_factory = trees.unaligned_datatree_zarr_factory
tmp_store = suite.tmp_store

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(autouse=True)
def engine(monkeypatch, request):
    with led_through(monkeypatch, *request.cls.instead_of):
        yield


class TestZarrFolder(suite.TestZarrDirectoryStore):
    instead_of = ("zarr",)

    def test_load_async(self):
        asyncio.run(suite.CFEncodedBase.test_load_async(self))


def without(parent):
    """Leave out what a class has from its parent, which is run by itself."""
    return {name: None for name in dir(parent) if name.startswith("test_")}


own_tests = {**without(suite.ZarrBase), "instead_of": ("zarr",)}
TestZarrMemory = type(
    "TestZarrMemory", (suite.TestZarrDictStore,), {**own_tests, "test_write_region": suite.ZarrBase.test_write_region}
)
TestWriteEmpty = type(
    "TestWriteEmpty",
    (suite.TestZarrWriteEmpty,),
    {
        **own_tests,
        **{
            name: suite.TestZarrWriteEmpty.__dict__[name]
            for name in suite.TestZarrWriteEmpty.__dict__
            if name.startswith("test_")
        },
    },
)


class TestRegionAuto(suite.TestZarrRegionAuto):
    instead_of = ("zarr",)


class TestTrees(trees.TestZarrDatatreeIO):
    instead_of = ("zarr",)


class TestNetcdf4(suite.TestNetCDF4Data):
    instead_of = ("netcdf4",)


class TestNetcdf3(suite.TestNetCDF3ViaNetCDF4Data):
    instead_of = ("netcdf4",)


class TestNetcdfTrees(trees.TestNetCDF4DatatreeIO):
    instead_of = ("netcdf4",)
