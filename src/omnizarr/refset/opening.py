"""What reference set is at a place, as a store."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from omnizarr.errors import NotFoundError, OmnizarrError, UnsupportedError
from omnizarr.late import LateModule
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refset.guard import defaults, spelled
from omnizarr.refset.json_reading import JsonOptions, Loaded, load_json, load_mapping
from omnizarr.refset.store import ReferenceStore, connecting, new_identity
from omnizarr.store.cloud.at import At, Hidden
from omnizarr.store.file import local_path
from omnizarr.store.uri import path_to_uri, scheme

parquet_reading: Any = LateModule("omnizarr.refset.parquet_reading")
remote: Any = LateModule("omnizarr.store.remote")
servers: Any = LateModule("omnizarr.store.cloud.servers")

_REFERENCE: Final = "reference"
_MEMBERS: Final = frozenset(("version", "templates", "gen", "refs"))


def open_set(
    where: str | os.PathLike[str] | Mapping[str, Any],
    *,
    allow: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    template_overrides: Mapping[str, str] | None = None,
    target: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> ReferenceStore:
    """Open a reference set: JSON of version 0 or 1, packed or not, a folder of parquet, or a mapping as JSON has it.

    Args:
        where: The file or folder, its URL, `reference::` before it or not; or a mapping.
        allow: Places that its references may lead to besides its own folder and what is public; "*" allows all.
        limits: Bounds on what the set may claim.
        template_overrides: Texts in place of templates of the set, by name.
        target: What is meant by references whose URL is null.
        storage_options: Credentials and settings for the object stores that the set, or its references, are in; headers
            for the server that it is on or, if it is on none, for the servers that `allow` names.

    Raises:
        NotFoundError: If nothing is there.
        MetadataError: If it is no reference set; the error names the key.
        UnsafeError: If it has templates that are more than expressions.

    >>> open_set({"version": 1, "refs": {"x": "data"}}).get("x")
    b'data'
    """
    options = JsonOptions(template_overrides, target, limits=limits)
    again = partial(
        open_set,
        where,
        allow=allow,
        limits=limits,
        template_overrides=template_overrides,
        target=target,
        storage_options=storage_options and Hidden(storage_options),
    )
    if isinstance(where, Mapping):
        return _store("memory:references", load_mapping(where, options), allow, limits, again)
    text = _plain(os.fspath(where))
    if scheme(text) not in (None, "file"):
        if text.partition("#")[0].rstrip("/").lower().endswith((".parq", ".parquet")):
            place = At(text, storage_options)
            found: ReferenceStore = parquet_reading.open_parquet(
                place, allow=allow, limits=limits, options=storage_options
            )
            return found
        data = remote.fetch(text, limit=limits.max_set_bytes, options=storage_options)
        return _store(text, _loaded(text, data, options), allow, limits, again)
    path = local_path(text)
    if os.path.isdir(path):  # noqa: PTH112 - the path is text already
        opened: ReferenceStore = parquet_reading.open_parquet(path, allow=allow, limits=limits, options=storage_options)
        return opened
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            data = file.read()
    except FileNotFoundError:
        raise NotFoundError("there is no such reference set", path=path) from None
    return _store(path_to_uri(path), _loaded(path, data, options), allow, limits, again)


def _store(
    uri: str, loaded: Loaded, allow: Sequence[str], limits: Limits, again: partial[ReferenceStore]
) -> ReferenceStore:
    base, allowed = defaults(uri, limits)
    stamps = {url: (stamp.size, stamp.modified, stamp.etag) for url, stamp in loaded.stamps.items()}
    made = loaded.inner.references()
    options, allowed = again.keywords["storage_options"], [*allowed, *spelled(allow)]
    headers = servers.for_set(servers.named_servers(uri, allowed), options)
    inner = made.store(base, allowed, stamps, new_identity(), connecting(options), headers)
    return ReferenceStore(inner, uri, again)


def _loaded(place: str, data: bytes, options: JsonOptions) -> Loaded:
    try:
        return load_json(data, options)
    except OmnizarrError as error:
        if error.path is None:
            error.path = place
        raise


def _plain(text: str) -> str:
    """Return the place of a set without what fsspec's users write before it.

    >>> _plain("reference::/data/set.json"), _plain("reference:///data/set.json"), _plain("/data/set.json")
    ('/data/set.json', '/data/set.json', '/data/set.json')
    """
    if scheme(text) != _REFERENCE:
        return text
    inner = text.partition(":")[2]
    inner = inner[1:] if inner.startswith(":") else inner.removeprefix("//")
    if not inner:
        raise UnsupportedError(
            "reference:// alone does not say where the set is", hint="Give the path or URL of the set itself."
        )
    return inner


def is_set(given: Mapping[str, Any]) -> bool:
    """Whether a mapping is a reference set and not one of keys to bytes: by its members, or by values that are lists.

    >>> is_set({"version": 1, "refs": {}}), is_set({"a/0": ["a.nc", 0, 8]}), is_set({"a/0": b"1"})
    (True, True, False)
    """
    if isinstance(given.get("refs"), Mapping) and given.keys() <= _MEMBERS | {"omnizarr"}:
        return True
    return type(given) is dict and any(isinstance(value, (list, tuple)) for value in given.values())
