"""Omnizarr in other libraries: xarray and Dask."""
