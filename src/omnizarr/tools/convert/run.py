"""A conversion from beginning to end: plan, build, verify, switch; or go on with, or undo, one that was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from omnizarr.array.io import Access, changing
from omnizarr.errors import (
    ConflictError,
    CorruptError,
    ExistsError,
    LimitError,
    NotFoundError,
    OmnizarrError,
    UnsupportedError,
)
from omnizarr.format.dialects import WRITABLE
from omnizarr.format.names import join
from omnizarr.hierarchy.nodes import format_of, load
from omnizarr.hierarchy.save import forget_attributes
from omnizarr.limits import Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.store.protocol import place_name
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.cluster.moving import describe
from omnizarr.tools.convert.build import Builder, Task, tasks_of, transfer_of
from omnizarr.tools.convert.journal import JOURNAL, Journal, Keeper, load_journal, mark_of
from omnizarr.tools.convert.places import (
    Spot,
    check_in_place,
    check_name,
    check_target,
    check_two,
    make_room,
    node_at,
    spot_at,
)
from omnizarr.tools.convert.plan import Chosen, make_plan
from omnizarr.tools.convert.records import journal_of
from omnizarr.tools.convert.switch import forward, publish, rollback
from omnizarr.tools.convert.used import check_used
from omnizarr.tools.convert.values import Conversion, Plan, Refusal, Step, Wish, format_named, summary
from omnizarr.tools.convert.verify import check_equal
from omnizarr.tools.progress import Progress
from omnizarr.tools.transfer.transfer import MEMORY

_GO_ON: Final = "Give the same command again to go on, or undo it: oz convert --rollback."


class Settings(NamedTuple):
    """How a conversion is run."""

    format: str | None
    wish: Wish
    chosen: Chosen
    include: tuple[str, ...]
    words: tuple[object, ...]
    """All that tells one conversion from another."""

    limits: Limits
    memory: int | None
    """Bytes that values may take up on their way, for one worker if there are any; what there is if not given."""

    progress: Progress
    overwrite: bool
    verify: bool
    resume: bool
    crew: Crew | None = None
    """Workers that move values, if this process does not."""


class _Job(NamedTuple):
    source: Spot
    target: Spot
    meta: ArrayMeta | GroupMeta
    plan: Plan
    journal: Journal | None
    resumed: bool
    in_place: bool


def plan_only(source: object, target: object, settings: Settings) -> Conversion:
    """Say what would be done; nothing is written."""
    spot, place = spot_at(source, "r", settings.limits)
    try:
        spot, meta = node_at(spot, place)
        wish = _wish(settings, meta)
        in_place = target is None
        plan = make_plan(spot.context, spot.path, meta, wish, settings.chosen, in_place=in_place)
        check_used(plan, wish, settings.include)
        refused = list(plan.refused)
        if in_place:
            try:
                check_in_place(spot, meta, wish.format)
            except OmnizarrError as error:
                refused.append(Refusal("", error.message, error.hint or ""))
        else:
            try:
                check_target(target, wish.format, settings.limits, overwrite=settings.overwrite)
            except OmnizarrError as error:
                refused.append(Refusal("", error.message, error.hint or ""))
        name = spot.name if in_place else str(target)
        return Conversion(
            spot.name,
            name,
            in_place,
            meta.format,
            wish.format,
            summary([_told(step, settings) for step in plan.steps]),
            tuple(refused),
            written=False,
            verified=False,
            resumed=False,
            nbytes=0,
        )
    finally:
        spot.close()


def _told(step: Step, settings: Settings) -> Step:
    """Say how values will be moved, if workers move them: their memory is what such a plan is for."""
    old, new = step.source, step.target
    moved = step.how in ("recode", "rechunk") and settings.crew is not None
    if not moved or not isinstance(old, ArrayMeta) or not isinstance(new, ArrayMeta):
        return step
    try:
        words = describe(transfer_of(old, new, settings.memory, settings.crew))
    except LimitError as error:
        words = [f"{error.message}: {error.hint}"]
    return step._replace(notes=(*step.notes, *words))


def convert_in_place(source: object, settings: Settings) -> Conversion:
    """Convert a node where it is."""
    spot, place = spot_at(source, "r+", settings.limits)
    try:
        journal = load_journal(spot.context.store, spot.path)
        resumed = journal is not None
        if journal is not None and journal.state == "committed":
            forward(Keeper(spot.context.store, spot.path, journal))
            journal = None
        spot, meta = node_at(spot, place, None if journal is None else journal.before)
        wish = _wish(settings, meta)
        check_in_place(spot, meta, wish.format)
        plan = make_plan(spot.context, spot.path, meta, wish, settings.chosen, in_place=True)
        check_used(plan, wish, settings.include)
        _check(plan)
        return _converted(_Job(spot, spot, meta, plan, journal, resumed, in_place=True), settings)
    finally:
        spot.close()


def convert_to(source: object, target: object, settings: Settings) -> Conversion:
    """Convert a node to another place."""
    check_name(target)
    spot, place = spot_at(source, "r", settings.limits)
    goal: Spot | None = None
    try:
        spot, meta = node_at(spot, place)
        _check_still(spot)
        wish = _wish(settings, meta)
        plan = make_plan(spot.context, spot.path, meta, wish, settings.chosen, in_place=False)
        check_used(plan, wish, settings.include)
        _check(plan)
        goal, _ = spot_at(target, "w-", settings.limits)
        check_two(spot, goal)
        journal = load_journal(goal.context.store, goal.path)
        resumed = journal is not None
        return _converted(_Job(spot, goal, meta, plan, journal, resumed, in_place=False), settings)
    finally:
        spot.close()
        if goal is not None:
            goal.close()


def undo(where: object, limits: Limits) -> str:
    """Undo a conversion that was stopped, or finish one that can no longer be undone.

    Returns:
        "undone" or "finished".

    Raises:
        NotFoundError: No conversion is under way there.
    """
    spot, _ = spot_at(where, "r+", limits)
    try:
        journal = load_journal(spot.context.store, spot.path)
        if journal is None:
            raise NotFoundError("no conversion is under way here", path=spot.name)
        keeper = Keeper(spot.context.store, spot.path, journal)
        if journal.state == "committed" and journal.in_place:
            forward(keeper)
            return "finished"
        rollback(keeper)
        return "undone"
    finally:
        spot.close()


def _check_still(source: Spot) -> None:
    """Refuse to read what is being converted itself: some of it may be missing.

    Raises:
        ConflictError: It is.
    """
    if load_journal(source.context.store, source.path) is not None:
        raise ConflictError("the source is the target of a conversion that was stopped", path=source.name, hint=_GO_ON)


def _wish(settings: Settings, meta: ArrayMeta | GroupMeta) -> Wish:
    """Settle the format: the one that was asked for, or that of the source if it can be written."""
    if settings.format is not None:
        return settings.wish._replace(format=format_named(settings.format))
    return settings.wish._replace(format=meta.format if meta.format in WRITABLE else WRITABLE[0])


def _check(plan: Plan) -> None:
    """Refuse what cannot be carried, before anything is written.

    Raises:
        UnsupportedError: There is such a thing.
    """
    if not plan.refused:
        return
    first, others = plan.refused[0], len(plan.refused) - 1
    more = f"; and {others} more, which a dry run lists" if others else ""
    raise UnsupportedError(f"{first.reason}{more}", path=first.path or "/", hint=first.hint or None)


def _converted(job: _Job, settings: Settings) -> Conversion:
    form = _wish(settings, job.meta).format
    store, path = job.target.context.store, job.target.path
    job.target.context.check_writable(path)
    steps = job.plan.steps
    texts = [(step.path, step.how, tuple(step.texts.items())) for step in steps]
    mark = mark_of("" if job.in_place else _lasting_name(job.source), form, settings.words, texts)
    words = f"{job.source.name} to {form}"
    journal, resumed = _settle(job, mark, settings)
    begun = journal or journal_of(steps, mark, words, in_place=job.in_place)
    keeper = Keeper(store, path, begun)
    if job.in_place and all(step.how == "keep" for step in steps):
        return _result(job, form, 0, verified=False, resumed=resumed)
    pairs = [*zip(steps, begun.records, strict=True)]
    if settings.crew is not None:
        settings.crew.check_reach(job.source.context.store, store)
    tasks = tasks_of(job.source.context, job.source.path, pairs, settings.memory, settings.crew)
    above: dict[str, bytes] = {}
    with changing(place_name(store, path)):
        if not job.in_place:
            above = make_room(job.target, form, overwrite=settings.overwrite, begun=journal is not None)
        builder = Builder(job.source.context, job.source.path, keeper, settings.progress, settings.crew)
        if journal is None:
            builder.check_free(tasks)
            _begin(job, keeper)
        _run(job, builder, tasks, above, settings)
    return _result(job, form, builder.nbytes, verified=settings.verify, resumed=resumed)


def _begin(job: _Job, keeper: Keeper) -> None:
    """Write the journal, by which of several who begin one does.

    Raises:
        ConflictError: Another program has begun a conversion here.
        ExistsError: Another program has made a node here since it was looked for.
    """
    keeper.begin()
    try:
        _check_free(job, keeper)
    except ExistsError:
        keeper.close()
        raise


def _check_free(job: _Job, keeper: Keeper) -> None:
    if not job.in_place and format_of(keeper.store, keeper.path) is not None:
        raise ExistsError("another program has made a node there at the same time", path=job.target.name)


def _lasting_name(spot: Spot) -> str:
    """Return the name of a place by which a later run knows it; what is in memory has none."""
    return "" if spot.name.startswith("memory:") else spot.name


def _settle(job: _Job, mark: str, settings: Settings) -> tuple[Journal | None, bool]:
    """Decide what to do with a conversion that is under way at the target."""
    journal = job.journal
    if journal is None:
        return None, job.resumed
    keeper = Keeper(job.target.context.store, job.target.path, journal)
    if journal.mark != mark and settings.resume:
        message = f"another conversion is under way here: {journal.words}"
        raise ConflictError(message, path=job.target.name, hint=_GO_ON)
    if journal.state == "committed" and settings.resume:
        return journal, True
    if journal.state == "committed":
        forward(keeper)
        return None, False
    if not settings.resume:
        rollback(keeper)
        return None, False
    return journal, True


def _run(job: _Job, builder: Builder, tasks: list[Task], above: dict[str, bytes], settings: Settings) -> None:
    """Build and switch; what fails in place is undone, what fails elsewhere can go on."""
    keeper = builder.keeper
    try:
        if keeper.journal.state == "building":
            keeper.write()
            if settings.crew is not None:
                settings.crew.check_sees(keeper.store, join(keeper.path, JOURNAL))
            builder.run(tasks)
            if settings.verify:
                _verify(job, builder, tasks, settings)
            if job.journal is None:
                _check_free(job, keeper)
            for key, text in above.items():
                if not keeper.store.exists(key):
                    forget_attributes(keeper.store, key.rpartition("/")[0], job.plan.steps[0].target.format)
                    keeper.store.put(key, text)
            publish(keeper)
            if settings.verify:
                _verify_documents(job, keeper)
            keeper.commit()
        forward(keeper)
    except BaseException as error:
        _fail(job, keeper, error)
        raise


def _fail(job: _Job, keeper: Keeper, error: BaseException) -> None:
    if job.in_place and keeper.journal.state == "building":
        try:
            rollback(keeper)
        except OmnizarrError:
            if isinstance(error, OmnizarrError):
                error.hint = "What was begun is still there; undo it: oz convert --rollback."
        return
    if isinstance(error, OmnizarrError) and (error.hint is None or keeper.journal.state == "committed"):
        error.hint = _GO_ON


def _verify(job: _Job, builder: Builder, tasks: Sequence[Task], settings: Settings) -> None:
    """Compare all arrays with what they were made from; those whose chunks stayed, as both documents read them."""
    built = {task.step.path: builder.target(task) for task in tasks}
    store, root = job.target.context.store, job.target.path
    for step in job.plan.steps:
        old, new = step.source, step.target
        if step.how == "keep" or not isinstance(old, ArrayMeta) or not isinstance(new, ArrayMeta):
            continue
        where, path = built.get(step.path, (store, join(root, step.path).rstrip("/")))
        origin = join(job.source.path, step.path).rstrip("/")
        reader = Access(job.source.context.store, origin, old, limits=settings.limits)
        writer = Access(where, path, new, limits=settings.limits)
        check_equal(reader, old, writer, new, memory=settings.memory or MEMORY, place=job.target.name)


def _verify_documents(job: _Job, keeper: Keeper) -> None:
    """Read the new documents back."""
    for step, one in zip(job.plan.steps, keeper.journal.records, strict=True):
        if not one.fresh or one.scratch:
            continue
        path = join(keeper.path, step.path).rstrip("/")
        seen = load(keeper.store, path, job.target.context.limits, step.target.format)
        if repr(seen) != repr(step.target):  # by text, for NaN may be among the attributes
            raise CorruptError("the documents are not what was written", path=join(job.target.name, step.path))


def _result(job: _Job, form: str, nbytes: int, *, verified: bool, resumed: bool) -> Conversion:
    return Conversion(
        job.source.name,
        job.target.name,
        job.in_place,
        job.meta.format,
        form,
        summary(job.plan.steps),
        (),
        written=True,
        verified=verified,
        resumed=resumed,
        nbytes=nbytes,
    )
