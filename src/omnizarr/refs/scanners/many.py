"""Scanning one place or many: in parallel processes, with what went wrong collected, and results kept for next time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from threading import Lock
from types import ModuleType
from typing import Final, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, overload

from omnizarr.errors import OmnizarrError, warn
from omnizarr.refs.scanners.cache import Cache
from omnizarr.refs.scanners.dispatch import scan_place
from omnizarr.refs.scanners.source import DEFAULTS, Options, names_of
from omnizarr.refset.model import References

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many places are done, and how many there are."""

OnError: TypeAlias = Literal["raise", "drop", "skip"]

_FEW: Final = 8
"""So few files are scanned faster than processes start."""

_MOST_NAMED: Final = 20

_STARTING: Final = Lock()


class Scanned(NamedTuple):
    """What became of one place."""

    where: str
    references: References | None
    error: OmnizarrError | None = None


class ScanError(OmnizarrError, ValueError):
    """Some places could not be scanned; `failures` has the error of each."""

    kind = "scan"

    failures: tuple[Scanned, ...] = ()


class Settings(TypedDict, total=False):
    """What `scan` takes beside places."""

    inline: int
    group: str
    only: str | Iterable[str]
    skip: str | Iterable[str]
    format: Literal["zarr3"] | None
    workers: int | None
    cluster: object
    cache: str | os.PathLike[str] | None
    on_error: OnError
    progress: Progress | None


@overload
def scan(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload] - text is taken for one place
    where: str | os.PathLike[str], **settings: Unpack[Settings]
) -> References: ...
@overload
def scan(where: Iterable[str | os.PathLike[str]], **settings: Unpack[Settings]) -> list[References]: ...
def scan(
    where: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], **settings: Unpack[Settings]
) -> References | list[References]:
    """Find the chunks of files, without reading them.

    Understood are netCDF (all versions), HDF5, GRIB, TIFF, FITS, Zarr of every dialect, and other reference sets.

    Args:
        where: A file or folder, or several: paths or URLs.
        inline: Chunks of fewer bytes are taken into the set itself.
        group: Only what is below this path in each file, which becomes the root.
        only: Only variables of these names, in which `*` and `?` stand for any letters.
        skip: All but variables of these names.
        workers: How many processes scan many files; by default one for each processor.
        cluster: Who scans many files instead: the address of a Dask scheduler, `"local:4"` for so many workers on this
            machine, or a client of Dask's.
        cache: A folder where results are kept; a file that has not changed since is not scanned again.
        on_error: What becomes of what cannot be described by references: "raise" is an error that names all of it,
            "drop" leaves out such variables with a warning, "skip" whole files.
        format: "zarr3" makes documents of Zarr v3, in which fill values of HDF5 are always told; by default they are of
            v2, which more readers know, where that has words for all.
        progress: Called after each of many files with how many are done, and how many there are.

    Returns:
        A set; a list of sets where several places are given.

    Raises:
        ScanError: If several places are given and some cannot be scanned.
        OmnizarrError: If the only place given cannot.

    >>> import numpy as np, omnizarr as oz, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = oz.create_array(f"{folder}/a.zarr", data=np.arange(10), chunks=5)
    >>> len(oz.refs.scan(f"{folder}/a.zarr").arrays[""])
    2
    """
    options = Options(
        settings.get("inline", DEFAULTS.inline),
        settings.get("group", ""),
        names_of(settings.get("only", ())),
        names_of(settings.get("skip", ())),
        "drop" if settings.get("on_error") == "drop" else "raise",
        settings.get("format"),
    )
    cache = settings.get("cache")
    if isinstance(where, (str, os.PathLike)):
        found = scan_all([where], options, cache=cache)[0]
        if found.references is None:
            raise found.error or ScanError(f"{found.where} cannot be scanned")
        return found.references
    workers, progress, cluster = settings.get("workers"), settings.get("progress"), settings.get("cluster")
    results = scan_all(where, options, workers=workers, cluster=cluster, cache=cache, progress=progress)
    return checked(results, settings.get("on_error", "raise"))


