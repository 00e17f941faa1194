"""Reading and writing whole sets, in every form that there is."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

from omnizarr.errors import MetadataError, OmnizarrError
from omnizarr.refs.scanners.sets import is_folder, read_text
from omnizarr.refs.scanners.sets import scan as scan_set
from omnizarr.refs.scanners.source import SourceFile
from omnizarr.refs.taking import AnySet, taken
from omnizarr.refset.json_reading import load_mapping, read_json, references_of
from omnizarr.refset.json_writing import dumps, write_json
from omnizarr.refset.model import References
from omnizarr.refset.parquet_reading import read_parquet
from omnizarr.refset.parquet_writing import write_parquet
from omnizarr.store.cloud.opening import is_cloud
from omnizarr.store.file import local_path

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
    references: AnySet,
    where: str | os.PathLike[str],
    *,
    form: Form | None = None,
    version: Literal[0, 1] = 1,
    record_size: int = 100_000,
    overwrite: bool = False,
) -> None:
    """Write a set. It is not there before it is whole.

    Args:
        references: The set, or its place.
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
    references = taken(references).references
    if chosen == "parquet":
        write_parquet(references, where, record_size=record_size, overwrite=overwrite)
    else:
        write_json(references, where, version=version, form=chosen, overwrite=overwrite)


def expand(where: str | os.PathLike[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Return a set as version 0: a mapping of keys to what they stand for, without templates and formulas.

    Args:
        where: A set in JSON, also compressed, the folder of one in parquet, or a mapping.

    Raises:
        LimitError: If formulas would make too many references.
        MetadataError: If it is no reference set.

    >>> gen = {"key": "k{{i}}", "url": "{{u}}_{{i}}", "offset": "{{i * 10}}", "length": "10"}
    >>> gen["dimensions"] = {"i": [1, 2]}
    >>> expand({"version": 1, "templates": {"u": "s3://b/x"}, "gen": [gen], "refs": {"a": "data"}})
    {'a': 'data', 'k1': ['s3://b/x_1', 10, 10], 'k2': ['s3://b/x_2', 20, 10]}
    """
    if isinstance(where, Mapping):
        found = references_of(load_mapping(where, expand=True))
    else:
        place = os.fspath(where) if is_cloud(where) else local_path(where)
        if is_folder(place):
            found = read_parquet(place)
        else:
            source = SourceFile(where)
            try:
                found = read_json(read_text(source))
            except OmnizarrError as error:
                error.path = error.path or source.url
                raise
    # Whoever asks for version 0 need not be told that it has no place for stamps.
    expanded: dict[str, Any] = json.loads(dumps(replace(found, stamps={}), version=0))
    return expanded


def form_of(where: str | os.PathLike[str]) -> Form:
    """Say by its name how a set is written.

    Raises:
        MetadataError: If the name does not tell.

    >>> form_of("archive.parq"), form_of("archive.json.zst")
    ('parquet', 'json.zst')
    """
    name = os.fspath(where).rstrip("/\\")
    found: Form | None = next((form for ending, form in _ENDINGS.items() if name.endswith(ending)), None)
    if found is None:
        raise MetadataError(
            f"the name {name!r} does not tell how to write the set",
            hint=f"Let it end in {', '.join(_ENDINGS)}, or pass form=.",
        )
    return found
