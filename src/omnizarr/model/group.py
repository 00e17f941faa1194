"""What a group is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from omnizarr.model.jsonvalue import JSON


class GroupMeta(NamedTuple):
    """A group: attributes, the dialect that it is written in, and what the dialect says beyond that."""

    attributes: Mapping[str, JSON] = {}
    format: str = "zarr3"
    extra: Mapping[str, JSON] = {}
    """Fields that Omnizarr does not interpret but keeps through a rewrite."""
