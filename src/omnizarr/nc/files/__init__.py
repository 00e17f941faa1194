"""Datasets in single files: netCDF-4 and HDF5 through h5py, and netCDF-3 without any help."""
