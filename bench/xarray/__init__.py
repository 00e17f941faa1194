"""The race in xarray: opening and loading by the engine `omnizarr` and by the engine `zarr`."""
