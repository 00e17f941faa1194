"""What a group is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from omnizarr.model.jsonvalue import JSON


@dataclass(frozen=True, slots=True)
class GroupMeta:
    """A group: attributes, the dialect that it is written in, and what the dialect says beyond that."""

    attributes: Mapping[str, JSON] = field(default_factory=dict)
    format: str = "zarr3"
    extra: Mapping[str, JSON] = field(default_factory=dict)
    """Fields that Omnizarr does not interpret but keeps through a rewrite."""
