"""Names of nodes, and the keys of their documents.

https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#node-names and, for paths of any dialect,
https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#logical-storage-paths
"""

from __future__ import annotations

import os
from typing import Final

from omnizarr.errors import LimitError, NodeTypeError, UnsafeError
from omnizarr.store.keys import is_text

ZARR_JSON: Final = "zarr.json"
ZARRAY: Final = ".zarray"
ZGROUP: Final = ".zgroup"
ZATTRS: Final = ".zattrs"
ZMETADATA: Final = ".zmetadata"

# Zarr v1.
META: Final = "meta"
ATTRS: Final = "attrs"

# Zarr v0.
ZMETA: Final = "__zmeta__"
ZATTR: Final = "__zattr__"
ZDATA: Final = "__zdata__"

# N5.
ATTRIBUTES_JSON: Final = "attributes.json"

# The drafts of Zarr v3, as a view of the store names their documents; see `omnizarr.format.draft_names`.
DRAFT_ARRAY: Final = ".draft-array.json"
DRAFT_ARRAY_2019: Final = ".draft-array-2019.json"
DRAFT_GROUP: Final = ".draft-group.json"

RESERVED: Final = frozenset((ZARR_JSON, ZARRAY, ZGROUP, ZATTRS, ZMETADATA))
"""Names that documents have; a node of that name would hide the document of its parent."""

UNNAMED: Final = ("__values__", "__xarray_dataarray_variable__")
"""What xarray calls variables and arrays without a name, in spite of the rule that names do not start so."""

_DEEPEST: Final = 300


def check_depth(path: str) -> None:
    """Raise if a group lies deeper than functions may call themselves for each group around it.

    Raises:
        LimitError: If so.
    """
    if path.count("/") >= _DEEPEST:
        hint = "Look at a group further down by its own path, or go through `members`."
        raise LimitError(f"groups lie in each other, more than {_DEEPEST} of them", path=path[:40] + "…", hint=hint)


def as_path(path: object, name: str = "") -> str:
    """Check that what a user gives for the path of a node is text.

    Args:
        path: What was given.
        name: The argument, where it is not called `path`.

    Raises:
        NodeTypeError: If it is not: a path of the file system is one, too, for it has other rules.
    """
    if isinstance(path, str):
        return path
    what = f"{name}, the path of a node," if name else "the path of a node"
    hint = 'Names are joined by "/", as in "ocean/temperature".'
    if isinstance(path, os.PathLike):
        hint = f"Pass {str(os.fspath(path)).replace(os.sep, '/')!r}."
    raise NodeTypeError(f"{what} is text, not {path!r} of type {type(path).__name__}", hint=hint)


def normal_path(path: str) -> str:
    """Bring a path to its one form: parts joined by "/", none empty, nothing at the ends; "" is the root.

    Raises:
        NodeTypeError: It is not text.
        UnsafeError: A part is "." or "..", there is a NUL, or half of a pair of surrogates.

    >>> normal_path("/a//b/")
    'a/b'
    """
    if type(path) is not str:
        path = as_path(path)
    if path == "":
        return path
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    if "." in parts or ".." in parts or "\0" in path:
        raise UnsafeError(f"the path {path!r} has a part that is '.' or '..' or holds a NUL", path=path)
    if not is_text(path):
        raise UnsafeError(f"the path {path!r} is not valid Unicode, so that no store can hold it", path=path)
    return "/".join(parts)


def check_new_path(path: str) -> str:
    """Check the path of a node that is to be made, and give its one form.

    Reading is more tolerant: zarr-python makes nodes with names that the specification forbids.

    Raises:
        UnsafeError: A name is reserved, also for files that are not whole yet, or consists of dots only.
    """
    path = normal_path(path)
    for name in path.split("/") if path else ():
        odd = name in RESERVED or not name.strip(".") or (name.startswith(".") and name.endswith(".partial"))
        if odd or (name.startswith("__") and name not in UNNAMED):
            hint = "Names must not start with '__', consist of dots only, be the name of a document or '.….partial'."
            raise UnsafeError(f"the name {name!r} is reserved", path=path, hint=hint)
    return path


def join(path: str, name: str) -> str:
    """Put a name below a path.

    >>> join("", "zarr.json"), join("a/b", "zarr.json")
    ('zarr.json', 'a/b/zarr.json')
    """
    return f"{path}/{name}" if path else name
