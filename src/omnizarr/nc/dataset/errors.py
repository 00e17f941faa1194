"""Errors of datasets: each is ours, and also the builtin that users of netCDF4 catch."""

from __future__ import annotations

from omnizarr.errors import LimitError, OmnizarrError, ReadOnlyError, SelectionError, StoreError


class NoAttributeError(OmnizarrError, AttributeError, RuntimeError):
    """There is no attribute of that name, or it must not be touched."""

    kind = "no-attribute"


class NotDefinedError(OmnizarrError, KeyError, ValueError):
    """There is no dimension, variable, group or type of that name."""

    kind = "not-defined"


class NotThereError(OmnizarrError, IndexError, KeyError):
    """A path leads to nothing."""

    kind = "not-there"


class DefinitionError(OmnizarrError, RuntimeError):
    """A definition that contradicts those that are there: a name in use, a second unlimited dimension."""

    kind = "definition"


class RangeError(OmnizarrError, OverflowError):
    """A number that the type of a variable cannot hold."""

    kind = "range"


class ClosedError(OmnizarrError, RuntimeError):
    """The dataset was closed."""

    kind = "closed"


class NotWritableError(ReadOnlyError, RuntimeError):
    """The dataset was opened for reading."""

    kind = "read-only"


class NoPermissionError(StoreError, PermissionError):
    """The system does not let this be written."""

    kind = "store"


class BoundsError(SelectionError, RuntimeError):
    """A write beyond a dimension that cannot grow."""

    kind = "selection"


class TooLargeError(LimitError, OverflowError):
    """A length that no place can hold."""

    kind = "limit"


class RankError(SelectionError, ValueError):
    """An index with more parts than the variable has dimensions."""

    kind = "selection"


class IndexTypeError(SelectionError, TypeError, ValueError):
    """Values that a variable of sequences does not take that way, or an index of which a part is no number."""

    kind = "selection"


class BadTypeError(OmnizarrError, TypeError, ValueError, KeyError):
    """A type that netCDF does not have, or values of another type than asked for."""

    kind = "bad-type"


class BadNameError(BadTypeError, AttributeError):
    """A name that is no text."""


class BadOptionError(OmnizarrError, ValueError):
    """An argument out of its range."""

    kind = "bad-option"
