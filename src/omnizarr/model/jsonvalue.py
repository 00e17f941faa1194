"""The type of what a JSON document holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
"""A JSON value; parsed documents hold `list` and `dict`, and `tuple` may be given where a document is made."""
