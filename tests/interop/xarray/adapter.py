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
