"""Every error that Omnizarr raises, in one tree.

    OmnizarrError
    ├── NotFoundError        (FileNotFoundError, KeyError)  nothing there
    ├── ExistsError          (FileExistsError)              something is there already
    ├── NodeTypeError        (TypeError, ValueError)        an array where a group was asked for, or the reverse
    ├── MetadataError        (ValueError)                   a document that breaks its specification
    │   └── UnsupportedError (NotImplementedError)          legal, but not to be had: an unknown codec, type, grid
    ├── SelectionError       (IndexError)                   an index out of bounds or of the wrong form
    ├── ShapeError           (ValueError)                   values whose shape or type does not fit
    ├── StoreError           (OSError)                      the store failed: disk full, no permission, no network
    │   └── ReadOnlyError    (PermissionError)              opened for reading only
    ├── UnsafeError          (ValueError)                   a key, link or codec that must not be followed
    ├── CorruptError         (ValueError)                   bytes that do not decode
    │   ├── CorruptShardError                               a shard whose index contradicts it
    │   ├── ChecksumError                                   bytes whose checksum does not match
    │   └── StaleReferenceError                             a source that has changed since it was scanned
    ├── CodecError           (RuntimeError)                 a codec failed on good input
    ├── ConflictError        (RuntimeError)                 another writer was faster, again and again
    ├── LimitError           (ValueError)                   larger than `omnizarr.limits.Limits` allows
    └── MissingDependencyError (ImportError)                an optional package is not installed

Each carries `kind` (a stable word for programs), `path` (the node), `key` (the store's key), `codec` and `hint` (what
to do about it), and also inherits the builtin that people already catch.
"""

from __future__ import annotations

import sys
import warnings
from typing import ClassVar


class OmnizarrError(Exception):
    """The root of the tree: a sentence about the cause, and where it happened."""

    kind: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        key: str | None = None,
        codec: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.key = key
        self.codec = codec
        self.hint = hint

    def __str__(self) -> str:
        where = []
        if self.path is not None:
            where.append(f"array or group {self.path!r}")
        if self.key is not None:
            where.append(f"key {self.key!r}")
        if self.codec is not None:
            where.append(f"codec {self.codec!r}")
        text = self.message + (f" ({', '.join(where)})" if where else "")
        return f"{text}\n{self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, (self.path, self.key, self.codec, self.hint))


def _rebuild(cls: type[OmnizarrError], message: str, where: tuple[str | None, ...]) -> OmnizarrError:
    path, key, codec, hint = where
    return cls(message, path=path, key=key, codec=codec, hint=hint)


class NotFoundError(OmnizarrError, FileNotFoundError, KeyError):
    """Nothing that Omnizarr can read is there."""

    kind = "not-found"


class ExistsError(OmnizarrError, FileExistsError):
    """Something is there already, and the mode does not allow replacing it."""

    kind = "exists"


class NodeTypeError(OmnizarrError, TypeError, ValueError):
    """An array was found where a group was asked for, or the reverse; others raise a ValueError for that."""

    kind = "node-type"


class MetadataError(OmnizarrError, ValueError):
    """A document breaks the specification that it claims to follow; `pointer` says where in it."""

    kind = "metadata"

    def __init__(
        self,
        message: str,
        *,
        pointer: str | None = None,
        path: str | None = None,
        key: str | None = None,
        codec: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(
            f"{message} (at {pointer})" if pointer else message, path=path, key=key, codec=codec, hint=hint
        )
        self.pointer = pointer


class UnsupportedError(MetadataError, NotImplementedError):
    """A legal extension that this installation does not have."""

    kind = "unsupported"


class SelectionError(OmnizarrError, IndexError):
    """An index out of bounds, or of a form that the method does not take."""

    kind = "selection"


class ShapeError(OmnizarrError, ValueError):
    """Values whose shape or type does not fit where they should go."""

    kind = "shape"


class StoreError(OmnizarrError, OSError):
    """The store failed; `errno` is the system's number where there is one."""

    kind = "store"


class ReadOnlyError(StoreError, PermissionError):
    """A write to something that was opened for reading."""

    kind = "read-only"


class UnsafeError(OmnizarrError, ValueError):
    """A key that leads out of its store, or a codec that would run code from data."""

    kind = "unsafe"


class CorruptError(OmnizarrError, ValueError):
    """Stored bytes that do not decode to what the metadata promises."""

    kind = "corrupt"


class CorruptShardError(CorruptError):
    """A shard whose index is damaged or points outside the shard."""

    kind = "corrupt-shard"


class ChecksumError(CorruptError):
    """Stored bytes whose checksum does not match them."""

    kind = "checksum"


class StaleReferenceError(CorruptError):
    """A reference to bytes that are no longer there, or to a source that has changed since it was scanned."""

    kind = "stale-reference"


class CodecError(OmnizarrError, RuntimeError):
    """A codec failed although its input was fine."""

    kind = "codec"


class ConflictError(OmnizarrError, RuntimeError):
    """Other writers changed the same chunk too often to finish a partial write."""

    kind = "conflict"


class LimitError(OmnizarrError, ValueError):
    """Input asks for more than `omnizarr.limits.Limits` allows."""

    kind = "limit"


class MissingDependencyError(OmnizarrError, ImportError):
    """An optional package is needed; `hint` holds the install command."""

    kind = "missing-dependency"


class OmnizarrWarning(UserWarning):
    """Something was read that its specification does not allow, in the only way that makes sense."""


def warn(message: str) -> None:
    """Warn in the name of whoever called the package, from however deep inside: that is the line to look at."""
    level, frame = 1, sys._getframe()  # noqa: SLF001 - the only way to see who calls
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "omnizarr":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, OmnizarrWarning, stacklevel=level)
