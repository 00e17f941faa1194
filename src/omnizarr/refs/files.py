"""Reading and writing whole sets, in every form that there is."""

from __future__ import annotations

import os
from typing import Final, Literal, TypeAlias

from omnizarr.errors import MetadataError
from omnizarr.refs.scan.sets import scan as scan_set
from omnizarr.refs.scan.source import SourceFile
from omnizarr.refset.json_writing import write_json
from omnizarr.refset.model import References
from omnizarr.refset.parquet_writing import write_parquet

Form: TypeAlias = Literal["json", "json.gz", "json.zst", "parquet"]

_ENDINGS: Final[dict[str, Form]] = {
    ".json": "json",
    ".json.gz": "json.gz",
    ".json.zst": "json.zst",
    ".parq": "parquet",
    ".parquet": "parquet",
}


def read(where: str | os.PathLike[str]) -> References:
    """Read a whole set into memory; its relative URLs become absolute.

    Args:
        where: A set in JSON, also compressed, or the folder of one in parquet.

    Raises:
        NotFoundError: If nothing is there.
        MetadataError: If it is no reference set.
    """
    return scan_set(SourceFile(where))


def write(
    references: References,
    where: str | os.PathLike[str],
    *,
    form: Form | None = None,
    version: Literal[0, 1] = 1,
    record_size: int = 100_000,
    overwrite: bool = False,
) -> None:
    """Write a set. It is not there before it is whole.

    Args:
        references: The set.
        where: The file, or for parquet the folder.
        form: How it is written; by default as the name says: `.json`, `.json.gz`, `.json.zst`, `.parq`, `.parquet`.
        version: Of JSON. Version 0 has no place for what tells whether a source has changed.
        record_size: How many references a file of parquet holds.
        overwrite: Whether to replace what is there.

    Raises:
        ExistsError: If something is there.
        MetadataError: If the name does not tell the form.
    """
    chosen = form or form_of(where)
    if chosen == "parquet":
        write_parquet(references, where, record_size=record_size, overwrite=overwrite)
    else:
        write_json(references, where, version=version, form=chosen, overwrite=overwrite)


def form_of(where: str | os.PathLike[str]) -> Form:
    """Say by its name how a set is written.

    Raises:
        MetadataError: If the name does not tell.

    >>> form_of("archive.parq"), form_of("archive.json.zst")
    ('parquet', 'json.zst')
    """
    name = os.fspath(where).rstrip("/\\")
    found = next((form for ending, form in _ENDINGS.items() if name.endswith(ending)), None)
    if found is None:
        raise MetadataError(
            f"the name {name!r} does not tell how to write the set",
            hint=f"Let it end in {', '.join(_ENDINGS)}, or pass form=.",
        )
    return found
