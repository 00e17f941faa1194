"""Where values wait that do not fit into memory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager

from omnizarr.store.file import FileStore


@contextmanager
def temporary() -> Generator[FileStore]:
    """Lend a store in a temporary directory, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="omnizarr-") as folder:
        yield FileStore(folder)


class Beside:
    """A directory beside a file or directory, of a name that a second run finds again.

    Args:
        root: The path of what it is for.
        word: What tells several such directories apart.
    """

    def __init__(self, root: str, word: str) -> None:
        self.root = f"{root}.{word}.scratch"
        self.store = FileStore(self.root)

    def remove(self) -> None:
        """Remove the directory, if there is one, with all that it holds."""
        shutil.rmtree(self.root, ignore_errors=True)
