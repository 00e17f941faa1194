"""What was found: findings, the census of each array's chunks, and all of it as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from omnizarr.errors import LimitError, MetadataError, OmnizarrError, UnsafeError, UnsupportedError
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.validate.rules import RULES, Selection, Severity


class Cure(NamedTuple):
    """One thing that a repair does."""

    do: Literal["edit", "put", "erase", "consolidate", "pack", "cut", "grow"]
    """Change a member of a document, write or erase a key, consolidate a group, pack an archive, finish a note."""

    key: str = ""
    """The key, or for `consolidate`, `cut` and `grow` the path of the node."""

    pointer: str = ""
    """For `edit`: the member, or the empty string to write the document as it was understood."""

    value: JSON | bytes = None
    """For `edit` and `put`: what to write."""

    drop: bool = False
    """For `edit`: whether the member is removed instead."""


class Finding(NamedTuple):
    """One violation of a rule."""

    rule: str
    severity: Severity
    path: str
    """The node's path in the store; the root has the empty one."""

    key: str | None
    """The key of the document or chunk."""

    pointer: str | None
    """Where in the document, as a JSON pointer (RFC 6901)."""

    message: str
    hint: str | None = None
    times: int = 1
    """How many keys it stands for: many that are alike are one finding."""

    cures: tuple[Cure, ...] = ()
    """What `repair` does about it; empty if nothing."""

    @property
    def name(self) -> str:
        """The rule's name."""
        return RULES[self.rule].name

    @property
    def repairable(self) -> bool:
        """Whether some `repair` mends it."""
        return bool(self.cures)


class ArrayCensus(NamedTuple):
    """How many chunks an array has, and how many of them are stored."""

    path: str
    chunks: int
    """Chunks of the grid: of those in shards, where the array is sharded."""

    present: int
    fill: int | None
    """How many of those present hold nothing but the fill value; `None` if they were not decoded."""

    stored: int
    """Keys that hold chunks: shards, where the array is sharded."""

    nbytes: int

    @property
    def missing(self) -> int:
        """Chunks that are not stored, which is no fault: they read as the fill value."""
        return self.chunks - self.present


class Report(NamedTuple):
    """What `omnizarr.validate` returns."""

    location: str
    """Where the node is that was looked at."""

    root: str
    """The URI of the store, below which keys are."""

    findings: tuple[Finding, ...]
    census: tuple[ArrayCensus, ...]
    nodes: int
    """How many arrays and groups were looked at."""

    keys: int
    """How many keys were looked at."""

    decoded: bool
    """Whether every chunk was decoded."""

    repaired: tuple[str, ...] = ()
    """What was repaired, in words."""

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not any(one.severity == "error" for one in self.findings)

    @property
    def clean(self) -> bool:
        """Whether there are no findings at all."""
        return not self.findings

    @property
    def counts(self) -> Mapping[Severity, int]:
        """How many findings there are of each severity."""
        found = Counter(one.severity for one in self.findings)
        return {kind: found[kind] for kind in ("error", "warning", "note")}


Place: TypeAlias = tuple[str, str | None]
"""A node's path, and a key."""


class Sink:
    """Takes findings, and keeps those of rules that count."""

    def __init__(self, wanted: Selection) -> None:
        self.wanted = wanted
        self.findings: list[Finding] = []

    def add(
        self,
        rule: str,
        place: Place,
        message: str,
        *,
        pointer: str | None = None,
        hint: str | None = None,
        times: int = 1,
        cures: tuple[Cure, ...] = (),
    ) -> None:
        """Take a finding."""
        if self.wanted.wants(rule):
            path, key = place
            given = cures if RULES[rule].repair else ()
            severity = RULES[rule].severity
            self.findings.append(Finding(rule, severity, path, key, pointer, message, hint, times, given))


class Codes(NamedTuple):
    """The rules that errors of a parser fall under."""

    metadata: str
    unsupported: str
    unsafe: str
    limit: str = "OZ108"

    def of(self, error: OmnizarrError) -> str:
        """Return the rule of an error."""
        if isinstance(error, LimitError):
            return self.limit
        if isinstance(error, UnsafeError):
            return self.unsafe
        return self.unsupported if isinstance(error, UnsupportedError) else self.metadata


def words(error: OmnizarrError) -> tuple[str, str | None]:
    """Part the message of an error from the pointer in it."""
    pointer = error.pointer if isinstance(error, MetadataError) else None
    return (error.message.removesuffix(f" (at {pointer})") if pointer else error.message), pointer
