"""The journal of a conversion: a document in the target that says what is under way, so that it can go on or be undone.

It has two states. While "building", all that was there before is still there, and what is new can be erased. Once
"committed", all that is new is complete, and what is left to do is to put it in the place of the old.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias, cast

from omnizarr.errors import ConflictError, CorruptError, OmnizarrError
from omnizarr.format.names import join
from omnizarr.hierarchy.left import CONVERTING
from omnizarr.model.array import ArrayMeta
from omnizarr.model.keys import Keys
from omnizarr.store.protocol import Store, place_name
from omnizarr.tools.copy.note import put_unless_there

JOURNAL: Final = CONVERTING
SCRATCH: Final = ".omnizarr-convert"
"""Below it lie chunks that cannot be in their place yet."""

State: TypeAlias = Literal["building", "committed"]

_VERSIONS: Final = {1: "the first"}

_EVERY: Final = 0.5
"""Seconds between two notes on how far the work has come."""


class Record(NamedTuple):
    """One node in the journal."""

    path: str
    """Below the place of the journal."""

    format: str
    put: Mapping[str, str]
    """New documents by name, those that make it a node last."""

    fresh: bool = True
    """Whether these names are new there."""

    erase: tuple[str, ...] = ()
    """Names of documents that go."""

    old_keys: Keys | None = None
    """Names of the chunks that go."""

    new_keys: Keys | None = None
    """Names of the chunks that were made."""

    ndim: int = 0
    scratch: str = ""
    """Where the new chunks are, if their names are those of old ones."""


class Journal(NamedTuple):
    """What is under way."""

    state: State
    mark: str
    """Stands for what was asked for."""

    words: str
    """The same for people."""

    before: str
    """The format of what is converted, which may be hidden already by new documents that win over the old."""

    in_place: bool
    records: tuple[Record, ...]
    copies: Mapping[str, str]
    """Consolidated metadata, by key below the journal: to be written last."""

    stale: tuple[str, ...]
    """Keys below the journal that hold consolidated metadata of what goes."""

    step: int = 0
    """How many nodes have been built."""

    done: int = 0
    """How many regions, or keys, of the next one."""

    work: str = ""
    """Stands for how the work was cut into these; numbers of other pieces mean nothing."""

    def to_bytes(self) -> bytes:
        """Write it as JSON."""
        value = {**self._asdict(), "version": 1, "records": [record._asdict() for record in self.records]}
        return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes, key: str) -> Self:
        """Read it.

        Raises:
            CorruptError: It is not one.
        """
        try:
            value: dict[str, Any] = json.loads(data)
            _VERSIONS[value.pop("version")]
            records = tuple(_record(one) for one in value.pop("records"))
            return cls(**cast("Any", {**value, "records": records, "stale": tuple(value["stale"])}))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            hint = "Erase it if no conversion is under way."
            raise CorruptError(f"the journal of a conversion cannot be read: {error}", key=key, hint=hint) from error


def _record(value: dict[str, Any]) -> Record:
    keys = {name: Keys(*value[name]) if value[name] is not None else None for name in ("old_keys", "new_keys")}
    return Record(**cast("Any", {**value, **keys, "erase": tuple(value["erase"])}))


def mark_of(*parts: object) -> str:
    """Return a text that stands for what was asked for."""
    return sha256(repr(parts).encode()).hexdigest()[:32]


def load_journal(store: Store, path: str) -> Journal | None:
    """Return the journal at a path, or `None` if nothing is under way there."""
    key = join(path, JOURNAL)
    data = store.get(key)
    if data is None:
        return None
    try:
        return Journal.from_bytes(data, key)
    except CorruptError as error:
        error.path = place_name(store, path)
        raise


class Keeper:
    """Writes the journal as the work goes on."""

    def __init__(self, store: Store, path: str, journal: Journal) -> None:
        self.store = store
        self.path = path
        self.journal = journal
        self._last = time.monotonic()

    def begin(self) -> None:
        """Write it down for the first time, unless another program has since it was looked for.

        Raises:
            ConflictError: If one has.
        """
        key, data = join(self.path, JOURNAL), self.journal.to_bytes()
        try:
            begun = put_unless_there(self.store, key, data)
        except BaseException:
            with suppress(OmnizarrError):  # the answer may be lost, and nothing is under way
                if self.store.get(key) == data:
                    self.store.erase(key)
            raise
        if not begun:
            message = "another program has begun a conversion here at the same time"
            raise ConflictError(message, path=place_name(self.store, self.path))
        self._last = time.monotonic()

    def write(self) -> None:
        """Write it down."""
        self.store.put(join(self.path, JOURNAL), self.journal.to_bytes())
        self._last = time.monotonic()

    def note(self, step: int, done: int) -> None:
        """Take note of how far the work has come; it is written down now and then."""
        self.journal = self.journal._replace(step=step, done=done)
        if time.monotonic() - self._last >= _EVERY:
            self.write()

    def commit(self) -> None:
        """Write down that all that is new is complete."""
        self.journal = self.journal._replace(state="committed")
        self.write()

    def close(self) -> None:
        """Erase the journal: nothing is under way any more."""
        self.store.erase(join(self.path, JOURNAL))


def ndim_of(meta: object) -> int:
    """Return the number of dimensions of a node; 0 for groups."""
    return meta.ndim if isinstance(meta, ArrayMeta) else 0
