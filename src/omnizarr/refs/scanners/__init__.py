"""Scanners: from a file of some format to the references that make it a Zarr hierarchy, without reading its data.

Each module of a format has `scan(source, options) -> References`; `dispatch.py` picks the one for a file.
"""
