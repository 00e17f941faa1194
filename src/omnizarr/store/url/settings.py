"""What surrounds a program and decides with a URL: environment, home and working folder.

They are one value, so that whoever asks what a URL means elsewhere, or tests it, can give another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple


class Surroundings(NamedTuple):
    """Where settings are looked for."""

    environ: Mapping[str, str]
    home: str
    folder: str
    """The working folder."""
    system: str = "/sys"
    """Where the kernel of Linux tells of the machine."""

    @classmethod
    def here(cls) -> Surroundings:
        """Return those of this process."""
        home = os.path.expanduser("~")  # noqa: PTH111 - pathlib takes longer to import than all stores together
        try:
            folder = os.getcwd()  # noqa: PTH109 - as above
        except OSError:  # it was erased
            folder = ""
        return cls(os.environ, "" if home == "~" else home, folder)

    def get(self, name: str) -> str:
        """Return the value of an environment variable, empty if it is not set."""
        return self.environ.get(name, "")


def read_text(path: str) -> str | None:
    """Return the text of a file of settings, whatever its bytes are; `None` if there is none.

    Raises:
        OSError: If there is one, but it cannot be read.
    """
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123 - as above
            return file.read(_MOST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:  # a NUL in the path
        return None


_MOST = 1 << 20
