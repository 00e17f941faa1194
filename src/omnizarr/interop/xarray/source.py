"""An open netCDF dataset that can be sent elsewhere: it pickles as the place where it is, and is opened anew there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import RLock
from typing import Any

from omnizarr.interop.xarray.places import inner_path, lasting
from omnizarr.nc.kinds import ZARR, ZARR3
from omnizarr.nc.opening import open_source
from omnizarr.nc.source import Source
from omnizarr.nc.tree import Var
from omnizarr.nc.zarr.reader import ZarrReader


class SharedSource:
    """A source that all variables of a dataset share, opened when it is first needed in a process.

    Args:
        where: The place; a relative path is taken from where the program is now, also by copies that are sent away.
        options: What opening it takes.
        source: It, where it is open already.
    """

    def __init__(self, where: object, options: Mapping[str, Any], source: Source | None = None) -> None:
        self.where, self.options = lasting(where, options)
        self._opened: tuple[int, Source] | None = None if source is None else (os.getpid(), source)
        self.lock = RLock()

    def __reduce__(self) -> tuple[object, ...]:
        return SharedSource, (self.where, self.options)

    def get(self) -> Source:
        """Return the source; after `close`, or in another process, it is opened again."""
        with self.lock:
            if self._opened is None or self._opened[0] != os.getpid():
                self._opened = os.getpid(), open_source(self.where, "r", **self.options)
            return self._opened[1]

    def find(self, path: str) -> Var:
        """Return a variable by its full path."""
        home, _, name = path.rpartition("/")
        group = self.get().root.find_group(home or "/")
        if group is None or name not in group.vars:
            raise KeyError(path)
        return group.vars[name]

    def close(self) -> None:
        """Let go of the place, until it is needed again."""
        with self.lock:
            opened, self._opened = self._opened, None
            if opened is not None and opened[0] == os.getpid():
                opened[1].close()


def shared_source(source: Source) -> SharedSource:
    """Return a source that is open already to be shared: what was given with its place goes where it is sent."""
    if not isinstance(source, ZarrReader):
        return SharedSource(source.name, {}, source)
    context = source.context
    options = {
        "path": inner_path(source),
        "pure": source.kind in (ZARR, ZARR3),
        "limits": context.limits,
        "cache_bytes": context.cache_bytes,
    }
    return SharedSource(context.store, options, source)
