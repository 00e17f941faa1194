"""What files refuse: those that are read any change, those that are written a change of definitions."""

from __future__ import annotations

from omnizarr.errors import ReadOnlyError, UnsupportedError
from omnizarr.nc.source import Key, Values
from omnizarr.nc.tree import Group, Var


class ReadOnlyFile:
    """A file that is read: the half of a source that changes things."""

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


class DefinedFile:
    """A file that is written: all of it is defined when it is created."""

    name: str
    read_only = False

    def changed(self, node: Group | Var) -> None:
        """Refuse.

        Raises:
            UnsupportedError: Always: netCDF files get their definitions when they are created.
        """
        raise UnsupportedError(
            f"definitions of {node.path} cannot change while {self.name} is being written",
            hint="Write Zarr, and copy it: `oz copy`.",
        )
