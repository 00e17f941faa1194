"""Places that two actors have handles on, each through a store of its own that can be made to fail."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

from omnizarr.store.fault import Fault, FaultStore
from omnizarr.store.file import FileStore
from omnizarr.store.mapping import DictStore
from omnizarr.store.memory import MemoryStore
from omnizarr.store.protocol import Store

KINDS = ("folder", "memory", "mapping")

actors = st.integers(0, 1)
faults = st.tuples(st.integers(1, 6), st.sampled_from(["before", "after"]), st.booleans())
"""At which operation, whether its effect is there nevertheless, and whether everything after it fails as well."""


class Place:
    """Something that holds keys for as long as a machine runs."""

    def __init__(self, kind: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="omnizarr-machine-"))
        self._memory = MemoryStore()
        self._mapping: dict[str, bytes] = {}
        self.kind = kind

    def store(self) -> Store:
        """Return a handle that knows of no other."""
        if self.kind == "folder":
            return FileStore(self.folder / "place")
        return self._memory if self.kind == "memory" else DictStore(self._mapping)

    def failing(self, fault: tuple[int, str, bool], kind: str = "write") -> FaultStore:
        """Return a handle whose operations fail."""
        at, when, dead = fault
        return FaultStore(self.store(), Fault(kind=kind, at=at, when=when, times=None if dead else 1))

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


def attempted(change: Callable[[], object], error: type[BaseException]) -> BaseException | None:
    """Try something that may fail in one way; return how it did."""
    try:
        change()
    except error as caught:
        return caught
    return None
