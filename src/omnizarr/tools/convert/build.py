"""Writing the chunks of the target: as they are, or decoded and encoded anew, region by region."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from omnizarr.array.io import Access
from omnizarr.errors import ExistsError
from omnizarr.format.names import join
from omnizarr.hierarchy.context import Context
from omnizarr.model.array import ArrayMeta
from omnizarr.store.file import FileStore
from omnizarr.store.links import check_no_links
from omnizarr.store.protocol import Store, place_name
from omnizarr.store.wrap import PrefixStore
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.cluster.keys import copy_on
from omnizarr.tools.cluster.moving import Side, plan_for, run_on
from omnizarr.tools.convert.journal import SCRATCH, Keeper, Record, mark_of
from omnizarr.tools.convert.keys import BATCH, any_chunk, chunks_of, copy_chunks
from omnizarr.tools.convert.values import Step
from omnizarr.tools.copy.sweeping import sweep
from omnizarr.tools.progress import Progress
from omnizarr.tools.transfer.transfer import MEMORY, plan_transfer, run_transfer
from omnizarr.tools.transfer.transfer import Plan as Transfer

Pairs: TypeAlias = list[tuple[str, str]]


class Task(NamedTuple):
    """The work for one array: keys to copy, or values to move."""

    step: Step
    record: Record
    work: Pairs | Transfer

    @property
    def total(self) -> int:
        """The number of keys or regions."""
        return self.work.total if isinstance(self.work, Transfer) else len(self.work)


def tasks_of(
    context: Context, path: str, steps: list[tuple[Step, Record]], memory: int | None, crew: Crew | None = None
) -> list[Task]:
    """Return the work for all arrays whose chunks are written.

    Args:
        context: Where they are read.
        path: The path of the node that is converted.
        steps: What is to be done with each, and what the journal has of it.
        memory: Bytes that values may take up on their way; what there is by default if `None`.
        crew: The workers that will do it, if this process does not.

    Raises:
        LimitError: The memory does not suffice for one chunk or shard.
        UnsupportedError: Chunks that would be copied as they are lie behind a link.
    """
    tasks: list[Task] = []
    for step, record in steps:
        old, new = step.source, step.target
        if not step.moves or not isinstance(old, ArrayMeta) or not isinstance(new, ArrayMeta):
            continue
        if step.how in ("copy", "rename"):
            place = join(path, step.path).rstrip("/")
            check_no_links(context.store, place + "/" if place else "")
            found = chunks_of(context.store, place, old)
            work: Pairs | Transfer = [(inner, new.keys.key(index)) for inner, index in found]
        else:
            work = transfer_of(old, new, memory, crew)
        tasks.append(Task(step, record, work))
    return tasks


def transfer_of(old: ArrayMeta, new: ArrayMeta, memory: int | None, crew: Crew | None) -> Transfer:
    """Plan how values are moved, for this process or the workers of a cluster.

    Raises:
        LimitError: The memory does not suffice for one chunk or shard.
    """
    if crew is not None:
        return plan_for(crew, old, new, memory)
    return plan_transfer(old, new, memory=MEMORY if memory is None else memory)


class Builder:
    """Does the work, and tells how far it has come.

    Args:
        source: Where the arrays are.
        path: The path of the node that is converted.
        keeper: The journal, which knows where the target is.
        progress: Told how far the work has come.
        crew: Workers that do it, if this process does not.
    """

    def __init__(
        self, source: Context, path: str, keeper: Keeper, progress: Progress, crew: Crew | None = None
    ) -> None:
        self._crew = crew
        self._source = source
        self._path = path
        self.keeper = keeper
        self._progress = progress
        self._done = 0
        self._total = 0
        self._region = 0
        self.nbytes = 0

    def run(self, tasks: list[Task]) -> None:
        """Do all tasks, from where the journal says that an earlier run had come."""
        first, begun = self._begun(tasks)
        self._total = sum(task.total for task in tasks)
        self._done = sum(task.total for task in tasks[:first]) + begun
        for number, task in enumerate(tasks):
            if number >= first:
                done = begun if number == first else 0
                self._do(number, task, done)
                self.keeper.note(number + 1, 0)
                if isinstance(task.work, Transfer) and task.work.scratch is not None:
                    # In this order: whoever goes on from an older note would take missing values for empty ones.
                    self.keeper.write()
                    self.keeper.store.erase_prefix(self._work())

    def _begun(self, tasks: list[Task]) -> tuple[int, int]:
        """Return how far an earlier run came: nowhere if its work was cut otherwise, as with other memory it is."""
        journal, work = self.keeper.journal, mark_of([_cut_of(task) for task in tasks])
        if journal.work != work:
            anew = journal.work != ""
            self.keeper.journal = journal = journal._replace(work=work, step=0, done=0)
            if anew:
                self.keeper.write()
                self.keeper.store.erase_prefix(self._work())
        return journal.step, journal.done

    def _work(self) -> str:
        """Return what the keys of values begin with that wait between two stages of a transfer."""
        return join(self.keeper.path, f"{SCRATCH}/work/")

    def target(self, task: Task) -> tuple[Store, str]:
        """Return where the chunks of an array are built."""
        return self.keeper.store, join(self.keeper.path, task.record.scratch or task.record.path).rstrip("/")

    def check_free(self, tasks: list[Task]) -> None:
        """Refuse to mix new chunks with what has their names already: it would be taken for one of them.

        Raises:
            ExistsError: Something has.
        """
        for task in tasks:
            new = task.step.target
            store, path = self.target(task)
            if not isinstance(new, ArrayMeta) or task.record.scratch:
                continue
            stray = any_chunk(store, path, new.keys, new.ndim)
            if stray:
                hint = "Erase it, or convert to another place."
                message = "a key that the conversion needs is taken by something else"
                raise ExistsError(message, path=place_name(store, path), key=join(path, stray), hint=hint)

    def _do(self, number: int, task: Task, done: int) -> None:
        old, new = task.step.source, task.step.target
        if not isinstance(old, ArrayMeta) or not isinstance(new, ArrayMeta):
            return
        store, path = self.target(task)
        origin = join(self._path, task.step.path).rstrip("/")
        limits = self._source.limits

        def on_region(count: int, nbytes: int) -> None:
            self._tell(count - self._region, nbytes)
            self._region = count
            self.keeper.note(number, count)

        self._region = done
        if self._crew is not None:
            self._send(self._crew, task, (old, origin), (new, path), on_region)
            return
        if isinstance(task.work, Transfer):
            reader = Access(self._source.store, origin, old, limits=limits)
            writer = Access(store, path, new, limits=limits)
            scratch = self._scratch(store)
            run_transfer(task.work, reader, writer, scratch=scratch, done=done, on_region=on_region)
            return
        start, new_start = (one + "/" if one else "" for one in (origin, path))
        pairs = task.work[done:]
        for at, nbytes in enumerate(copy_chunks((self._source.store, start), (store, new_start), pairs), 1):
            on_region(min(done + at * BATCH, len(task.work)), nbytes)

    def _send(
        self,
        crew: Crew,
        task: Task,
        source: tuple[ArrayMeta, str],
        target: tuple[ArrayMeta, str],
        on_region: Callable[[int, int], None],
    ) -> None:
        """Do a task on a cluster."""
        store, limits, done = self.keeper.store, self._source.limits, self._region
        if isinstance(task.work, Transfer):
            sides = Side(self._source.store, source[1], source[0], limits), Side(store, target[1], target[0], limits)
            scratch = PrefixStore(store, self._work())
            run_on(crew, task.work, sides, scratch=scratch, done=done, on_region=on_region)
        else:
            start, new_start = (one + "/" if one else "" for one in (source[1], target[1]))
            copy_on(crew, ((self._source.store, start), (store, new_start)), task.work, done, on_region)
        if crew.lost:
            # What a worker was writing when it was killed lies there, and no one else will take it away.
            sweep(store, target[1] + "/" if target[1] else "")

    def _scratch(self, store: Store) -> Store | None:
        # Beside the target, so that a run that goes on finds what an earlier one has put there.
        if not isinstance(store, FileStore):
            return None
        return PrefixStore(store, self._work())

    def _tell(self, regions: int, nbytes: int) -> None:
        self._done += regions
        self.nbytes += nbytes
        self._progress(self._done, self._total, self.nbytes)


def _cut_of(task: Task) -> tuple[object, ...]:
    """Return what tells the pieces of one task from those of another."""
    if isinstance(task.work, Transfer):
        return task.step.path, task.work.stages, None if task.work.scratch is None else task.work.scratch.grid
    return task.step.path, mark_of(task.work)
