"""Appending to many arrays as one step: values first, beyond what anybody sees, then all shapes.

Whatever fails before the first shape is written leaves the old dataset with its old values. Should a shape fail to be
written, those before it are put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np

from omnizarr.array.index import basic
from omnizarr.array.io import Access
from omnizarr.errors import ConflictError, OmnizarrError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.lease import Lease
from omnizarr.hierarchy.resize import fitted_grid
from omnizarr.hierarchy.save import replace
from omnizarr.model.array import ArrayMeta
from omnizarr.store.protocol import place_name
from omnizarr.store.tagged import conditional


class Growing:
    """An array as it will be: it can be written as far as that, while others see the old shape.

    It pickles as the array's place and the new shape, so that tasks elsewhere can write to it.
    """

    __slots__ = ("_access", "array", "shape")

    def __init__(self, array: Array, shape: tuple[int, ...]) -> None:
        self.array = array
        self.shape = shape
        meta = array.metadata
        # Made at once, since whoever writes later may have to wait for whoever waits for it.
        self._access: Access = array._opened().with_shape(shape, grid=fitted_grid(meta, shape, array.path))  # noqa: SLF001

    def __reduce__(self) -> tuple[object, ...]:
        return Growing, (self.array, self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the elements."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return ("omnizarr.Growing", self.array.__dask_tokenize__(), self.shape)

    def __setitem__(self, selection: Any, values: Any) -> None:  # noqa: ANN401 - whatever NumPy takes
        self._access.write(basic(selection, self.shape), values)


def held_alone(growing: Iterable[Growing]) -> ExitStack:
    """Keep other programs from appending to arrays for as long as a `with` statement runs, where the store can."""
    stack = ExitStack()
    with ExitStack() as failing:
        failing.push(stack)
        for one in sorted(growing, key=lambda one: one.array.path):
            array = one.array
            target = conditional(array.store, array.path + "/" if array.path else "")
            if target is not None:
                stack.enter_context(Lease(*target))
        failing.pop_all()
    return stack


def settle(growing: Sequence[Growing]) -> None:
    """Give all arrays their new shapes; either all of them, or none.

    Raises:
        ConflictError: If one of them has another shape by now.
        OmnizarrError: If a shape cannot be written; the arrays are as they were.
    """
    if not growing:
        return
    context = growing[0].array._context  # noqa: SLF001 - the classes belong together
    with context.lock:
        changes: list[tuple[str, ArrayMeta, ArrayMeta]] = []
        for one in growing:
            old = one.array.metadata
            one.array.refresh()
            now = one.array.metadata
            if now.shape != old.shape:
                raise ConflictError(
                    f"another program has changed the shape from {old.shape} to {now.shape} meanwhile",
                    path=place_name(one.array.store, one.array.path),
                    hint="Append again; what this one has written beyond the old shape is not seen.",
                )
            new = now._replace(shape=one.shape, grid=fitted_grid(now, one.shape, one.array.path))
            changes.append((one.array.path, now, new))
        done: list[tuple[str, ArrayMeta, ArrayMeta]] = []
        try:
            for path, now, new in changes:
                done.append((path, now, new))
                replace(context, path, now, new)
        except BaseException:
            for path, now, new in reversed(done):
                with suppress(OmnizarrError):
                    replace(context, path, new, now)
            raise
        for one in growing:
            one.array.refresh()
