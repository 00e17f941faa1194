"""Dask arrays that read and write stored arrays."""

from omnizarr.interop.dask.reading import from_zarr, to_dask
from omnizarr.interop.dask.writing import from_dask, to_zarr

__all__ = ["from_dask", "from_zarr", "to_dask", "to_zarr"]
