"""One object of limits: what Omnizarr refuses to do however politely a document asks."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Bounds on what input may claim; pass a changed copy to `open` where a limit is too small.

    >>> Limits()._replace(max_chunk_bytes=1 << 34).max_chunk_bytes
    17179869184
    """

    max_document_bytes: int = 64 << 20
    """Largest metadata document that is parsed."""

    max_document_depth: int = 100
    """Deepest nesting of a metadata document."""

    max_dimensions: int = 64
    """Most dimensions of an array (NumPy's own limit)."""

    max_chunk_bytes: int = 1 << 32
    """Largest decoded chunk; larger ones could not be held in memory on most machines."""

    max_shard_depth: int = 8
    """Deepest nesting of shards in shards."""

    max_folder_depth: int = 64
    """Deepest nesting of folders that a web server may list: one that lists a folder in itself has no end."""

    max_set_bytes: int = 1 << 32
    """Largest text of a reference set, unpacked."""

    max_set_references: int = 10_000_000
    """Most references that the formulas of a set may make where they are expanded."""

    max_variable_bytes: int = 1 << 31
    """Most bytes that the strings of one chunk may decode to."""

    max_entry_bytes: int = 1 << 30
    """Most bytes that a compressed entry of an archive may decompress to."""

    allow: tuple[str, ...] = ()
    """Places that a reference set may lead to besides its own folder and public servers: folders of this machine, or
    URLs; all below them is allowed too. "*" stands for all places."""


DEFAULT_LIMITS = Limits()
