"""What the parts of a scan of an HDF5 file share: the file, the set that grows, and bytes that are read on the way."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO
from urllib.parse import urljoin

from omnizarr.errors import CorruptError
from omnizarr.nc.files.hdf5_handles import OpenFile, acquire, release
from omnizarr.nc.files.hdf5_library import load_h5py, load_plugins, troubles
from omnizarr.refs.scanners.building import Builder
from omnizarr.refs.scanners.source import SourceFile
from omnizarr.refset.model import Stamp


class Site:
    """A file that is being scanned.

    Attributes:
        h5py: The package.
        file: The open file, of h5py.
        local: Its path, if it is on this machine.
    """

    def __init__(self, h5py: Any, handle: OpenFile, source: SourceFile, raw: BinaryIO | None) -> None:  # noqa: ANN401 - a package without types
        self.h5py = h5py
        self._handle = handle
        self.file = handle.file
        self.source = source
        self.local = None if raw is not None else source.url
        self.builder = Builder(source)
        self._raw = raw

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the file.

        Raises:
            CorruptError: If it ends before.
        """
        if self._raw is None:
            self._raw = self.source.open()
        self._raw.seek(offset)
        data = self._raw.read(length)
        if len(data) != length:
            raise CorruptError(f"{self.source.url} ends before byte {offset + length}")
        return data

    def url(self, path: str) -> int:
        """Return the number of the URL of a file, which is put down if it is new."""
        references = self.builder.references
        if path in references.urls:
            return references.urls.index(path)
        references.urls.append(path)
        with suppress(OSError):
            state = os.stat(path)  # noqa: PTH116 - the path is text already
            references.stamps[path] = Stamp(state.st_size, state.st_mtime_ns)
        return len(references.urls) - 1

    def url_of(self, dataset: Any) -> int:  # noqa: ANN401 - of h5py's
        """Return the number of the URL of the file that a dataset is in: links may lead to another."""
        file = self.h5py.h5i.get_file_id(dataset)
        if file == self.file.id or self.local is None:
            return 0
        return self.url(os.path.abspath(os.fsdecode(file.name)))  # noqa: PTH100 - links stay as they are

    def bytes_of(self, dataset: Any) -> str | BinaryIO:  # noqa: ANN401 - as above
        """Return the path of the file that a dataset is in, or the file itself where it has none."""
        if self.local is None and self._raw is not None:
            return self._raw
        return self.builder.references.urls[self.url_of(dataset)]

    def beside(self, name: str) -> str:
        """Return where a file is that this one names: relative to its own folder, as its copies keep it."""
        if self.local is None:
            return urljoin(self.source.url, name)
        return os.path.normpath(os.path.join(os.path.dirname(self.local), name))  # noqa: PTH118, PTH120 - text already

    def close(self) -> None:
        """Let go of the file."""
        release(self._handle)
        if self._raw is not None:
            self._raw.close()


def _unless_local(source: SourceFile) -> BinaryIO | None:
    """Open a file that has no path; by path HDF5 reads without a detour through Python."""
    raw = source.open()
    with suppress(ValueError, OSError, AttributeError):
        if os.path.samestat(os.fstat(raw.fileno()), os.stat(source.url)):  # noqa: PTH116 - the path is text already
            raw.close()
            return None
    return raw


@contextmanager
def opened(source: SourceFile) -> Generator[Site]:
    """Open a file for scanning.

    Raises:
        NotFoundError: If it is not there.
        CorruptError: If it is no HDF5 file, or a damaged one.
        MissingDependencyError: If h5py is not installed.
    """
    h5py = load_h5py(source.url)
    load_plugins()
    raw = _unless_local(source)
    try:
        with troubles(source.url):
            handle = acquire(h5py, raw if raw is not None else source.url)
    except BaseException:
        if raw is not None:
            raw.close()
        raise
    site = Site(h5py, handle, source, raw)
    try:
        yield site
    finally:
        site.close()
