"""netCDF datasets in Zarr: NCZarr of every generation, and Zarr that knows nothing of netCDF."""
