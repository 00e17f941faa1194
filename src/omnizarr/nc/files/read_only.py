"""What every source does that only reads a file: it refuses changes."""

from __future__ import annotations

from omnizarr.errors import ReadOnlyError
from omnizarr.nc.source import Key, Values
from omnizarr.nc.tree import Group, Var


class ReadOnlyFile:
    """The half of a source that changes things."""

    name: str
    read_only = True

    def write(self, var: Var, key: Key, values: Values) -> None:  # noqa: ARG002 - as every source has
        """Refuse.

        Raises:
            ReadOnlyError: Always.
        """
        raise self._refusal()

    def changed(self, node: Group | Var) -> None:  # noqa: ARG002 - as every source has
        """Refuse.

        Raises:
            ReadOnlyError: Always.
        """
        raise self._refusal()

    def sync(self) -> None:
        """Do nothing."""

    def _refusal(self) -> ReadOnlyError:
        return ReadOnlyError(f"{self.name} is open for reading only", hint="Copy it to Zarr: `oz copy`.")
