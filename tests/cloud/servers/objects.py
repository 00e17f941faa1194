"""Objects in memory: buckets, their keys in order, and uploads in parts."""

from __future__ import annotations

import bisect
import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime

_UPLOADS = itertools.count(1)
_GENERATIONS = itertools.count(1_700_000_000_000_000)


@dataclass
class Object:
    """Bytes with what is said of them."""

    data: bytes
    etag: str = ""
    modified: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))
    headers: dict[str, str] = field(default_factory=dict)
    generation: int = field(default_factory=lambda: next(_GENERATIONS))

    def __post_init__(self) -> None:
        self.etag = self.etag or f'"{hashlib.md5(self.data).hexdigest()}"'

    def said(self) -> dict[str, str]:
        """Give the headers of an answer."""
        when = format_datetime(self.modified, usegmt=True)
        return {"ETag": self.etag, "Last-Modified": when, "Accept-Ranges": "bytes", **self.headers}


@dataclass
class Upload:
    """Parts that wait for being put together."""

    key: str
    headers: dict[str, str]
    parts: dict[int, Object] = field(default_factory=dict)


class Numbered(Sequence[str]):
    """Keys that are not kept: a prefix and a number, in order."""

    def __init__(self, prefix: str, count: int) -> None:
        self.prefix, self.count = prefix, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i):
        if not 0 <= i < self.count:
            raise IndexError(i)
        return f"{self.prefix}{i:09d}"


@dataclass
class Bucket:
    """Objects by key, which are listed in order."""

    objects: dict[str, Object] = field(default_factory=dict)
    uploads: dict[str, Upload] = field(default_factory=dict)
    public: bool = False
    """Whether requests without a signature may read."""
    numbered: Numbered | None = None
    """Keys that are listed in place of those there are."""
    _order: list[str] | None = None

    def put(self, key: str, value: Object) -> None:
        if key not in self.objects:
            self._order = None
        self.objects[key] = value

    def delete(self, key: str) -> None:
        if self.objects.pop(key, None) is not None:
            self._order = None

    def keys(self) -> Sequence[str]:
        """Give all keys in the order of their bytes."""
        if self.numbered is not None:
            return self.numbered
        if self._order is None or len(self._order) != len(self.objects):
            self._order = sorted(self.objects)
        return self._order

    def begin(self, key: str, headers: dict[str, str]) -> str:
        name = f"upload-{next(_UPLOADS)}"
        self.uploads[name] = Upload(key, headers)
        return name

    def walk(self, prefix: str, delimiter: str, after: str) -> Iterator[tuple[str, bool]]:
        """Give keys after `after`, and with True the prefixes that stand for several of them."""
        keys = self.keys()
        at = bisect.bisect_right(keys, after) if after >= prefix else bisect.bisect_left(keys, prefix)
        if delimiter and after.endswith(delimiter) and after > prefix:
            at = bisect.bisect_left(keys, after + "\U0010ffff")
        while at < len(keys) and keys[at].startswith(prefix):
            key = keys[at]
            cut = key.find(delimiter, len(prefix)) if delimiter else -1
            if cut < 0:
                yield key, False
                at += 1
            else:
                common = key[: cut + len(delimiter)]
                yield common, True
                at = bisect.bisect_left(keys, common + "\U0010ffff", at)
