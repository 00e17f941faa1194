"""Appending to many arrays as one step: values first, beyond what anybody sees, then all shapes.

Whatever fails before the first shape is written leaves the old dataset with its old values. Should a shape fail to be
written, those before it are put back. What another program has appended meanwhile is never written over: the shape is
looked at before values are, once where others are kept away, else before each block.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import numpy as np

from omnizarr.array.index import basic
from omnizarr.array.io import Access
from omnizarr.errors import ConflictError, OmnizarrError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.changing import array_lock, changed, folder_of
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.grown import finish_before
from omnizarr.hierarchy.lease import Lease, turn
from omnizarr.hierarchy.lock import address
from omnizarr.hierarchy.resize import fitted_grid
from omnizarr.hierarchy.save import replace
from omnizarr.hierarchy.unfinished import GROWTH, leave_note
from omnizarr.interop.dask.stored import Stored
from omnizarr.model.array import ArrayMeta
from omnizarr.store.folder_lock import Held
from omnizarr.store.protocol import place_name
from omnizarr.store.tagged import conditional


class Growing:
    """An array as it will be: it can be written as far as that, while others see the old shape.

    It pickles as the array's place, the new shape and the old one, so that tasks elsewhere can write to it.

    Args:
        array: The array.
        shape: The shape that it will have.
        old: The shape that it must have until then; that which it has, if not given.
        held: Whether others are kept from appending to it.
    """

    __slots__ = ("_access", "array", "held", "lock", "old", "shape", "unaligned")

    def __init__(
        self, array: Array, shape: tuple[int, ...], old: tuple[int, ...] | None = None, *, held: bool = False
    ) -> None:
        self.array = array
        self.shape = shape
        self.old = array.shape if old is None else old
        self.held = held
        self.lock: Lease | Held | None = None
        """What keeps them, in this process."""
        self.unaligned = False
        """Whether tasks write to parts of what is stored under one key."""
        meta = array.metadata
        # Made at once, since whoever writes later may have to wait for whoever waits for it.
        self._access: Access = array._opened().with_shape(shape, grid=fitted_grid(meta, shape, array.path))  # noqa: SLF001

    def __reduce__(self) -> tuple[object, ...]:
        Stored(self.array, "-", unaligned=self.unaligned)._check_reach()  # noqa: SLF001 - the classes belong together
        return _restored, (self.array, self.shape, self.old, self.held)

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
        if not self.held:
            self.check()
        self._access.write(basic(selection, self.shape), values)

    def check(self) -> None:
        """Raise if the array no longer has the shape that it had.

        Raises:
            ConflictError: If so.
        """
        self.array.refresh()
        self._check(self.array.shape, self.old)

    def _check(self, now: tuple[int, ...], *allowed: tuple[int, ...]) -> None:
        if now not in allowed:
            raise ConflictError(
                f"another program has changed the shape from {self.old} to {now} meanwhile",
                path=place_name(self.array.store, self.array.path),
                hint="Append again; nothing of this one is seen.",
            )

    def reshape(self, old: ArrayMeta, *, back: bool = False) -> None:
        """Write the new shape; or the old one again.

        Args:
            old: The array as it was.
            back: Whether to undo it, whether or not it came through.

        Raises:
            ConflictError: If the array has another shape by now.
        """
        path, array = self.array.path, self.array
        allowed = [self.old, self.shape] if back else [self.old]

        def change(context: Context) -> None:
            array._refresh(context)  # noqa: SLF001 - the classes belong together
            now = array.metadata
            self._check(now.shape, *allowed)
            # A try may come through though nobody says so.
            allowed.append(self.shape)
            grid = old.grid if back else fitted_grid(old, self.shape, path)
            new = now._replace(shape=self.old if back else self.shape, grid=grid)
            replace(context, path, now, new, None if self.lock is None else folder_of(self.lock))

        changed(array._context, path, change)  # noqa: SLF001 - as above
        array.refresh()


def _restored(array: Array, shape: tuple[int, ...], old: tuple[int, ...], held: bool) -> Growing:
    return Growing(array, shape, old, held=held)


@contextmanager
def held_alone(growing: Sequence[Growing]) -> Generator[Callable[[], None], None, None]:
    """Keep others from appending to arrays: threads of this process, and where the store can, other programs.

    Yields:
        What raises an error if other programs may have gone on meanwhile.

    Raises:
        ConflictError: If they have appended to one of them already.
    """
    try:
        with turn({address(one.array.store, one.array.path) for one in growing}), ExitStack() as stack:
            for one in sorted(growing, key=lambda one: one.array.path):
                array = one.array
                target = conditional(array.store, array.path + "/" if array.path else "")
                if target is not None:
                    one.lock = stack.enter_context(Lease(*target))
                else:
                    one.lock = stack.enter_context(array_lock(array._context, array.path, array.format))  # noqa: SLF001
            for one in growing:
                one.check()
                one.held = True
            held = [one.lock for one in growing if one.lock is not None]
            _check_all(held)  # what was not there is locked by nobody
            yield lambda: _check_all(held)
    finally:
        for one in growing:
            one.held, one.lock = False, None


def _check_all(held: Sequence[Lease | Held]) -> None:
    for one in held:
        one.check()


@contextmanager
def _noted(context: Context, growing: Sequence[Growing]) -> Generator[list[Growing], None, None]:
    """Leave a note of the new shapes while they are written, so that after a crash the rest is, too.

    Yields:
        A list for arrays that could not be given their old shapes again: the note stays, and the next writer goes on.
    """
    stuck: list[Growing] = []
    if len(growing) == 1:
        yield stuck
        return
    paths = [one.array.path.split("/") for one in growing]
    depth = 0
    while all(len(path) > depth + 1 and path[depth] == paths[0][depth] for path in paths):
        depth += 1
    top = "/".join(paths[0][:depth])
    shapes = {
        "/".join(path[depth:]): [list(one.old), list(one.shape)] for one, path in zip(growing, paths, strict=True)
    }
    finish_before(context, top, {one.array.path: one.lock for one in growing})
    note = leave_note(context.store, top, GROWTH, shapes)
    try:
        try:
            yield stuck
        finally:
            if not stuck:  # all of them have their new shapes, or their old ones again
                note.erase()
    finally:
        note.let_go()


def settle(growing: Sequence[Growing], check: Callable[[], None]) -> None:
    """Give all arrays their new shapes; either all of them, or none.

    Args:
        growing: The arrays.
        check: Raises an error if others may have gone on meanwhile.

    Raises:
        ConflictError: If one of them has another shape by now.
        OmnizarrError: If a shape cannot be written. The arrays are as they were; if that cannot be written either, the
            next one who opens them for writing makes all of them longer.
    """
    if not growing:
        return
    context = growing[0].array._context  # noqa: SLF001 - the classes belong together
    with context.lock, _noted(context, growing) as stuck:
        for one in growing:
            one.check()
        done: list[tuple[Growing, ArrayMeta]] = []
        try:
            for one in growing:
                check()
                done.append((one, one.array.metadata))
                stuck.append(one)
                one.reshape(one.array.metadata)
            stuck.clear()
        except BaseException:
            stuck[:] = [one for one, _ in done]  # each until it is put back: Ctrl-C may come again meanwhile
            for one, old in reversed(done):
                with suppress(OmnizarrError):
                    one.reshape(old, back=True)
                    stuck.remove(one)
            raise
