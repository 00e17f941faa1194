"""The cache on disk of what object stores were asked for: where it is, and how large it may become."""

from __future__ import annotations

import os
from typing import Final

from omnizarr.errors import UnsafeError, warn
from omnizarr.native import CloudStore as NativeStore
from omnizarr.sizes import human_bytes
from omnizarr.store.cloud.settled import Settled

DEFAULT: Final = 10 << 30
SMALLEST: Final = 1 << 16
"""In less, no chunk has room."""

_CLOUDS: Final = ("s3", "gcs", "azure")
_told: Final = set[str]()


def cache_of(settled: Settled) -> tuple[str, int] | None:
    """Return the folder of the cache and its limit in bytes; None where nothing is to be kept.

    Raises:
        UnsafeError: If the folder cannot be one, or the limit is too small.

    >>> from omnizarr.store.cloud.secret import Config
    >>> cache_of(Settled(kind="s3", config=Config(), prefix="", uri="s3://b", settings={"cache": "/tmp/x"}))
    ('/tmp/x', 10737418240)
    """
    folder, size = settled.settings.get("cache"), settled.settings.get("cache_bytes")
    if size is not None and (isinstance(size, str) or size < SMALLEST):
        raise UnsafeError(f"the option cache_bytes is to be at least {SMALLEST}, which is {human_bytes(SMALLEST)}")
    if folder is None and size is not None:
        raise UnsafeError("the option cache_bytes needs the option cache, a folder")
    # Other servers need not have ETags, and what they answer is not kept.
    if folder is None or settled.kind not in _CLOUDS:
        return None
    if not isinstance(folder, str) or not folder.strip() or "\0" in folder or "://" in folder:
        raise UnsafeError("the option cache is to be a folder of this machine")
    path = os.path.abspath(os.path.expanduser(folder))  # noqa: PTH100, PTH111 - pathlib is not needed to start
    if os.path.exists(path) and not os.path.isdir(path):  # noqa: PTH110, PTH112
        raise UnsafeError(f"the option cache is to be a folder, and {path!r} is something else")
    return path, DEFAULT if size is None else int(size)


def tell_of_trouble(folder: str, native: NativeStore) -> None:
    """Warn, once, if a folder cannot be used: everything is read all the same."""
    trouble = native.cache_trouble
    if trouble is not None and folder not in _told:
        _told.add(folder)
        warn(f"nothing is kept in {folder!r}, which storage_options name as the cache: {trouble}")
