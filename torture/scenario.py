"""What a scenario is: a state with a number, a step to the next one, and a look at what is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import omnizarr as oz
from omnizarr.store.protocol import Store


class Violation(AssertionError):  # noqa: N818 - which is what it is
    """A promise was broken."""


class Scenario:
    """An operation in a folder of its own.

    State 0 is what `make` leaves, and `step(folder, n)` leads from state n - 1 to state n, whatever a crash has left
    of an earlier attempt at it. `check(folder, n)` accepts state n, state n + 1, and what may lie between; with `exact`
    only state n.
    """

    name: ClassVar[str]
    zarr: ClassVar[str] = ""
    """Path below the folder that zarr-python can open, or nothing."""
    kinds: ClassVar[int] = 1
    """How many of the first steps differ from each other."""
    most: ClassVar[int] = 1 << 30
    """After so many steps it begins anew."""
    can_be_durable: ClassVar[bool] = False
    """Whether a step that has returned survives a loss of power, if that is asked for."""

    def __init__(self, *, durable: bool = False) -> None:
        self.durable = durable

    def make(self, folder: Path) -> None:
        """Make state 0 in an empty folder."""
        raise NotImplementedError

    def step(self, folder: Path, number: int) -> None:
        """Do it."""
        raise NotImplementedError

    def check(self, folder: Path, number: int, *, exact: bool = False) -> None:
        """Raise a violation unless everything is old or new."""
        raise NotImplementedError

    def sweep(self, folder: Path) -> None:
        """Open it for writing, after which nothing may be left over."""
        oz.open(folder / "a.zarr", mode="r+").close()

    def store(self, folder: Path, name: str = "a.zarr") -> Store:
        """Return the store of the scenario."""
        return oz.FileStore(folder / name, durable=self.durable)


def expect(truth: object, *words: object) -> None:
    """Raise a violation unless something is true."""
    if not truth:
        raise Violation(" ".join(map(str, words)))


def left_over(folder: Path) -> list[str]:
    """Return what unfinished work has left: temporary files, locks, notes."""
    return sorted(_left(folder))


def _left(folder: Path) -> Iterator[str]:
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if name.endswith((".partial", ".lock", ".__lock")) or name.startswith(".omnizarr"):
                yield os.path.relpath(os.path.join(top, name), folder)  # noqa: PTH118 - as `os.walk` gives


SCENARIOS: dict[str, type[Scenario]] = {}


def scenario(name: str) -> Callable[[type[Scenario]], type[Scenario]]:
    """Enter a class under a name."""

    def enter(cls: type[Scenario]) -> type[Scenario]:
        cls.name = name
        SCENARIOS[name] = cls
        return cls

    return enter
