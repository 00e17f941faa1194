"""The netCDF-4 model: groups, shared dimensions, typed attributes and user types, over Zarr and over netCDF files."""
