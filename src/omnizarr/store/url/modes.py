"""What the modes of a URL mean together: which model, which storage, with or without the names that xarray reads.

Three rules of netcdf-c are not followed, where they lose what was asked for: `nczarr,noxarray` stays NCZarr (netcdf-c
has made pure Zarr of it since 4.9.1, and lost all names of dimensions), `nczarr,xarray` stays NCZarr, too, and the
shorthands `#zarr` and `#noxarray` mean what they say.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from omnizarr.errors import UnsafeError, warn
from omnizarr.store.url.grammar import SHORTHANDS, Url

STORAGES: Final = ("file", "zip", "s3", "gs3")

_MODELS: Final = ("nczarr", "zarr", "bytes", "dap2", "dap4", "netcdf-3", "netcdf-4")
_OTHER_WORDS: Final = {"classic": "netcdf-3", "enhanced": "netcdf-4"}
_KNOWN: Final = (*_MODELS, *STORAGES, "xarray", "noxarray", "consolidated", "v2")
_OF_SCHEMES: Final = {"s3": ("nczarr", "s3"), "gs3": ("nczarr", "gs3"), "dods": ("dap2",), "dap4": ("dap4",)}


class Note(NamedTuple):
    """A decision, and the rule or the place that it follows from."""

    about: str
    text: str


class Modes(NamedTuple):
    """What was asked for."""

    given: tuple[str, ...]
    """As they stand in the URL, in lower case, each once."""
    inferred: tuple[str, ...]
    """Those that follow from them, or from the scheme."""
    model: str
    """nczarr, zarr, bytes, dap2, dap4, netcdf-3, netcdf-4; empty if nothing is said about it."""
    storage: str
    """One of `STORAGES`, or empty."""
    xarray: bool
    consolidated: bool
    notes: tuple[Note, ...]
    ignored: tuple[str, ...]
    """What is said of words that are no modes; it is among the notes as well."""


def understand_modes(url: Url) -> Modes:
    """Say what the modes of a URL mean together.

    Raises:
        UnsafeError: If they contradict each other.

    >>> from omnizarr.store.url.grammar import parse
    >>> understand_modes(parse("file:///x#mode=zarr,zip"))[:4]
    (('zarr', 'zip'), ('nczarr',), 'zarr', 'zip')
    """
    notes: list[Note] = []
    given = _given(url, notes)
    ignored = tuple(_ignored(word) for word in given if word not in _KNOWN)
    notes += [Note("mode", text) for text in ignored]
    inferred = _inferred(url, given, notes)
    all_modes = {*given, *inferred}
    model = _model(url, given, all_modes, notes)
    storage = _storage(url, given, all_modes)
    return Modes(
        given=given,
        inferred=inferred,
        model=model,
        storage=storage,
        xarray=_xarray(all_modes, notes),
        consolidated="consolidated" in all_modes,
        notes=tuple(notes),
        ignored=ignored,
    )


def heard_modes(url: Url) -> Modes:
    """Say what the modes of a URL mean to who opens it: what is ignored is told of.

    Raises:
        UnsafeError: As for `understand_modes`.
    """
    modes = understand_modes(url)
    for text in modes.ignored:
        warn(text)
    return modes


def _given(url: Url, notes: list[Note]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for pair in url.pairs:
        words: list[str] = []
        if pair.key == "mode" and pair.value:
            words = [word.strip().lower() for word in pair.value.split(",")]
        elif pair.key in SHORTHANDS and not pair.value:
            words = list(SHORTHANDS[pair.key])
            notes.append(Note("mode", f"#{pair.key} is short for mode={','.join(words)}"))
        for word in filter(None, words):
            found[_OTHER_WORDS.get(word, word)] = None
    return tuple(found)


def _ignored(word: str) -> str:
    """Say of a word that it is no mode; netcdf-c says nothing."""
    key, equals, _ = word.partition("=")
    if equals:
        dotted = f"aws.{key[3:]}" if key in ("awsprofile", "awsregion") else key
        return f"{key!r} is no mode of a URL, and is ignored: & separates keys, as in #mode=nczarr&{dotted}=…"
    return f"{word!r} is no mode of a URL, and is ignored; there are {', '.join((*_KNOWN, *_OTHER_WORDS))}"


def _inferred(url: Url, given: tuple[str, ...], notes: list[Note]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for mode in _OF_SCHEMES.get(url.scheme, ()):
        if mode == "nczarr" and "bytes" in given:
            continue
        found[mode] = f"the scheme {url.scheme}:"
    if "xarray" in given and "zarr" not in given:
        if "nczarr" in given:
            notes.append(Note("model", "nczarr,xarray stays NCZarr; netcdf-c would read and write pure Zarr"))
        else:
            found["zarr"] = "xarray"
    if "zarr" in given or "zarr" in found:
        found.setdefault("nczarr", "zarr")
    if "noxarray" in given:
        found.setdefault("nczarr", "noxarray")
        if "zarr" not in given:
            notes.append(Note("model", "noxarray stays NCZarr; netcdf-c since 4.9.1 would read and write pure Zarr"))
    fresh = {mode: why for mode, why in found.items() if mode not in given}
    notes += [Note("mode", f"{mode} follows from {why}") for mode, why in fresh.items()]
    return tuple(fresh)


def _model(url: Url, given: tuple[str, ...], modes: set[str], notes: list[Note]) -> str:
    if "bytes" in modes:
        cancelled = [mode for mode in ("nczarr", "zarr") if mode in given]
        notes += [Note("model", f"bytes cancels {mode}: the place is one file, read in ranges") for mode in cancelled]
        return "bytes"
    several = [model for model in _MODELS if model in modes and model not in ("nczarr", "zarr")]
    if "nczarr" in modes or "zarr" in modes:
        several.append("zarr")
    if len(several) > 1:
        raise UnsafeError(f"{url.shown!r} asks for {' and '.join(several)} at once", hint="Leave one of the modes.")
    if "zarr" in modes:
        notes.append(Note("model", "zarr: pure Zarr, also where there is metadata of NCZarr"))
        return "zarr"
    return next((model for model in _MODELS if model in modes), "")


def _storage(url: Url, given: tuple[str, ...], modes: set[str]) -> str:
    several = [mode for mode in STORAGES if mode in modes]
    far = url.scheme not in ("", "file")
    if far and "zip" in given and len(several) == 2 and several[1] in ("s3", "gs3"):
        return "zip"  # an archive that is one object; netcdf-c has none of these
    if len(several) > 1:
        raise UnsafeError(
            f"{url.shown!r} asks for the storages {' and '.join(several)} at once",
            hint=f"Leave one: {', '.join(STORAGES)}.",
        )
    storage = several[0] if several else ""
    local = url.scheme in ("", "file")
    if local and storage in ("s3", "gs3"):
        raise UnsafeError(
            f"{url.shown!r} asks for the storage {storage}, but names a file",
            hint="Write s3://bucket/key, or mode=file for a folder.",
        )
    if not local and storage == "file" and storage in given:
        raise UnsafeError(
            f"{url.shown!r} asks for the storage {storage}, but its scheme is {url.scheme}:",
            hint="Write file:///path for a folder or an archive, or mode=s3 for a bucket.",
        )
    return storage


def _xarray(modes: set[str], notes: list[Note]) -> bool:
    if "noxarray" not in modes:
        return True
    if "xarray" in modes:
        notes.append(Note("xarray", "noxarray cancels xarray"))
    notes.append(Note("xarray", "noxarray: names of dimensions are not written to _ARRAY_DIMENSIONS"))
    return False
