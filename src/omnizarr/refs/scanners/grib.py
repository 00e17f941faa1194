"""GRIB files as references: each message is a chunk, fields of one kind make up an array, as cfgrib puts them together.

eccodes is asked for the headers only; the data are decoded when they are read, by the codec `grib` that kerchunk has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from omnizarr.codec.grib import eccodes
from omnizarr.errors import CorruptError, UnsupportedError, warn
from omnizarr.refs.scanners.building import Builder
from omnizarr.refs.scanners.grib_coordinates import Coordinates
from omnizarr.refs.scanners.grib_grid import Points, points
from omnizarr.refs.scanners.grib_keys import Kind, Place, Reader
from omnizarr.refs.scanners.grib_messages import Message, messages
from omnizarr.refs.scanners.picking import Picked
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.model import Chunks, References

_DTYPE: Final = "<f8"


class _Entry(NamedTuple):
    """A message that has a place in an array."""

    place: Place
    offset: int
    length: int


class _Variable:
    """Fields of one kind."""

    def __init__(self, first: Message, shape: Points, attrs: dict[str, Any]) -> None:
        self.first, self.points, self.attrs = first, shape, attrs
        self.entries: list[_Entry] = []


def scan(source: SourceFile, options: Options = DEFAULTS) -> References:
    """Find the fields of a GRIB file.

    Raises:
        CorruptError: If the file is damaged.
        UnsupportedError: If a message cannot be read through references.
        MissingDependencyError: If eccodes is not installed.
    """
    return _Scan(source, options).run()


class _Scan:
    def __init__(self, source: SourceFile, options: Options) -> None:
        self._source, self._options = source, options
        self._variables: dict[Kind, _Variable] = {}
        self._grids: dict[str, Points] = {}
        self._attrs: dict[str, Any] = {}

    def run(self) -> References:
        self._read()
        names = _names(self._variables)
        picked = Picked(self._options, list(names.values()))
        made = Builder(self._source, inline=self._options.inline)
        made.group("", {**self._attrs, "Conventions": "CF-1.7"})
        coordinates = Coordinates(made)
        for kind, variable in self._variables.items():
            if picked(names[kind]):
                self._emit(made, coordinates, names[kind], kind, variable)
        return made.references

    def _read(self) -> None:
        api = eccodes()
        with self._source.open() as file:
            for message in messages(file, self._source.url):
                where = f"{self._source.url}: the message at {message.offset}"
                try:
                    self._take(api, message, where)
                except UnsupportedError as error:
                    if self._options.on_error == "raise":
                        raise
                    warn(f"left out: {error}")
        if not self._variables and not self._attrs:
            raise CorruptError(f"{self._source.url}: there is no GRIB message in it")

    def _take(self, api: Any, message: Message, where: str) -> None:  # noqa: ANN401 - a package without types
        if message.fields > 1:
            raise UnsupportedError(
                f"{where} holds several fields, which references cannot tell apart",
                hint="Write each into a message of its own: grib_copy in.grib out.grib",
            )
        with Reader(api, where, message.head) as reader:
            kind, place = reader.field()
            variable = self._variables.get(kind)
            if variable is None:
                shape = self._grids.get(kind.grid)
                if shape is None:
                    shape = self._grids[kind.grid] = points(reader, where)
                variable = self._variables[kind] = _Variable(message, shape, reader.attributes())
                self._attrs = self._attrs or reader.file_attributes()
        variable.entries.append(_Entry(place, message.offset, message.length))

    def _emit(self, made: Builder, coordinates: Coordinates, name: str, kind: Kind, variable: _Variable) -> None:
        rows, axes = self._arranged(variable, name)
        shape = variable.points.shape
        dims, others = coordinates.leading(axes, kind.level_type)
        dims_of_points, places = coordinates.of_points(kind.grid, variable.points, variable.first)
        attrs = _described(variable.attrs)
        if others or places:
            attrs["coordinates"] = " ".join((*others, *places))
        made.array(
            name,
            rows,
            shape=(*(len(axis) for axis in axes if len(axis) > 1), *shape),
            chunks=(*(1 for axis in axes if len(axis) > 1), *shape),
            dtype=_DTYPE,
            codecs=[{"id": "grib", "var": kind.name, "dtype": "float64"}],
            fill_value=np.nan,
            dims=[*dims, *dims_of_points],
            attrs=attrs,
        )

    def _arranged(self, variable: _Variable, name: str) -> tuple[Chunks, list[npt.NDArray[Any]]]:
        """Put the messages of a variable in order: the references, and the values along each leading dimension."""
        columns = [np.array([entry.place[i] for entry in variable.entries]) for i in range(4)]
        found = [np.unique(column, return_inverse=True) for column in columns]
        axes = [axis for axis, _ in found]
        inverse = [np.asarray(one).reshape(-1) for _, one in found]
        if str(variable.attrs.get("GRIB_typeOfLevel", "")).startswith("isobaric"):
            # Heights rise with falling pressure, and cfgrib lists them so.
            axes[3], inverse[3] = axes[3][::-1], len(axes[3]) - 1 - inverse[3]
        counts = tuple(len(axis) for axis in axes)
        numbers = np.ravel_multi_index(tuple(inverse), counts)
        order = np.argsort(numbers, kind="stable")
        twice = np.flatnonzero(np.diff(numbers[order]) == 0)
        if twice.size:
            first, second = (variable.entries[int(order[i])] for i in (twice[0], twice[0] + 1))
            message = (
                f"{self._source.url}: the messages at {first.offset} and {second.offset} have the same place "
                f"in {name}: {first.place._asdict()}"
            )
            if self._options.on_error == "raise":
                hint = 'Pass on_error="drop" to keep the first of them, or write them to files of their own.'
                raise UnsupportedError(message, path=name, hint=hint)
            warn(f"left out: {message}")
            order = np.delete(order, twice + 1)
        grid = (*(n for n in counts if n > 1), *(1 for _ in variable.points.shape))
        places = np.array([(entry.offset, entry.length) for entry in variable.entries], np.uint64)[order]
        whole = len(order) == prod(counts)
        return Chunks.ranges(grid, 0, places[:, 0], places[:, 1], numbers=None if whole else numbers[order]), axes


def _names(kinds: Iterable[Kind]) -> dict[Kind, str]:
    """Give each kind a name of its own, as short as possible."""
    made: dict[Kind, str] = {}
    kinds = list(kinds)
    unnamed = {kind.parameter for kind in kinds if kind.parameter}
    shown = {
        kind: kind._replace(name=f"{kind.name}_{kind.parameter}" if kind.parameter and len(unnamed) > 1 else kind.name)
        for kind in kinds
    }
    plain = Counter(one.name for one in shown.values())
    by_level = Counter(one[:2] for one in shown.values())
    by_step = Counter(one[:3] for one in shown.values())
    for kind, one in shown.items():
        name = one.name
        if plain[one.name] > 1:
            name += f"_{one.level_type}"
        if by_level[one[:2]] > 1:
            name += f"_{one.step_type}"
        if by_step[one[:3]] > 1:
            name += f"_{sum(1 for other in made if shown[other][:3] == one[:3])}"
        made[kind] = name
    return made


def _described(attrs: dict[str, Any]) -> dict[str, Any]:
    """Add what CF calls what GRIB says."""
    said = {
        "long_name": attrs.get("GRIB_name"),
        "units": attrs.get("GRIB_units"),
        "standard_name": attrs.get("GRIB_cfName"),
    }
    return {**attrs, **{name: value for name, value in said.items() if value}}
