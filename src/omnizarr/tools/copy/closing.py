"""Archives that a copy is made in: kept as they were if it fails."""

from __future__ import annotations

from typing import Protocol, cast

from omnizarr.store.protocol import Store


class _Archive(Protocol):
    def discard(self) -> None: ...
    def close(self) -> None: ...


class Closing:
    """Brings an archive that a path named up to date at the end, or leaves it as it was if the work failed."""

    def __init__(self, store: Store, given: object) -> None:
        inner: object = store
        while inner is not None and not hasattr(inner, "discard"):
            inner = getattr(inner, "inner", None)
        self._archive = None if given is store or given is inner else cast("_Archive | None", inner)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._archive is not None:
            if kind is not None:
                self._archive.discard()
            self._archive.close()
