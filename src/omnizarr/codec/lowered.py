"""What every codec is made into: steps of the kernel, and what comes out of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.model.jsonvalue import JSON

Step: TypeAlias = tuple[str, dict[str, Any]]
"""A step of the kernel: its name and options."""


class Lowered(NamedTuple):
    """A codec made ready: its complete configuration, the kernel's steps, and what comes out of it."""

    config: dict[str, JSON]
    step: Step
    stage: Stage
    before: tuple[Step, ...] = ()
    """Steps that the kernel takes first, where one is not enough."""

    then: tuple[Step, ...] = ()
    """Steps on bytes that follow it."""


Lower: TypeAlias = Callable[[Options, Stage], Lowered | None]
"""Makes a codec ready: its options, and what reaches it, give the steps; `None` leaves it to a codec from elsewhere."""
