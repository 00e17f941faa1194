"""Results of scans, kept in a folder: each is an ordinary reference set, and holds as long as its file is the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from omnizarr.errors import OmnizarrError
from omnizarr.refs.scanners.source import Options, SourceFile
from omnizarr.refset.json_reading import read_json
from omnizarr.refset.json_writing import write_json
from omnizarr.refset.model import References

_VERSION = 2
"""Raised whenever scanners find more, or something else, than before."""


class Cache:
    """Reference sets by the place, size and time of the last change of what was scanned, and by what was wanted of it.

    Args:
        folder: Where they are kept; made if it is not there.
        options: What is wanted of each file.
    """

    def __init__(self, folder: str | os.PathLike[str], options: Options) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._options = options

    def get(self, where: str) -> References | None:
        """Return what was found at a place, if that is known and the place has not changed."""
        path = self._path(where)
        if path is None:
            return None
        try:
            return read_json(path.read_bytes())
        except (OSError, OmnizarrError):  # not there, or cut off: it is scanned anew
            return None

    def put(self, where: str, references: References) -> None:
        """Keep what was found at a place."""
        path = self._path(where)
        if path is not None:
            write_json(references, path)

    def _path(self, where: str) -> Path | None:
        """Return where the result of a place is kept; `None` if nothing tells whether the place has changed."""
        try:
            source = SourceFile(where)
            stamp = source.stamp()
        except (OSError, OmnizarrError):
            return None
        if stamp.size is None or (stamp.modified is None and stamp.etag is None) or os.path.isdir(where):  # noqa: PTH112
            return None
        text = repr((_VERSION, source.url, tuple(stamp), tuple(self._options)))
        return self._folder / f"{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}.json.zst"
