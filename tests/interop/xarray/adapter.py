"""xarray's own tests of backends, led through Omnizarr: whatever asks for another engine gets this one."""

import contextlib
from typing import Any

import xarray as xr
import zarr
from xarray.backends import plugins

from omnizarr.interop.xarray import OmnizarrBackend


class Backend(OmnizarrBackend):
    """The engine, which takes and ignores what only others need."""

    ignored = ("mode", "cache_members", "store", "engine", "lock", "autoclose", "phony_dims", "decode_vlen_strings")

    def open_dataset(self, filename_or_obj, **options: Any):
        return super().open_dataset(filename_or_obj, **self._known(options))

    def open_groups_as_dict(self, filename_or_obj, **options: Any):
        return super().open_groups_as_dict(filename_or_obj, **self._known(options))

    def _known(self, options):
        return {name: value for name, value in options.items() if name not in self.ignored}


Backend.open_dataset_parameters = plugins.detect_parameters(OmnizarrBackend.open_dataset) + Backend.ignored


def to_zarr(self, store=None, mode=None, group=None, encoding=None, **options):
    """Stand in for `to_zarr` of datasets and trees."""
    if mode in (None, "w", "w-") and options.get("region") is None and options.get("append_dim") is None:
        options.setdefault("zarr_format", zarr.config.get("default_zarr_format"))
    return self.oz.to_omnizarr(store, mode=mode, group=group, encoding=encoding, **options)


@contextlib.contextmanager
def led_through(patch, *engines: str):
    """Let xarray use this engine in place of others, and its writer in place of `to_zarr`."""
    real = plugins.get_backend

    def get_backend(engine):
        return Backend() if engine in engines else real(engine)

    patch.setattr(plugins, "get_backend", get_backend)
    patch.setattr(xr.Dataset, "to_zarr", to_zarr)
    patch.setattr(xr.DataTree, "to_zarr", to_zarr)
    yield


_OBJECTS = "codecs in an encoding are plain mappings here, not objects of zarr-python"
_SAFE = "Dask's chunks need not line up with what is stored: nothing is lost, so nothing is refused"
_WARNS = "metadata that is not consolidated is no reason to warn: it is read at once, too"

LISTED = {
    r"test_compressor_encoding|TestTrees::test_zarr_encoding": _OBJECTS,
    r"test_chunk_encoding_with_dask|test_shard_encoding_with_dask|test_zarr_region_chunk_partial\[": _SAFE,
    r"test_read_non_consolidated_warning|test_to_zarr_not_consolidated": _WARNS,
    r"test_non_existent_store": "the same error says the same in other words",
    r"test_zarr_fill_value_setting\[2": "use_zarr_fill_value_as_mask=False is heeded here",
    r"test_avoid_excess_metadata_calls": "counts calls inside zarr-python",
    r"test_async_load|test_concurrent_load|Memory::test_indexing|test_raise_on_older": "watches zarr-python at work",
    r"test_to_zarr_compute_false\[zarr_format=2": "zeros are stored where the fill value is undefined",
    r"TestNetcdfTrees::test_compute_false": "HDF5 locks a file that is still being written",
    r"test_roundtrip_via_memoryview": "files are opened where they are, not from memory",
    r"test_roundtrip_complex": "auto_complex is an option of netCDF4-python; compounds stay compounds here",
}
"""What xarray's tests expect and Omnizarr does otherwise, and why; each is expected to fail."""

LEAKS = r"TestNetcdfTrees::test_compute_false"
"""What is not even run, because it leaves a file open as it fails."""

BETTER = r"test_to_zarr_zip_store"
"""What xarray expects to fail, and does not here."""
