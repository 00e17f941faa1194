"""How long work tells how far it has come."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Whatever can be called so; tools call it now and then, from the thread that called them."""

    def __call__(self, done: int, total: int | None, nbytes: int, /) -> None:
        """Take note.

        Args:
            done: How much is done, in units of the tool's: keys, regions or chunks.
            total: How much there is to do, or `None` as long as that is not known.
            nbytes: How many bytes have been worked on.
        """
        ...


def silent(_done: int, _total: int | None, _nbytes: int, /) -> None:
    """Take note of nothing."""
