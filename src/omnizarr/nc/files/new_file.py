"""Files that are written under another name, and get their own once they are whole."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

from omnizarr.errors import StoreError, UnsupportedError


class NewFile:
    """A name to write under, in the folder where the file will be."""

    def __init__(self, where: object) -> None:
        if not isinstance(where, (str, os.PathLike)):
            raise StoreError(f"a file can only be written to a path, not to {type(where).__name__}")
        if "://" in (text := os.fspath(where)):
            raise UnsupportedError(
                "netCDF files are written to this machine only",
                path=text,
                hint="Write the file here and copy it there, or write NCZarr: add #mode=nczarr to the URL.",
            )
        self.target = Path(text)
        try:
            number, name = mkstemp(prefix=f".{self.target.name[:100]}.", suffix=".part", dir=self.target.parent)
        except OSError as error:
            raise StoreError(f"{self.target} cannot be written: {error.strerror}") from error
        os.close(number)
        self.path = Path(name)

    def finish(self) -> None:
        """Give the file its name, over whatever has it now.

        Raises:
            StoreError: If the system refuses.
        """
        try:
            mask = os.umask(0)
            os.umask(mask)
            self.path.chmod(0o666 & ~mask)
            self.path.replace(self.target)
        except OSError as error:
            self.discard()
            raise StoreError(f"{self.target} cannot be written: {error.strerror}") from error

    def discard(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):
            self.path.unlink()
