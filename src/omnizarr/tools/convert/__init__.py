"""Converting arrays and hierarchies: to another format, other chunks, shards or codecs; in place or to another place.

The plan comes first and is pure: from what an array is in one format, what it will be in another, and what the other
cannot carry. Chunks that can stay as they are stay, or are given other names; values of the others move through the
kernel, region by region. Documents come last, and a journal in the target says what is under way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import TYPE_CHECKING

from omnizarr.errors import MetadataError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.convert.run import Settings, convert_in_place, convert_to, plan_only, undo
from omnizarr.tools.convert.values import KEPT, Conversion, Node, Refusal, Wish
from omnizarr.tools.patterns import patterns_of, wanted
from omnizarr.tools.progress import Progress, silent

if TYPE_CHECKING:
    from omnizarr.tools.convert.values import Lengths

__all__ = ["Conversion", "Node", "Refusal", "convert", "rollback"]


def convert(
    source: object,
    target: object = None,
    *,
    format: str | None = None,  # noqa: A002 - the word of the documents
    chunks: Lengths | None = None,
    shards: Lengths | None = None,
    codecs: object = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    overwrite: bool = False,
    dry_run: bool = False,
    verify: bool = False,
    resume: bool = True,
    memory: int | None = None,
    cluster: object = None,
    progress: Progress | None = None,
    lossy: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Convert an array, or a group with all below it.

    Args:
        source: Whatever `omnizarr.open` takes.
        target: Where to put the result; `None` puts it in the place of the source.
        format: "zarr3", "zarr2", "zarr1" or "zarr0", or "v3" and so on; that of the source if not given.
        chunks: The shape of chunks as for `create_array`, or lengths by the names of dimensions; `None` keeps them. A
            shape goes to arrays of as many dimensions, names to arrays that have them; all others keep what they have.
        shards: The same for shards; `False` is for none.
        codecs: Codecs as for `create_array`, "none" for no compression; `None` keeps those that the format has.
        include: Patterns for the paths or names of the arrays to convert; all if there are none.
        exclude: Patterns for those to leave out.
        overwrite: Whether a node at the target may be replaced.
        dry_run: Whether to say only what would be done, and what cannot be.
        verify: Whether to compare all values with the source before anything old is erased.
        resume: Whether to go on with the same conversion if it was stopped; otherwise it begins anew.
        memory: Bytes that values may take up on their way: 512 MiB; on each worker of a cluster, what it has to spare.
        cluster: Where values are moved, if not by the threads of this process: the address of a Dask scheduler,
            `"local:4"` for so many workers on this machine, `"local:4,memory=1GB"`, or a client of Dask's.
        progress: Told how far it has come.
        lossy: Whether what the format cannot carry, and no value depends on, may be left out.
        limits: Bounds on what documents may claim.

    Returns:
        What was done, node by node.

    Raises:
        UnsupportedError: The format cannot carry something; nothing has been written.
        ExistsError: Something is at the target.
        ConflictError: Another conversion was stopped there.
        NotFoundError: Nothing is at the source.

    >>> import omnizarr as oz
    >>> old, new = {}, {}
    >>> a = oz.create_array(old, data=[[1, 2], [3, 4]], format="zarr2", dims=("y", "x"))
    >>> oz.convert(old, new, format="zarr3").nodes[0].how
    'copy'
    >>> oz.open(new)[...].tolist(), oz.open(new).dims
    ([[1, 2], [3, 4]], ('y', 'x'))
    """
    memory = None if memory is None else _bytes(memory)
    chunks, shards = _plain(chunks), _plain(shards)
    kept = codecs is None
    chain: object = [] if isinstance(codecs, str) and codecs == "none" else codecs
    wish = Wish("", chunks, shards, KEPT if kept else chain, lossy)
    included, excluded = patterns_of(include, "include"), patterns_of(exclude, "exclude")
    settings = Settings(
        format=format,
        wish=wish,
        chosen=wanted(included, excluded),
        include=included,
        words=(repr(chunks), repr(shards), repr(codecs), included, excluded),
        limits=limits,
        memory=memory,
        progress=progress or silent,
        overwrite=overwrite,
        verify=verify,
        resume=resume,
    )
    if cluster is None:
        return _run(source, target, settings, dry_run=dry_run)
    with Crew(cluster) as crew:
        return _run(source, target, settings._replace(crew=crew), dry_run=dry_run)


def _run(source: object, target: object, settings: Settings, *, dry_run: bool) -> Conversion:
    if dry_run:
        return plan_only(source, target, settings)
    if target is None:
        return convert_in_place(source, settings)
    return convert_to(source, target, settings)


def rollback(where: object, *, limits: Limits = DEFAULT_LIMITS) -> str:
    """Undo a conversion that was stopped; one that only had to erase what is old is finished instead.

    Args:
        where: The target of the conversion, which is the source if it was in place.
        limits: Bounds on what documents may claim.

    Returns:
        "undone" or "finished".

    Raises:
        NotFoundError: No conversion is under way there.
    """
    return undo(where, limits)


def _plain(lengths: Lengths | None) -> Lengths | None:
    """Return lengths that NumPy holds as the numbers that they are."""
    tolist: Callable[[], Lengths] | None = getattr(lengths, "tolist", None)
    return lengths if tolist is None else tolist()


def _bytes(memory: int) -> int:
    try:
        found = index(memory)
    except TypeError:
        found = 0
    if found < 1:
        hint = "pass a whole number, as in memory=1_000_000_000"
        raise MetadataError(f"memory is {memory!r}, which is not a number of bytes", hint=hint)
    return found
