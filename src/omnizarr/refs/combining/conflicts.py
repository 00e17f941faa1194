"""What must be alike in all inputs, and the one error that names the files where it is not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from omnizarr.errors import MetadataError
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec, resolve
from omnizarr.model.fill import Fill
from omnizarr.model.jsonvalue import JSON

Attributes: TypeAlias = Literal["drop_conflicts", "override", "no_conflicts"]
"""What becomes of attributes that differ: dropped, the first file's kept, or an error."""

MEANING: Final = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned", "units", "calendar")
"""Attributes without which the numbers mean something else."""

_ENCODING_ONLY: Final = frozenset(("zlib", "gzip", "bz2", "lz4", "zstd", "blosc", "bitround", "numcodecs.bitround"))
"""Codecs whose settings decoding does not need."""

_MOST_NAMES: Final = 3
_MOST_LINES: Final = 40


class Conflicts:
    """Differences that were found, to be told all at once."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._hints: set[str | None] = set()

    def compare(self, path: str, what: str, values: Sequence[object], names: Sequence[str]) -> bool:
        """Take note if the values of the files are not all the same; return whether they are."""
        groups: dict[str, list[str]] = {}
        for value, name in zip(values, names, strict=True):
            groups.setdefault(_shown(value), []).append(name)
        if len(groups) < 2:
            return True
        self.note(path, what)
        width = min(40, max(map(len, groups)))
        self._lines += [f"    {value:<{width}}  {listed(files)}" for value, files in groups.items()]
        return False

    def note(self, path: str, what: str, hint: str | None = None) -> None:
        """Take note of something else that does not fit; `hint` is what helps, if it is something else than usual."""
        self._hints.add(hint)
        self._lines.append(f"  {path or '/'}: {what}")

    def check(self, hint: str | None = None) -> None:
        """Tell what was found, if there is anything.

        Raises:
            MetadataError: If there is.
        """
        if self._lines:
            shown = self._lines[:_MOST_LINES]
            if len(self._lines) > len(shown):
                shown.append(f"  … and {len(self._lines) - len(shown)} lines more")
            own = next(iter(self._hints)) if len(self._hints) == 1 else None
            raise MetadataError("the sets do not fit together:\n" + "\n".join(shown), hint=own or hint)


def listed(names: Sequence[str]) -> str:
    """Name some files, and count the others.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    some = ", ".join(names[:_MOST_NAMES])
    return some if len(names) <= _MOST_NAMES else f"{some} and {len(names) - _MOST_NAMES} more"


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else "none" if value is None else json.dumps(value, default=str)
    return text if len(text) <= 100 else text[:99] + "…"


def decoding(meta: ArrayMeta) -> dict[str, str]:
    """Say all that decoding the chunks of an array depends on, by what to call it."""
    return {
        "dtype": meta.dtype.numpy.str if not meta.dtype.vlen else meta.dtype.name,
        "codecs": " ".join(_codec(codec) for codec in meta.codecs),
        # Without a fill value, what is missing reads as zero.
        "fill_value": str((Fill.zero(meta.dtype) if meta.fill.bits is None else meta.fill).value(meta.dtype)),
        "dimensions": json.dumps(meta.dims),
    }


def _codec(codec: Codec) -> str:
    one = resolve(codec)
    if one.name in _ENCODING_ONLY or not one.configuration:
        return one.name
    return one.name + json.dumps(one.configuration, sort_keys=True, default=str)


def merged_attributes(
    all_of_them: Sequence[Mapping[str, JSON]], how: Attributes, conflicts: Conflicts, path: str, names: Sequence[str]
) -> dict[str, JSON]:
    """Make one set of attributes out of many."""
    found: dict[str, JSON] = dict(all_of_them[0])
    if how == "override":
        return found
    different: set[str] = set()
    for one in all_of_them[1:]:
        if one is all_of_them[0]:
            continue
        for name, value in one.items():
            if name not in found:
                found[name] = value
            elif not same(found[name], value):
                different.add(name)
    if how == "no_conflicts":
        for name in sorted(different):
            conflicts.compare(path, name, [one.get(name) for one in all_of_them], names)
    return {name: value for name, value in found.items() if name not in different}


def same(a: Any, b: Any) -> bool:  # noqa: ANN401 - values of JSON
    """Whether two values of attributes are the same; NaN is the same as NaN, 1 is not the same as True."""
    return a is b or (a == b and type(a) is type(b)) or repr(a) == repr(b)
