"""What callers may ask of a combination."""

from __future__ import annotations

from typing import Literal, NamedTuple

from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refs.combining.conflicts import Attributes


class Options(NamedTuple):
    """How sets are combined where there is a choice."""

    identical: frozenset[str] = frozenset()
    """Variables that are the same in all sets, which is then not checked: the first one is taken."""

    compat: Literal["identical", "override"] = "identical"
    """Variables that are in several sets and not concatenated: must be equal, or the first one is taken."""

    attributes: Attributes = "drop_conflicts"
    """What becomes of attributes that differ, but for those that give numbers their meaning."""

    keep: Literal["error", "first", "last"] = "error"
    """Which of two sets counts where both have the same place along the dimensions."""

    missing: Literal["warn", "fill", "error"] = "warn"
    """Places that no set has: filled with the fill value, with a warning or without one, or an error."""

    sort: bool = True
    """Whether sets are put into the order of their coordinates; else they stay in the order that they are given in."""

    cut: bool = True
    """Whether the last chunk of a set may be cut to what it holds, where it is stored as it is."""

    base: str = ""
    """What relative URLs are relative to."""

    allow: tuple[str, ...] | None = None
    """What may be read to learn coordinates: where all sets are in memory, these places, by default all; else these
    besides the folders of the sets and public servers."""

    limits: Limits = DEFAULT_LIMITS

    servers: tuple[str, ...] = ()
    """URLs of the servers that the caller has named, which headers of the environment's options may go to."""
