"""From the arguments of `Dataset` to a source: which place, opened or created how."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from omnizarr.errors import ExistsError, NotFoundError, StoreError, UnsupportedError
from omnizarr.nc.dataset.buffered import BufferedSource, copy_values
from omnizarr.nc.dataset.errors import BadOptionError, NoPermissionError
from omnizarr.nc.files.hdf5_library import load_h5py
from omnizarr.nc.kinds import NCZARR, NETCDF3_KINDS, NETCDF4_KINDS, ZARR_KINDS, as_kind, kind_by_name
from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.source import Source
from omnizarr.nc.tree import Group
from omnizarr.nc.url import asked_kind
from omnizarr.store.remote import url_of

_FILE_KINDS: Final = (*NETCDF3_KINDS, *NETCDF4_KINDS)
FORMATS: Final = (
    "NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA",
    "NCZARR", "NCZARR3", "ZARR", "ZARR3",
)  # fmt: skip
_WRITING: Final = frozenset(("xarray", "also", "target", "separator", "consolidated"))
"""What can be said of how Zarr is written."""
_NOTHING: Final[Mapping[str, Any]] = {}


class Opened(NamedTuple):
    """A source, and what is to be done around it.

    Attributes:
        source: It.
        model: The data model, if it is not what the source says.
        after: Called once the source is closed; what it returns, `Dataset.close` returns.
    """

    source: Source
    model: str | None = None
    after: Callable[[], memoryview | None] | None = None


def open_place(
    where: object,
    mode: str,
    *,
    clobber: bool,
    format: str,  # noqa: A002 - the name users know
    diskless: bool,
    persist: bool,
    memory: Any,  # noqa: ANN401 - bytes, or a number of them
    options: Mapping[str, Any],
) -> Opened:
    """Open or create a dataset, in Zarr with options of writing.

    Raises:
        TypeError: If there is no such option.
        BadOptionError: If the mode or the format is none, or nothing is written that an option could be for.
        NotFoundError: If there is nothing to read.
        ExistsError: If something is there that must not be replaced.
    """
    if unknown := options.keys() - _WRITING:
        raise TypeError(f"Dataset() got an unexpected keyword argument {min(unknown)!r}")
    plain = _plain(mode, format, given=memory is not None)
    if plain == "r":
        if options:
            raise BadOptionError(f"{min(options)}= is an option of writing, and the mode is {mode!r}")
        return _open_bytes(memory) if memory is not None else Opened(open_source(where, "r"))
    if (url := url_of(where)) is not None:
        raise UnsupportedError(f"{url} is on a server, and cannot be changed", hint="Copy it: `oz copy`.")
    if plain == "a":
        found = _append(where)
        if found is not None and options:
            found.close()
            raise BadOptionError(f"{min(options)}= is for datasets that are created, and {where} is there already")
        if found is not None:
            return Opened(found)
    elif (mode == "x" or not clobber) and _exists(where):
        raise ExistsError(f"{where} exists already", hint="With clobber=True it is replaced.")
    kind, model = kind_of(where, format)
    if options and kind not in ZARR_KINDS:
        raise BadOptionError(f"{min(options)}= is an option of Zarr, and {where} becomes a file of netCDF")
    if memory is not None:
        return _create_bytes(kind, model, str(where), options)
    return Opened(_create(where, kind, options, diskless=diskless, persist=persist), model)


def _plain(mode: str, format: str, *, given: bool) -> str:  # noqa: A002 - the name users know
    """Return whether to read, to write or to append, if all is as it should be."""
    if given and mode not in ("r", "w"):
        raise BadOptionError("if memory kwarg specified, mode must be 'r' or 'w'")
    plain = mode.replace("r+", "a").replace("x", "w").removesuffix("s")
    if plain not in ("r", "w", "a") or mode.startswith("s") or mode == "xs":
        raise BadOptionError(f"mode must be 'w', 'x', 'r', 'a' or 'r+', got {mode!r}")
    if format not in FORMATS:
        raise BadOptionError(f"unrecognized format requested: {format!r}", hint=f"One of: {', '.join(FORMATS)}.")
    return plain


def kind_of(where: object, format: str) -> tuple[str, str | None]:  # noqa: A002 - the name users know
    """Return what to write to a place, and the data model that was asked for."""
    by_name = asked_kind(where) or kind_by_name(where)
    if as_kind(format) in ZARR_KINDS:
        return as_kind(format), None
    if by_name in ZARR_KINDS:
        return by_name, None if format == "NETCDF4" else _model(format)
    return as_kind(format), None


def _model(format: str) -> str:  # noqa: A002 - the name users know
    return "NETCDF3_64BIT_OFFSET" if format == "NETCDF3_64BIT" else format


def _begin(path: Path) -> None:
    """Make an empty file.

    Raises:
        OmnizarrError: If that cannot be; it also is the builtin that others raise.
    """
    try:
        path.write_bytes(b"")
    except FileNotFoundError as error:
        hint = "Create the folder first."
        raise NotFoundError("there is no folder for the file", path=str(path), hint=hint) from error
    except OSError as error:
        kind = NoPermissionError if isinstance(error, PermissionError) else StoreError
        hint = "Look at who may write to the file and its folder, or take another place."
        failed = kind(f"the file cannot be written: {error.strerror}", path=str(path), hint=hint)
        failed.errno = error.errno
        raise failed from error


def _create(where: object, kind: str, options: Mapping[str, Any], *, diskless: bool, persist: bool) -> Source:
    if diskless and not persist:
        return BufferedSource(kind, str(where))
    if diskless or kind in _FILE_KINDS:
        if kind in NETCDF4_KINDS:
            load_h5py(str(where))  # known to be there before any value is taken, and loaded before the program ends
        if not diskless and isinstance(where, (str, os.PathLike)):
            _begin(Path(where))  # so that a place that cannot be written to is known at once
        return BufferedSource(kind, str(where), finish=lambda source: _bring(source, where, kind, options))
    return create_source(where, Group(), kind, **options)


def _append(where: object) -> Source | None:
    """Open what is there for changes, or return `None` if there is nothing."""
    if not _exists(where):
        return None
    below = open_source(where, "r")
    if below.kind in _FILE_KINDS:
        kind = below.kind
        return BufferedSource(kind, below.name, below, lambda source: _bring(source, where, kind))
    below.close()
    return open_source(where, "a")


def _exists(where: object) -> bool:
    if isinstance(where, MutableMapping):
        return len(where) > 0
    if isinstance(where, (str, os.PathLike)) and "://" not in str(where) and "#" not in str(where):
        path = Path(where)
        try:
            return path.exists() and not (path.is_dir() and not any(path.iterdir()))
        except PermissionError as error:
            hint = "Look at who may list the folder: to change a dataset, one has to read, write and search it."
            failed = NoPermissionError(f"the folder cannot be listed: {error.strerror}", path=str(path), hint=hint)
            failed.errno = error.errno
            raise failed from error
    try:
        open_source(where, "r").close()
    except NotFoundError:
        return False
    return True


def _bring(source: BufferedSource, where: Any, kind: str, options: Mapping[str, Any] = _NOTHING) -> None:  # noqa: ANN401 - a place
    """Write everything to its place; files appear there when they are complete."""
    target = create_source(where, source.root, kind, **options)
    try:
        copy_values(source, target)
    except BaseException:
        discard = getattr(target, "discard", target.close)  # what was there before stays, not half of what is new
        discard()
        raise
    target.close()


def _open_bytes(memory: Any) -> Opened:  # noqa: ANN401 - anything with a buffer
    """Open a file that is in memory."""
    try:
        content = memoryview(memory)
    except TypeError:
        raise BadOptionError(f"Unable to retrieve Buffer from {memory!r}") from None
    suffix = ".zip" if bytes(content[:2]) == b"PK" else ".nc"
    path = _temporary(suffix)
    path.write_bytes(content)
    try:
        return Opened(open_source(path, "r"), after=lambda: path.unlink(missing_ok=True))
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _create_bytes(kind: str, model: str | None, name: str, options: Mapping[str, Any]) -> Opened:
    """Create a dataset whose bytes are returned when it is closed: a file of netCDF, or of Zarr in a zip archive."""
    path = _temporary(".zip" if kind in ZARR_KINDS else ".nc")
    path.unlink()
    source = BufferedSource(kind or NCZARR, name, finish=lambda done: _bring(done, path, kind, options))

    def content() -> memoryview:
        try:
            return memoryview(path.read_bytes())
        finally:
            path.unlink(missing_ok=True)

    return Opened(source, model, content)


def _temporary(suffix: str) -> Path:
    handle, name = tempfile.mkstemp(suffix)
    os.close(handle)
    return Path(name)
