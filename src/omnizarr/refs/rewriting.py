"""Other names for the files of a set: moved to another place, relative to the set, or absolute."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from omnizarr.errors import NotFoundError
from omnizarr.refs.combining.blocks import UrlTable, renumbered
from omnizarr.refs.taking import AnySet, references_of
from omnizarr.refset.model import References, Stamp

Keep: TypeAlias = Literal["all", "size", "none"]


def rewrite(
    references: AnySet, changes: Mapping[str, str] | Callable[[str], str], *, stamps: Keep = "size"
) -> References:
    """Change the URLs of a set.

    Args:
        references: The set, which stays as it is, or its place.
        changes: What URLs begin with now, and what they shall begin with; or a function from the old to the new URL.
        stamps: What is kept of what is known of files that get another name: sizes, since copies have another time and
            another ETag; all of it, where files keep these; or nothing.

    Raises:
        NotFoundError: If no URL begins so.

    >>> moved = rewrite(References(urls=["/old/a.nc", "/old/b.nc"]), {"/old/": "s3://bucket/"})
    >>> moved.urls
    ['s3://bucket/a.nc', 's3://bucket/b.nc']
    """
    references = references_of(references)
    change = changes if callable(changes) else _by_prefix(changes)
    names = {url: change(url) for url in references.urls}
    others = [value[0] for value in references.others.values() if isinstance(value, tuple)]
    names.update({url: change(url) for url in others if url not in names})
    if not callable(changes):
        idle = [old for old in changes if not any(url.startswith(old) for url in names)]
        if idle:
            some = ", ".join(list(names)[:3])
            raise NotFoundError(f"no URL of the set begins with {idle[0]!r}", hint=f"URLs of the set: {some} …")
    table = UrlTable()
    numbers = table.add([names[url] for url in references.urls])
    result = References(dict(references.documents), urls=table.urls)
    for path, chunks in references.arrays.items():
        urls = chunks.urls.copy()
        if len(numbers):
            renumbered(chunks.urls, numbers, urls)
        result.arrays[path] = replace(chunks, urls=urls)
    result.stamps = _stamps(references.stamps, {**names, **{url: change(url) for url in references.stamps}}, stamps)
    for key, value in references.others.items():
        if isinstance(value, tuple):
            value = (names[value[0]],) if len(value) == 1 else (names[value[0]], value[1], value[2])  # noqa: PLW2901
        result.others[key] = value
    return result


def _stamps(known: Mapping[str, Stamp], names: Mapping[str, str], keep: Keep) -> dict[str, Stamp]:
    found: dict[str, Stamp | None] = {}
    for url, stamp in known.items():
        new = names[url]
        kept = stamp if new == url or keep == "all" else Stamp(stamp.size)
        if keep == "none" and new != url:
            continue
        # What was several files and is one now is none of those that were known.
        found[new] = kept if found.get(new, kept) == kept else None
    return {url: stamp for url, stamp in found.items() if stamp is not None and stamp != Stamp()}


def _by_prefix(changes: Mapping[str, str]) -> Callable[[str], str]:
    longest = sorted(changes, key=len, reverse=True)

    def change(url: str) -> str:
        for old in longest:
            if url.startswith(old):
                return changes[old] + url[len(old) :]
        return url

    return change


def relative(references: AnySet, base: str) -> References:
    """Name files by where they are from a folder, which the set is then to be stored in.

    Files that are on another server, or another machine, keep their names.

    >>> relative(References(urls=["/data/a.nc", "/data/sub/b.nc"]), "/data/sets/").urls
    ['../a.nc', '../sub/b.nc']
    """
    scheme, mark, _ = base.partition("://")
    start = base if base.endswith("/") else base + "/"

    def change(url: str) -> str:
        if mark:
            return url.removeprefix(start)
        if "://" in url or not url.startswith("/"):
            return url
        return os.path.relpath(url, base).replace(os.sep, "/")

    del scheme
    return rewrite(references, change, stamps="all")


def absolute(references: AnySet, base: str) -> References:
    """Name files by their whole paths or URLs.

    Args:
        references: The set, which stays as it is, or its place.
        base: The folder that relative names are relative to.

    >>> absolute(References(urls=["../a.nc", "s3://bucket/b.nc"]), "/data/sets").urls
    ['/data/a.nc', 's3://bucket/b.nc']
    >>> absolute(References(urls=["../a.nc"]), "https://example.org/data/sets/").urls
    ['https://example.org/data/a.nc']
    """
    root, mark, rest = base.partition("://")

    def change(url: str) -> str:
        if "://" in url or url.startswith("/"):
            return url
        if not mark:
            return os.path.abspath(os.path.join(base, url))  # noqa: PTH100, PTH118 - text, which links are no part of
        parts = rest.rstrip("/").split("/")
        for part in url.split("/"):
            if part == ".." and len(parts) > 1:
                parts.pop()
            elif part not in (".", ".."):
                parts.append(part)
        return f"{root}://{'/'.join(parts)}"

    return rewrite(references, change, stamps="all")
