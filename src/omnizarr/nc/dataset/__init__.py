"""Datasets through the interface of netCDF4-python: groups, dimensions, variables and typed attributes as objects."""
