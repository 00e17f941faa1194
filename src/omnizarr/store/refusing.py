"""The half of a store that a store to read does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from omnizarr.errors import ReadOnlyError

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Refusing:
    """A store that refuses every change; what it is says why."""

    __slots__ = ()

    refusal = "the store is only read"
    """What a change is answered with."""

    refusal_hint: str | None = None
    """What to do instead."""

    def put(self, key: str, data: Buffer) -> None:
        """Refuse."""
        del data
        self._refuse(key)

    def erase(self, key: str) -> bool:
        """Refuse."""
        self._refuse(key)

    def erase_prefix(self, prefix: str) -> None:
        """Refuse."""
        self._refuse(prefix)

    def _refuse(self, key: str) -> NoReturn:
        raise ReadOnlyError(self.refusal, key=key, hint=self.refusal_hint)
