"""Ways out of an array: as a view that is not read yet, and into other libraries."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.number import Number
from omnizarr.late import LateModule
from omnizarr.model.array import ArrayMeta

if TYPE_CHECKING:
    from omnizarr.hierarchy import token as tokens
    from omnizarr.hierarchy.view import View
else:
    tokens = LateModule("omnizarr.hierarchy.token")


class Doors(Number):
    """What `Array` has beside reading and writing."""

    __slots__ = ()

    _context: Context
    _path: str
    _meta: ArrayMeta

    @property
    def lazy(self) -> View:
        """A view of the whole array that reads nothing: slices, steps and transposes compose, and are read at once.

        >>> import numpy as np, omnizarr as oz
        >>> a = oz.create_array({}, data=np.arange(24).reshape(4, 6), chunks=(2, 3))
        >>> part = a.lazy[1:, ::-2].T[0]
        >>> part.shape, np.asarray(part)
        ((3,), array([11, 17, 23]))
        """
        view: View = import_module("omnizarr.hierarchy.view").View(self)
        return view

    def to_dask(self, chunks: Any = None, *, name: str | None = None) -> Any:  # noqa: ANN401 - Dask has no types
        """Return a Dask array that reads this one, with one task for each stored unit; see `omnizarr.to_dask`.

        Args:
            chunks: How to cut it, as for `omnizarr.to_dask`.
            name: Name of the Dask array, which must be unique; made from the array's place and state if not given.
        """
        # A layer above this one, which knows of Dask.
        return import_module("omnizarr.interop.dask").to_dask(self, chunks, name=name)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return tokens.token_of(self._context.store, self._path, self._meta)
