"""xarray's engine `omnizarr`, and the accessor `ds.oz` that writes.

xarray finds the engine by itself. The accessor is there once the engine was used, or this module imported:

>>> import omnizarr.interop.xarray
>>> import xarray as xr
>>> store = {}
>>> _ = xr.Dataset({"t": ("x", [1.5, 2.5])}, attrs={"title": "two"}).oz.to_omnizarr(store)
>>> ds = xr.open_dataset(store, engine=omnizarr.interop.xarray.OmnizarrBackend)
>>> ds.t.values, ds.title
(array([1.5, 2.5]), 'two')
"""

from omnizarr.interop.xarray.accessor import ArrayAccessor, DatasetAccessor, TreeAccessor
from omnizarr.interop.xarray.backend import OmnizarrBackend

__all__ = ["ArrayAccessor", "DatasetAccessor", "OmnizarrBackend", "TreeAccessor"]
