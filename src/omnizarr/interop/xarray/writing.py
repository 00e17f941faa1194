"""Writing datasets of xarray: what is created, what is overwritten, what grows, and in which order."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from xarray import Dataset, Variable, conventions
from xarray.backends.common import ArrayWriter

from omnizarr.array.io import changing, expect_change
from omnizarr.errors import ExistsError, MetadataError, OmnizarrError, ShapeError, UnsupportedError
from omnizarr.format.names import UNNAMED, join
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.save import erase
from omnizarr.interop.dask.origins import real
from omnizarr.interop.dask.overlap import Output, check_order
from omnizarr.interop.dask.stored import Stored
from omnizarr.interop.xarray.aligning import aligned, check_aligned, is_aligned
from omnizarr.interop.xarray.encoding import array_options, encode_variable, json_attributes
from omnizarr.interop.xarray.existing import check_all_grow, check_lengths, encode_as_stored, same_values
from omnizarr.interop.xarray.growing import Growing, held_alone, settle
from omnizarr.interop.xarray.regions import Region, settled
from omnizarr.interop.xarray.zarr_view import dimensions
from omnizarr.store.protocol import place_name

OTHER_MODES: Final = 'pass mode="w" to replace it, or mode="a" to overwrite and add variables'
"""What to do where something is there already; the functions below speak of arguments that are not those of xarray."""
_MODES: Final = ("w", "w-", "a", "a-", "r+")


@dataclass(slots=True)
class Wishes:
    """How a dataset is to be written; see `DatasetAccessor.to_omnizarr`."""

    mode: str
    append_dim: Hashable | None = None
    region: Region | None = None
    safe_chunks: bool = True
    align_chunks: bool = False
    write_empty: bool | None = None
    attributes: bool = True


@dataclass(slots=True)
class Work:
    """What is still to be done once all arrays are there."""

    writer: ArrayWriter = field(default_factory=ArrayWriter)
    growing: list[Growing] = field(default_factory=list)
    added: list[tuple[Variable, Growing, tuple[slice, ...]]] = field(default_factory=list)
    """Values in memory that go beyond the ends of arrays; written when others are kept from doing so."""
    later: list[tuple[Any, Array, tuple[slice, ...]]] = field(default_factory=list)
    """Values that replace others; written when those that are new are seen."""
    created: list[Array] = field(default_factory=list)
    """Arrays that an append has made, until its values are seen."""
    outputs: list[Output] = field(default_factory=list)
    """What is written into arrays that were there."""
    attributes: list[tuple[Group, Mapping[str, object]]] = field(default_factory=list)
    consolidated: list[Group] = field(default_factory=list)
    closed: list[Group] = field(default_factory=list)

    def places(self) -> list[str]:
        """Return where the arrays are whose values are still to be written."""
        targets: list[Any] = [
            *self.writer.targets,
            *(one for _, one, _ in self.added),
            *(array for _, array, _ in self.later),
        ]
        arrays: list[Array] = [getattr(one, "array", one) for one in targets]
        return [place_name(one.store, one.path) for one in arrays]

    def describe(self) -> None:
        """Write what is known of the groups: before values where these are new, after them where they are added."""
        for group, attrs in self.attributes:
            if dict(group.metadata.attributes) != attrs:
                group.attrs.put(attrs)
        for group in self.consolidated:
            group.consolidate()
        self.attributes, self.consolidated = [], []

    def add(self) -> None:
        """Write what is in memory beyond the ends of arrays."""
        for var, target, place in self.added:
            target[place or ...] = var.data

    def undo(self) -> None:
        """Erase what an append has created that came to nothing."""
        for array in self.created:
            with suppress(OmnizarrError):
                erase(array._context, array.path)  # noqa: SLF001 - the classes belong together
        self.created = []

    def finish(self, check: Callable[[], None]) -> None:
        """Make visible what was written, unless others may have gone on meanwhile, as `check` says."""
        settle(self.growing, check)
        self.created = []
        for values, array, region in self.later:
            if not same_values(array, values):
                array[region or ...] = values
        self.describe()
        for group in self.closed:
            group.close()


def chosen_mode(mode: str | None, append_dim: Hashable | None, region: Region | None) -> str:
    """Return the mode: the one that was asked for, or what follows from the rest.

    Raises:
        ValueError: If they do not go together.
    """
    if mode is None:
        mode = "a" if append_dim is not None else "r+" if region is not None else "w-"
    if mode not in _MODES:
        raise ValueError(f"mode is {mode!r}, not one of {', '.join(_MODES)}")
    if append_dim is not None and mode not in ("a", "a-"):
        raise ValueError("cannot set append_dim unless mode='a' or mode=None")
    if region is not None and mode not in ("a", "a-", "r+"):
        raise ValueError("cannot set region unless mode='a', mode='a-', mode='r+' or mode=None")
    return mode


def run(work: Work, *, compute: bool, options: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 - nothing, or Dask's
    """Write what is lazy, then finish; or return what does both when it is computed."""
    given = dict(options or {})
    if not work.growing:
        work.describe()
    if compute:
        with changing(*work.places()), held_alone(work.growing) as check:
            work.add()
            work.writer.sync(compute=True, chunkmanager_store_kwargs=given)
            work.finish(check)
        return None
    from dask.delayed import delayed  # noqa: PLC0415 - only lazy writing needs it

    for place in work.places():
        expect_change(place)
    written = work.writer.sync(compute=False, chunkmanager_store_kwargs=given)
    return delayed(_finished)(written, work)


def _finished(_: object, work: Work) -> None:
    with held_alone(work.growing) as check:
        work.add()
        work.finish(check)


def add_dataset(
    dataset: Dataset, group: Group, wishes: Wishes, work: Work, encoding: Mapping[str, Mapping[str, Any]] | None
) -> None:
    """Create what is missing in a group for a dataset, and note what is to be written.

    Raises:
        ValueError: If the dataset does not fit what is there, or the mode.
    """
    check_names(dataset)
    arrays = {} if wishes.mode in ("w", "w-") else dict(group.arrays())
    region: dict[str, slice] | None = None
    if wishes.region is not None:
        region = settled(wishes.region, dataset, arrays, wishes.mode)
        if wishes.append_dim is not None and wishes.append_dim in region:
            raise ValueError(
                f"cannot list the same dimension in both ``append_dim`` and ``region``: {wishes.append_dim}"
            )
        dataset = dataset.drop_vars(list(dataset.indexes))
    variables, attrs = conventions.encode_dataset_coordinates(dataset)
    for name in encoding or {}:
        if name in arrays:
            raise ValueError(f"variable {name!r} already exists, but encoding was provided")
    give_encoding(variables, encoding or {})
    named = {UNNAMED[0] if name is None else str(name): var for name, var in variables.items()}
    old = {name: var for name, var in named.items() if name in arrays}
    new = {name: var for name, var in named.items() if name not in arrays}
    _check_fit(new, arrays, wishes)
    if wishes.append_dim is not None and region is None and dataset.sizes.get(wishes.append_dim):
        check_all_grow(wishes.append_dim, named, arrays)
    check_lengths(new, old, arrays, wishes.append_dim)
    stored = encode_as_stored(old, arrays, region, wishes.append_dim)
    work.outputs += _outputs(stored, arrays, region or {}, wishes)
    check_order(work.outputs)
    _add_old(stored, arrays, region or {}, wishes, work)
    _add_new(new, group, wishes, work, frozenset(map(str, encoding or {})))
    if wishes.mode != "r+" and wishes.attributes:
        work.attributes.append((group, json_attributes(attrs, "the dataset")))


def check_names(dataset: Dataset) -> None:
    """Refuse names that no store can hold, and indexes of several levels, whose name is that of no values.

    Raises:
        ValueError: If a name is empty, or holds a slash.
        TypeError: If it is no text.
        NotImplementedError: If there is an index of several levels.
    """
    for name, variable in dataset.variables.items():
        conventions.ensure_not_multiindex(variable, name)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"Invalid name {name!r} for a variable: must be either a string or None to be stored")
        if name == "":
            raise ValueError(f"Invalid name {name!r} for a variable: string must be length 1 or greater to be stored")
        if isinstance(name, str) and "/" in name:
            # It would be stored in a group of its own, where nobody looks for it.
            raise ValueError(f"Invalid name {name!r} for a variable: a slash divides groups; rename it, or pass group=")


def give_encoding(variables: Mapping[Any, Variable], encoding: Mapping[str, Any]) -> None:
    """Give variables the encoding that the user asks for.

    Raises:
        KeyError: If there is no such variable.
        ValueError: If what is given is no mapping.
    """
    for name, given in encoding.items():
        if name not in variables:
            raise KeyError(f"encoding is given for {name!r}, which is no variable of the dataset")
        variables[name].encoding = _mapping(given, name)


def _mapping(given: object, name: str) -> dict[str, Any]:
    try:
        made: dict[str, Any] = dict(given)  # type: ignore[call-overload]  # whatever dict takes is what is asked
    except (TypeError, ValueError):
        raise ValueError(f"the encoding of {name!r} must be castable to dict, not {given!r}") from None
    return made


def _check_fit(new: Mapping[str, Variable], arrays: Mapping[str, Array], wishes: Wishes) -> None:
    if wishes.mode == "r+" and new:
        raise ValueError(
            f"dataset contains non-pre-existing variables {list(new)!r}, which is not allowed with mode='r+'. To allow"
            " writing new variables, set mode='a'."
        )
    dim = wishes.append_dim
    if dim is not None and dim not in arrays:
        there = {name for array in arrays.values() for name in dimensions(array.metadata)}
        if dim not in there:
            raise ValueError(f"append_dim={dim!r} does not match any existing dataset dimensions {sorted(there)}")


def _outputs(
    variables: Mapping[str, Variable], arrays: Mapping[str, Array], region: Mapping[str, slice], wishes: Wishes
) -> Iterator[Output]:
    for name, var in variables.items():
        array = arrays[name]
        axes: list[range] = []
        for dim, size, there in zip(var.dims, var.shape, array.shape, strict=True):
            axes.append(range(there, there + size) if dim == wishes.append_dim else range(there)[_part(region, dim)])
        yield Output(var._data, real(array.store, array.path), name, tuple(axes))  # noqa: SLF001 - it would be read


def _part(region: Mapping[str, slice], dim: Hashable) -> slice:
    return region.get(str(dim), slice(None))


def _add_old(
    variables: Mapping[str, Variable],
    arrays: Mapping[str, Array],
    region: Mapping[str, slice],
    wishes: Wishes,
    work: Work,
) -> None:
    """Note what is to be written into arrays that are there, or beyond their ends."""
    dim = wishes.append_dim
    for name, var in variables.items():
        array = with_empty(arrays[name], wishes.write_empty)
        target: Any = array
        parts = {str(one): _part(region, one) for one in var.dims}
        if dim is not None and dim in var.dims:
            axis = var.dims.index(dim)
            start = array.shape[axis]
            shape = (*array.shape[:axis], start + var.shape[axis], *array.shape[axis + 1 :])
            parts[str(dim)] = slice(start, shape[axis])
            if var.shape[axis]:
                target = Growing(array, shape)
                work.growing.append(target)
        elif dim is not None and wishes.mode == "a-":
            continue
        place = tuple(parts.values())
        if var.chunks is None and isinstance(target, Growing):
            work.added.append((var, target, place))
        elif dim is not None and var.chunks is None:
            work.later.append((var.data, array, place))
        else:
            add_values(var, target, place, wishes, work)


def _add_new(
    variables: Mapping[str, Variable],
    group: Group,
    wishes: Wishes,
    work: Work,
    given: frozenset[str],
) -> None:
    """Create arrays, and note what is to be written into them."""
    is_new = group.format == "zarr3"
    for name, one in variables.items():
        var = encode_variable(one, name)
        empty = _wants_empty(var, wishes, name)
        options = array_options(var, name, new=is_new, checked=name in given)
        array = with_empty(create_variable(group, name, options), empty)
        if wishes.append_dim is not None:
            work.created.append(array)
        place = tuple(slice(None) for _ in var.dims)
        add_values(var, array, place, wishes, work)


def create_variable(group: Group, name: str, options: Mapping[str, Any]) -> Array:
    """Create the array of a variable; an error says which one it is."""
    try:
        return group.create_array(name, **options)
    except (MetadataError, ShapeError) as error:
        if error.path is None:
            error.path = "/" + join(group.path, name)
        error.add_note(f"Raised while creating variable {name!r}")
        raise
    except ExistsError as error:
        error.hint = OTHER_MODES
        raise


def _wants_empty(var: Variable, wishes: Wishes, name: str) -> bool | None:
    said = var.encoding.get("write_empty_chunks")
    if said is not None and wishes.write_empty is not None and said != wishes.write_empty:
        raise ValueError(
            f'Differing "write_empty_chunks" values in encoding and parameters of {name!r}:'
            f" {said} and {wishes.write_empty}"
        )
    return wishes.write_empty if said is None else bool(said)


def add_values(var: Variable, target: Array | Growing, place: tuple[slice, ...], wishes: Wishes, work: Work) -> None:
    """Write what is in memory, and note what is lazy: its tasks go together with what is stored, if asked for.

    Raises:
        UnsupportedError: If values could be lost.
    """
    if var.chunks is None:
        work.writer.add(var.data, target, place or None)
        return
    array = target.array if isinstance(target, Growing) else target
    if wishes.align_chunks:
        var = aligned(var, array, place)
    elif wishes.safe_chunks:
        check_aligned(var, array, place, array.path.rpartition("/")[2])
    unaligned = not is_aligned(var, array, place)
    if isinstance(target, Growing):
        target.unaligned = unaligned
        work.writer.add(var.data, target, place or None)
    else:
        # Refuses to go where other processes could not write, or not safely.
        work.writer.add(var.data, Stored(target, unaligned=unaligned), place or None)


def with_empty(array: Array, write_empty: bool | None) -> Array:
    """Return an array that stores chunks of nothing but the fill value, or does not, if that was said."""
    context = array._context  # noqa: SLF001 - the classes belong together
    if write_empty is None or context.write_empty == write_empty:
        return array
    own = context.over(context.store)
    own.write_empty = write_empty
    return Array(own, array.path, array.metadata)


def is_place(where: object) -> bool:
    """Whether a store was named, not given, so that it is closed when all is written."""
    return isinstance(where, (str, os.PathLike))


def check_format(found: Group, wanted: str | None) -> None:
    """Refuse to mix formats.

    Raises:
        UnsupportedError: If another format was asked for than is there.
    """
    if wanted is not None and found.format != wanted:
        raise UnsupportedError(f"what is there is {found.format}, not {wanted}", path=found.path or "/")
