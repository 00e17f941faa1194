"""Bytes under keys: file systems, memory, dictionaries, and wrappers around them; knows nothing of Zarr."""