def scan_all(
    places: Iterable[str | os.PathLike[str]],
    options: Options = DEFAULTS,
    *,
    workers: int | None = None,
    cluster: object = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> list[Scanned]:
    """Scan many places; what goes wrong with one is noted, and the others are scanned all the same.

    Args:
        places: Files and folders, as paths or URLs.
        options: What is wanted of each.
        workers: How many processes work on it; by default one for each processor.
        cluster: Workers of a Dask cluster that do it instead, as for `scan`.
        cache: A folder where results are kept; a file that has not changed since is not scanned again.
        progress: Called after each place.

    Returns:
        What became of each place, in the order of the places.
    """
    names = [os.fspath(place) for place in places]
    found: list[Scanned | None] = [None] * len(names)
    store = None if cache is None else Cache(cache, options)
    for done, (i, result) in enumerate(
        _results(names, options, workers if cluster is None else _Cluster(cluster), store), 1
    ):
        found[i] = result
        if progress is not None:
            progress(done, len(names))
    return [one for one in found if one is not None]


def checked(found: Sequence[Scanned], on_error: str) -> list[References]:
    """Return the sets, if all is well or errors do not matter.

    Raises:
        ScanError: If something failed, unless `on_error` is "skip"; it names every place and cause.
    """
    failures = tuple(one for one in found if one.error is not None)
    if failures:
        lines = [f"{one.where}: {one.error.message if one.error else ''}" for one in failures[:_MOST_NAMED]]
        if len(failures) > _MOST_NAMED:
            lines.append(f"and {len(failures) - _MOST_NAMED} more")
        text = f"{len(failures)} of {len(found)} places cannot be scanned:\n  " + "\n  ".join(lines)
        if on_error != "skip":
            error = ScanError(text, hint='Leave them out, or pass on_error="skip".')
            error.failures = failures
            raise error
        warn(text)
    return [one.references for one in found if one.references is not None]


def _results(
    names: list[str], options: Options, workers: int | _Cluster | None, cache: Cache | None
) -> Iterator[tuple[int, Scanned]]:
    left: list[int] = []
    for i, name in enumerate(names):
        known = cache.get(name) if cache is not None else None
        if known is not None:
            yield i, Scanned(name, known)
        else:
            left.append(i)
    if isinstance(workers, _Cluster):
        results = workers.scanned(names, left, options)
    else:
        count = min(workers or os.cpu_count() or 1, len(left))
        alone = count < 2 or len(left) < _FEW
        results = _alone(names, left, options) if alone else _spread(names, left, options, count)
    for i, result in results:
        if cache is not None and result.references is not None:
            cache.put(names[i], result.references)
        yield i, result


class _Cluster(NamedTuple):
    """A cluster that a caller named."""

    where: object

    def scanned(self, names: list[str], left: list[int], options: Options) -> Iterator[tuple[int, Scanned]]:
        """Scan the files there; a layer above this one knows of Dask."""
        found: Iterator[tuple[int, Scanned]] = import_module("omnizarr.tools.cluster.scanning").scan_on(
            self.where, names, left, options
        )
        return found


def _alone(names: list[str], left: list[int], options: Options) -> Iterator[tuple[int, Scanned]]:
    for i in left:
        yield i, scan_one(names[i], options)


def _spread(names: list[str], left: list[int], options: Options, count: int) -> Iterator[tuple[int, Scanned]]:
    # Not by forking: threads of the caller's would be cut in two.
    with _pool(count) as pool:
        with _without_main():
            waiting = {pool.submit(scan_one, names[i], options): i for i in left}
        for future in as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except BrokenProcessPool:
                raise ScanError(
                    "a process that scans files was ended, perhaps because memory ran out",
                    hint="workers=1 scans them one after the other, in this process.",
                ) from None


@contextmanager
def _without_main() -> Generator[None, None, None]:
    """Let processes start that do not run the caller's script once more.

    They would, to find what is defined there, which scanning needs nothing of; a script that is not written for that
    would begin to scan in each of them. Processes start when they are given work.
    """
    with _STARTING:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def _pool(count: int) -> Executor:
    return ProcessPoolExecutor(count, mp_context=get_context("forkserver" if os.name == "posix" else "spawn"))


def scan_one(where: str, options: Options) -> Scanned:
    """Scan one place, and note what goes wrong."""
    try:
        return Scanned(where, scan_place(where, options))
    except OmnizarrError as error:
        return Scanned(where, None, error)
    except OSError as error:
        store_error = import_module("omnizarr.errors").StoreError
        return Scanned(where, None, store_error(f"{where} cannot be read: {error.strerror or error}"))
