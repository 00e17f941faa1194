"""Where the drafts of Zarr v3, from 2019 to 2022, keep their nodes: documents below `meta/`, chunks below `data/`.

The layout changed several times. `Layout` says which one a store has; a node's documents and chunks then have the names
that a view of the store gives them: all below the node's own path, as in every other dialect.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from omnizarr.format.names import DRAFT_ARRAY, DRAFT_ARRAY_2019, DRAFT_GROUP

_ENDINGS: Final = ((".array.json", ".group.json"), (".array", ".group"), (".arr.json", ".grp.json"))

CONSOLIDATED: Final = "consolidated"
"""The group that zarr-python made up to hold consolidated metadata."""


class Layout(NamedTuple):
    """One of the layouts."""

    meta: str
    """Path of the root's documents: `meta/root`, or `meta` from November 2022 on."""

    data: str
    """What the keys of all chunks begin with: `data/root/`, or `data/`."""

    suffix: str = ".json"
    """What the entry point says that the keys of documents end in."""

    @property
    def array(self) -> str:
        """The view's name of an array's document; of 2019, if the keys of chunks do not begin with "c"."""
        return DRAFT_ARRAY_2019 if self.meta == "meta/root" and self.data == "data/" else DRAFT_ARRAY

    def endings(self) -> list[tuple[str, str]]:
        """Return what the keys of the documents of arrays and of groups end in, the likeliest first."""
        own = (f".array{self.suffix}", f".group{self.suffix}")
        return [own, *(pair for pair in _ENDINGS if pair != own)]

    def candidates(self, path: str, name: str) -> list[str]:
        """Return the keys that the document of a node may have."""
        if name not in (self.array, DRAFT_GROUP):
            return []
        kind = 0 if name == self.array else 1
        if path:
            return [f"{self.meta}/{path}{pair[kind]}" for pair in self.endings()]
        if self.meta == "meta":  # the root's document has no name but what others end in
            return [f"meta/{pair[kind].removeprefix('.')}" for pair in self.endings()]
        return [f"{self.meta}{pair[kind]}" for pair in self.endings()]

    def node(self, name: str) -> str | None:
        """Return the name of the node that a file right below its parent's documents belongs to."""
        for pair in self.endings():
            for ending in pair:
                if name.endswith(ending) and len(name) > len(ending):
                    return name[: -len(ending)]
        return None


def find_layout(meta: tuple[list[str], list[str]], data: list[str], suffix: str) -> Layout | None:
    """Find out a store's layout from what lies right below `meta/` and `data/`; `None` if there is no hierarchy.

    Args:
        meta: Names of the files and of the folders in `meta/`.
        data: Names of the folders in `data/`.
        suffix: What the entry point says that documents end in, or ".json".
    """
    files, folders = meta
    late = Layout("meta", "data/", suffix)
    if any(f"meta/{name}" in late.candidates("", kind) for name in files for kind in (late.array, DRAFT_GROUP)):
        return late
    early = Layout("meta/root", "data/root/", suffix)
    if "root" in folders or any(early.node(name) == "root" for name in files):
        # In 2019 chunks lay below `data/` itself.
        return early if "root" in data or not data else early._replace(data="data/")
    return late if any(late.node(name) for name in files) else None
