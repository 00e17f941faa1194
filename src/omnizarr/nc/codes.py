"""The numbers by which the netCDF C library calls what went wrong, for those who know them."""

from __future__ import annotations

from typing import Final

from omnizarr.errors import (
    CodecError,
    CorruptError,
    ExistsError,
    LimitError,
    MetadataError,
    MissingDependencyError,
    NodeTypeError,
    NotFoundError,
    OmnizarrError,
    ReadOnlyError,
    SelectionError,
    ShapeError,
    StoreError,
    UnsafeError,
    UnsupportedError,
)

NC_NOERR: Final = 0
NC_EINVAL: Final = -36
NC_EEDGE: Final = -57
NC_EEMPTY: Final = -139
"""A key was read that has no content."""
NC_EOBJECT: Final = -140
"""An object is there that should not be."""
NC_ENOOBJECT: Final = -141
"""An object is not there that should be."""

_FIRST: Final = """
-33 EBADID ENFILE EEXIST EINVAL EPERM ENOTINDEFINE EINDEFINE EINVALCOORDS EMAXDIMS ENAMEINUSE ENOTATT EMAXATTS EBADTYPE
EBADDIM EUNLIMPOS EMAXVARS ENOTVAR EGLOBAL ENOTNC ESTS EMAXNAME EUNLIMIT ENORECVARS ECHAR EEDGE ESTRIDE EBADNAME ERANGE
ENOMEM EVARSIZE EDIMSIZE ETRUNC EAXISTYPE EDAP ECURL EIO ENODATA EDAPSVC EDAS EDDS EDATADDS EDAPURL EDAPCONSTRAINT
ETRANSLATION EACCESS EAUTH
-90 ENOTFOUND ECANTREMOVE EINTERNAL EPNETCDF
-101 EHDFERR ECANTREAD ECANTWRITE ECANTCREATE EFILEMETA EDIMMETA EATTMETA EVARMETA ENOCOMPOUND EATTEXISTS ENOTNC4
ESTRICTNC3 ENOTNC3 ENOPAR EPARINIT EBADGRPID EBADTYPID ETYPDEFINED EBADFIELD EBADCLASS EMAPTYPE ELATEFILL ELATEDEF
EDIMSCALE ENOGRP ESTORAGE EBADCHUNK ENOTBUILT EDISKLESS ECANTEXTEND EMPI EFILTER ERCFILE ENULLPAD EINMEMORY ENOFILTER
ENCZARR ES3 EEMPTY EOBJECT ENOOBJECT EPLUGIN ENOTZARR EZARRMETA
"""
"""Runs of names; each follows the one before it by one."""


def _numbered() -> dict[int, str]:
    names = {NC_NOERR: "NC_NOERR"}
    number = 0
    for word in _FIRST.split():
        if word.startswith("-"):
            number = int(word)
        else:
            names[number] = f"NC_{word}"
            number -= 1
    return names


NAMES: Final = _numbered()
"""Every number, with its name."""
_NUMBERS: Final = {name: number for number, name in NAMES.items()}

_CODES: Final = (
    (ReadOnlyError, "NC_EPERM"),
    (NotFoundError, "NC_ENOTFOUND"),
    (ExistsError, "NC_EEXIST"),
    (NodeTypeError, "NC_EINVAL"),
    (UnsupportedError, "NC_ENOTBUILT"),
    (MetadataError, "NC_ENCZARR"),
    (SelectionError, "NC_EINVALCOORDS"),
    (ShapeError, "NC_EEDGE"),
    (StoreError, "NC_EIO"),
    (UnsafeError, "NC_EINVAL"),
    (CorruptError, "NC_EFILTER"),
    (CodecError, "NC_EFILTER"),
    (LimitError, "NC_EVARSIZE"),
    (MissingDependencyError, "NC_ENOTBUILT"),
)
"""What comes nearest to each error; the first that fits counts."""


def number_of(name: str) -> int:
    """Return the number of a name.

    Raises:
        KeyError: If there is no such name.

    >>> number_of("NC_EEMPTY"), number_of("NC_ENOTVAR"), number_of("NC_EZARRMETA")
    (-139, -49, -144)
    """
    return _NUMBERS[name]


def code_of(error: OmnizarrError) -> int:
    """Return the number that the C library would give to an error: its own, or that of the nearest kind.

    >>> code_of(NotFoundError("nothing there")), code_of(ReadOnlyError("no"))
    (-90, -37)
    """
    own = getattr(error, "code", None)
    if isinstance(own, int):
        return own
    return next((number_of(name) for kind, name in _CODES if isinstance(error, kind)), number_of("NC_EINTERNAL"))
