"""The workers of a Dask cluster, as tools use them: a function, many pieces of work, results as they come."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, Final, Self, TypeVar

from omnizarr.errors import LimitError, MissingDependencyError, StoreError
from omnizarr.store.protocol import Store
from omnizarr.store.reach import Reach, reach_of
from omnizarr.tools.cluster.spec import Local, cluster_spec

_R = TypeVar("_R")
_T = TypeVar("_T")

_AHEAD: Final = 3
"""Pieces on their way for each that is worked on: a worker never waits for its next one."""

_PART: Final = 0.6
"""The share of a worker's free memory that values may take up; Dask begins to slow down workers at 80% of all."""

_LEAST: Final = 16 << 20

_WAIT: Final = 30.0
"""Seconds until a scheduler, or its first worker, is given up."""


def distributed() -> Any:  # noqa: ANN401 - it has no types
    """Import `dask.distributed`.

    Raises:
        MissingDependencyError: It is not installed.
    """
    try:
        return import_module("distributed")
    except ImportError as error:
        message = f"a cluster needs dask.distributed: {error}"
        raise MissingDependencyError(message, hint="pip install 'omnizarr[dask]'") from None


class Crew:
    """Workers for as long as a `with` statement runs; a cluster that was made for that is gone afterwards.

    Args:
        cluster: The address of a scheduler, `local:N` or `local:N,memory=SIZE,threads=N`, or a client or cluster of
            Dask's.
    """

    def __init__(self, cluster: Any) -> None:  # noqa: ANN401 - as said above
        self._spec = cluster_spec(cluster)
        self._own: list[Any] = []
        self._client: Any = None
        self._first: frozenset[str] = frozenset()

    def __enter__(self) -> Self:
        library = distributed()
        try:
            self._client = self._connected(library)
            self._client.wait_for_workers(1, timeout=_WAIT)
        except (OSError, ValueError, TimeoutError) as error:
            self.__exit__()
            hint = "Is it running, and has it workers? dask scheduler; dask worker ADDRESS."
            raise StoreError(f"the cluster does not answer: {error}", path=str(self._spec), hint=hint) from None
        except BaseException:
            self.__exit__()
            raise
        self._first = frozenset(self._workers())
        return self

    def __exit__(self, *_: object) -> None:
        for one in reversed(self._own):
            one.close()
        self._own.clear()

    def _connected(self, library: Any) -> Any:  # noqa: ANN401 - as above
        spec = self._spec
        if isinstance(spec, library.Client):
            return spec
        if isinstance(spec, Local):
            cluster = library.LocalCluster(
                n_workers=spec.workers,
                threads_per_worker=spec.threads,
                memory_limit="auto" if spec.memory is None else spec.memory,
                processes=True,
                dashboard_address=":0",
                silence_logs=50,
            )
            self._own.append(cluster)
        else:
            cluster = spec
        client = library.Client(cluster, timeout=_WAIT, set_as_default=False)
        self._own.append(client)
        return client

    def _workers(self) -> dict[str, Any]:
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return found

    @property
    def slots(self) -> int:
        """How many pieces are worked on at once."""
        return max(1, sum(int(one["nthreads"]) for one in self._workers().values()))

    @property
    def lost(self) -> bool:
        """Whether a worker has gone since the work began."""
        return bool(self._first - frozenset(self._workers()))

    @property
    def processors(self) -> int:
        """How many threads the kernel has on a worker, at most."""
        return max(1, *map(int, self._client.run(_processors).values()))

    def memory(self) -> int | None:
        """Return the bytes that one piece of work may take up on any worker; `None` if they have no limit."""
        least: int | None = None
        for one in self._workers().values():
            if not one["memory_limit"]:
                continue
            used = one["metrics"].get("memory", 0)
            room = int(_PART * max(0, one["memory_limit"] - used)) // one["nthreads"]
            least = room if least is None else min(least, room)
        return None if least is None else max(_LEAST, least)

    def check_reach(self, source: Store | None, target: Store | None) -> None:
        """Refuse stores that workers cannot get at.

        Raises:
            StoreError: There is one.
        """
        for store in (source, target):
            # An archive can be read by anyone, once it is written.
            readable = store is source and getattr(store, "read_only", False) and store is not None and _is_file(store)
            if store is not None and not readable and reach_of(store) is Reach.PROCESS:
                raise StoreError(
                    "the workers of a cluster cannot get at a store that lives in this process",
                    path=store.uri,
                    hint="Use a folder that they all see, or an object store.",
                )

    def check_sees(self, store: Store, key: str) -> None:
        """Refuse a cluster some of whose workers do not see what is stored under a key.

        Raises:
            StoreError: There are such workers.
        """
        found = self._client.run(_sees, store, key)
        blind = [name for name, seen in found.items() if not seen]
        if blind:
            raise StoreError(
                f"{len(blind)} of {len(found)} workers do not see what is there, among them {blind[0]}",
                path=store.uri,
                key=key,
                hint="The place must be the same for all of them: a shared folder, or an object store.",
            )

    def results(self, function: Callable[[_T], _R], pieces: Iterable[_T]) -> Iterator[tuple[int, _R]]:
        """Do all pieces of work; yields the number of each and what came of it, in the order in which they end.

        What a worker was doing when it died is done again by another, so a piece must be one that can be repeated.

        Raises:
            LimitError: A piece brought down one worker after the other.
            OmnizarrError: What a piece raised.
        """
        library = distributed()
        waiting: dict[Any, int] = {}
        rest = enumerate(pieces)
        done = library.as_completed(loop=self._client.loop)
        try:
            self._send(function, rest, waiting, done, self.slots * _AHEAD)
            while waiting:
                future = next(done)
                number = waiting.pop(future)
                try:
                    result: _R = future.result()
                except library.KilledWorker as error:
                    raise LimitError(
                        f"a piece of work brought down one worker after the other: {error}",
                        hint="Give the workers more memory, or the work less: --memory, memory=.",
                    ) from None
                future.release()
                yield number, result
                self._send(function, rest, waiting, done, 1)
        finally:
            if waiting:
                self._client.cancel(list(waiting))

    def _send(
        self,
        function: Callable[[_T], _R],
        rest: Iterator[tuple[int, _T]],
        waiting: dict[Any, int],
        done: Any,  # noqa: ANN401 - as above
        count: int,
    ) -> None:
        for _ in range(count):
            found = next(rest, None)
            if found is None:
                return
            number, piece = found
            # Not pure: equal pieces of two runs are two pieces.
            future = self._client.submit(function, piece, pure=False, priority=-number)
            waiting[future] = number
            done.add(future)


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _sees(store: Store, key: str) -> bool:
    return store.exists(key)


def _is_file(store: Store) -> bool:
    return store.uri.startswith("file:")
