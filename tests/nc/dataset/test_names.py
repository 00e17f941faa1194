"""Whatever netCDF4 offers is offered here."""

from __future__ import annotations

import netCDF4
import numpy as np
import pytest

import omnizarr.netcdf4 as ours


def public(thing) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_module_has_all_names():
    assert set(netCDF4.__all__) <= set(ours.__all__)
    flags = {name for name in dir(netCDF4) if name.startswith("__has_")}
    assert flags <= set(dir(ours))
    assert {name: value for name, value in netCDF4.default_fillvals.items() if name in ours.default_fillvals} == (
        ours.default_fillvals
    )
    assert ours.is_native_little == netCDF4.is_native_little


@pytest.mark.parametrize("name", ["Dataset", "Group", "Variable", "Dimension", "MFDataset", "MFTime"])
def test_classes_have_all_members(name):
    assert public(getattr(netCDF4, name)) - public(getattr(ours, name)) == set()


def test_settings_without_effect_are_remembered():
    before = ours.get_chunk_cache()
    ours.set_chunk_cache(size=123)
    assert ours.get_chunk_cache() == (123, *before[1:])
    ours.set_chunk_cache(*before)
    ours.set_alignment(1024, 4096)
    assert ours.get_alignment() == (1024, 4096)
    ours.set_alignment(1, 1)
    ours.rc_set("a", "b")
    assert ours.rc_get("a") == "b"
    assert ours.rc_get("c") is None
    assert ours.getlibversion() == ours.__netcdf4libversion__
    with ours.Dataset({}, "w") as ds:
        variable = ds.createVariable("v", "f4", (), chunk_cache=500)
        assert variable.get_var_chunk_cache()[0] == 500
        variable.set_var_chunk_cache(nelems=7, preemption=0.5)
        assert variable.get_var_chunk_cache() == (500, 7, 0.5)
        assert ds.has_zstd_filter()
        assert not ds.has_szip_filter()


@pytest.mark.parametrize("mode", ["BitGroom", "BitRound", "GranularBitRound"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_quantized_values_are_those_of_netcdf4(pair, mode, dtype):
    values = np.random.default_rng(0).normal(scale=1000, size=100).astype(dtype)

    def write(ds):
        ds.createDimension("x", 100)
        v = ds.createVariable(
            "v", dtype, ("x",), compression="zlib", significant_digits=4, quantize_mode=mode, chunksizes=(100,)
        )
        v[:] = values
        return v.quantization()

    pair.do(write)
    pair.do(lambda ds: ds.sync())
    np.testing.assert_array_equal(pair.ours["v"][:], pair.theirs["v"][:])
