"""Documents that were just read, so that what is far away is asked for them once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from omnizarr.store.protocol import Store, get_documents
from omnizarr.store.wrap import Wrapper


class SeenStore(Wrapper):
    """A store of which some values are known; used for as long as it takes to open a node.

    >>> from omnizarr.store.mapping import DictStore
    >>> SeenStore(DictStore({}), {"a": b"1"}).get_many(["a", "b"])
    [b'1', None]
    """

    __slots__ = ("_seen",)

    def __init__(self, inner: Store, seen: Mapping[str, bytes | None]) -> None:
        super().__init__(inner)
        self._seen = seen

    def get(self, key: str) -> bytes | None:
        """Return a value, the known one if it is known."""
        return self._seen[key] if key in self._seen else self.inner.get(key)

    def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return several values; only those that are not known are asked for."""
        return self._with_known(keys, self.inner.get_many)

    def get_documents(self, keys: Sequence[str], most: int) -> list[bytes | None]:
        """Return several values, of which those that are asked for may have no more than so many bytes."""
        return self._with_known(keys, lambda asked: get_documents(self.inner, asked, most))

    def _with_known(
        self, keys: Sequence[str], ask: Callable[[Sequence[str]], list[bytes | None]]
    ) -> list[bytes | None]:
        asked = [key for key in keys if key not in self._seen]
        found = dict(zip(asked, ask(asked), strict=True)) if asked else {}
        return [self._seen[key] if key in self._seen else found[key] for key in keys]
