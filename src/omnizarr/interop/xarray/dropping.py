"""Variables that the caller drops: xarray still counts who uses a dimension, but they need not be readable."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress

from xarray import Variable

from omnizarr.errors import OmnizarrError
from omnizarr.interop.xarray.grouping import group_small


def forgiving(name: str, dropped: Collection[str]) -> AbstractContextManager[object]:
    """Return what keeps a variable that is dropped from raising; it is left out before xarray sees it."""
    return suppress(OmnizarrError, ValueError, TypeError, KeyError) if name in dropped else nullcontext()


def group_kept(variables: Mapping[str, Variable], dropped: Collection[str]) -> None:
    """Group small units of the variables that stay."""
    group_small({name: one for name, one in variables.items() if name not in dropped} if dropped else variables)
