"""The small languages of nccopy: how to divide variables into chunks, and what to filter them with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any, Literal, NamedTuple, cast

from omnizarr.errors import MetadataError
from omnizarr.nc.filters import NUMBERS
from omnizarr.nc.tree import Filter

_CHUNKS = 'pass chunks="time/10,lat/90", {"time": 10} for dimensions, or {"t": (1, 90)} for variables'
_FILTERS = 'pass filters="t,zstd,3" or a list of such'

Chunking = tuple[int, ...] | Literal["contiguous", "compact"]


class ChunkSpecs(NamedTuple):
    """What was asked for: lengths along dimensions, and for single variables; or no chunks at all."""

    dims: Mapping[str, int | None]
    """By the name of a dimension; `None` is its length."""
    variables: Mapping[str, Chunking]
    none: bool = False


def parse_chunks(given: Sequence[str] | Mapping[str, int | Sequence[int]] | str) -> ChunkSpecs:
    """Understand `time/10,lat/`, `temperature:1,90,180`, `temperature:contiguous` and `/`.

    Raises:
        MetadataError: If it is none of these.

    >>> parse_chunks("time/10,lat/").dims, parse_chunks(["t:1,90"]).variables, parse_chunks("/").none
    ({'time': 10, 'lat': None}, {'t': (1, 90)}, True)
    >>> parse_chunks({"time": 10, "t": (1, 90)})
    ChunkSpecs(dims={'time': 10}, variables={'t': (1, 90)}, none=False)
    """
    if isinstance(given, Mapping):
        return _mapped(given)
    found: dict[str, int | None] = {}
    variables: dict[str, Chunking] = {}
    none = False
    for spec in _texts(given, "chunks", _CHUNKS):
        if spec in ("/", "//"):
            none = True
        elif ":" in spec:
            name, _, rest = spec.rpartition(":")
            variables.setdefault(name, _lengths(rest, spec))
        else:
            for part in filter(None, _split(spec, ",")):
                name, slash, length = part.rpartition("/")
                if not slash or not name:
                    raise MetadataError(
                        f"{part!r} is no chunk specification", hint="As in time/10,lat/ or var:1,90,180."
                    )
                found[name.replace("\\", "")] = _length(length, spec) if length else None
    return ChunkSpecs(found, variables, none)


def _mapped(given: Mapping[Any, Any]) -> ChunkSpecs:
    """Understand lengths by the names of dimensions and variables."""
    dims: dict[str, int | None] = {}
    variables: dict[str, Chunking] = {}
    for name, value in given.items():
        is_one = not isinstance(value, Iterable)
        lengths = _whole([value] if is_one else value)
        if not isinstance(name, str) or lengths is None:
            raise MetadataError(f"chunks holds {name!r}: {value!r}, which is no chunk specification", hint=_CHUNKS)
        if is_one:
            dims[name] = lengths[0]
        else:
            variables[name] = lengths
    return ChunkSpecs(dims, variables)


def _whole(values: object) -> tuple[int, ...] | None:
    """Return lengths of chunks; `None` if these are none."""
    try:
        found = tuple(map(index, cast("Iterable[Any]", values)))
    except TypeError:
        return None
    return found if all(one > 0 for one in found) else None


def _texts(given: object, name: str, hint: str) -> list[str]:
    """Return specifications in the small languages, of which there may be one or some."""
    if isinstance(given, str):
        return [given]
    found: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(one, str) for one in found):
        raise MetadataError(f"{name} is {given!r}, which is no {name[:-1]} specification", hint=hint)
    return found


def _lengths(text: str, spec: str) -> Chunking:
    word = text.lower()
    if word in ("", "contiguous"):
        return "contiguous"
    return "compact" if word == "compact" else tuple(_length(part, spec) for part in text.split(","))


def _length(text: str, spec: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        value = 0
    if value < 1:
        raise MetadataError(f"{text!r} is no length of a chunk, in {spec!r}")
    return value


class FilterSpec(NamedTuple):
    """Which variables are filtered how; no filters means that they are not."""

    names: tuple[str, ...]
    """`*` is all of them."""
    filters: tuple[Filter, ...]


def parse_filters(given: Sequence[str] | str) -> list[FilterSpec]:
    """Understand `temperature,1,9`, `a|b,zstd,3`, `*,shuffle|deflate,5`, `temperature,none` and `none`.

    Raises:
        MetadataError: If it is none of these.

    >>> parse_filters("a|/g/b,shuffle|deflate,5")
    [FilterSpec(names=('a', '/g/b'), filters=(Filter(id=2, parameters=()), Filter(id=1, parameters=(5,))))]
    """
    found: list[FilterSpec] = []
    for spec in _texts(given, "filters", _FILTERS):
        if spec == "none":
            found.append(FilterSpec(("*",), ()))
            continue
        names, *rest = _split(spec, ",")
        if not names or not rest or not rest[0]:
            raise MetadataError(f"{spec!r} is no filter specification", hint="As in var,1,9 or '*,zstd,3' or none.")
        text = ",".join(rest)
        filters = () if text == "none" else tuple(_filter(part, spec) for part in text.split("|"))
        found.append(FilterSpec(tuple(name.replace("\\", "") for name in _split(names, "|")), filters))
    return found


def _filter(text: str, spec: str) -> Filter:
    name, *rest = text.split(",")
    try:
        number = NUMBERS[name.lower()] if name.lower() in NUMBERS else int(name, 0)
        parameters = tuple(int(one.strip().rstrip("uU"), 0) for one in rest)
    except ValueError:
        raise MetadataError(
            f"{text!r} is no filter, in {spec!r}",
            hint=f"A number of HDF5's registry or one of {', '.join(NUMBERS)}; then parameters.",
        ) from None
    if not 0 < number < 1 << 16 or not all(0 <= one < 1 << 32 for one in parameters):
        raise MetadataError(f"{text!r} is no filter, in {spec!r}: a number is out of range")
    return Filter(number, parameters)


def _split(text: str, mark: str) -> list[str]:
    """Split at a mark, unless a backslash stands before it."""
    parts, escaped = [""], False
    for letter in text:
        if letter == mark and not escaped:
            parts.append("")
        else:
            parts[-1] += letter
        escaped = letter == "\\" and not escaped
    return parts
