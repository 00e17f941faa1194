"""How things print, and the names of attributes that never go to the file."""

from __future__ import annotations

from typing import Final

PRIVATE: Final = frozenset(
    {
        "_grp", "_handle", "_node", "_plan", "_chunk_cache", "_look", "_finish", "_files", "groups", "dimensions",
        "variables", "dtype", "data_model", "disk_format", "path", "parent", "ndim", "mask", "scale", "cmptypes",
        "vltypes", "enumtypes", "opaquetypes", "file_format", "name", "keepweakref", "always_mask", "chartostring",
        "_ncstring_attrs__", "auto_complex",
    }
)  # fmt: skip
"""Attributes of Python objects, which are not those of the dataset."""


def class_text(thing: object) -> str:
    """Return how the class of something prints: without the modules that nobody imports it from.

    >>> class_text(1)
    "<class 'int'>"
    """
    cls = type(thing)
    if cls.__module__.startswith("omnizarr."):
        return f"<class 'omnizarr.{cls.__name__}'>"
    return repr(cls)
