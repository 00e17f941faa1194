"""netCDF datasets in Zarr: NCZarr of every generation, and plain Zarr."""
