"""What a dataset, its groups and its variables share: the source, for as long as it is open."""

from __future__ import annotations

from typing import Final

from omnizarr.nc.dataset.errors import ClosedError, NotWritableError
from omnizarr.nc.kinds import CDF5, CLASSIC, NETCDF4_CLASSIC, NETCDF4_KINDS, OFFSET64
from omnizarr.nc.source import Source

_MODELS: Final = {
    CLASSIC: "NETCDF3_CLASSIC",
    OFFSET64: "NETCDF3_64BIT_OFFSET",
    CDF5: "NETCDF3_64BIT_DATA",
    NETCDF4_CLASSIC: "NETCDF4_CLASSIC",
}


class Handle:
    """A source, and what the dataset over it was opened with."""

    __slots__ = ("auto_complex", "is_open", "keepweakref", "model", "name", "no_fill", "source")

    def __init__(
        self, source: Source, *, model: str | None = None, keepweakref: bool = False, auto_complex: bool = False
    ) -> None:
        self.source = source
        self.name = source.name
        self.model = model or _MODELS.get(source.kind, "NETCDF4")
        self.keepweakref = keepweakref
        self.auto_complex = auto_complex
        self.is_open = True
        self.no_fill = False

    @property
    def classic(self) -> bool:
        """Whether only what netCDF-3 knows may be defined."""
        return self.model != "NETCDF4"

    @property
    def disk_format(self) -> str:
        """What lies in the place, in the words of netCDF4."""
        kind = self.source.kind
        if kind in NETCDF4_KINDS:
            return "HDF5"
        return "NETCDF3" if kind in _MODELS else kind.upper()

    def live(self) -> Source:
        """Return the source.

        Raises:
            ClosedError: If the dataset was closed.
        """
        if not self.is_open:
            raise ClosedError(f"{self.source.name} was closed")
        return self.source

    def writable(self, what: str) -> Source:
        """Return the source, to change something.

        Raises:
            ClosedError: If the dataset was closed.
            NotWritableError: If it was opened for reading.
        """
        source = self.live()
        if source.read_only:
            raise NotWritableError(
                f"{source.name} is open for reading only, so {what} cannot change", hint='Open it with mode "a".'
            )
        return source
