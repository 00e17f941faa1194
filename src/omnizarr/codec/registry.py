"""Codecs by name: the kernel's own table first, then entry points, then numcodecs, and nothing that could run data.

Another package adds a codec with an entry point in the group `omnizarr.codecs`, named as documents name the codec. It
points to a callable, or to a class with `from_config`, that takes the configuration and the keywords `dtype` and
`shape` (of what reaches the codec) and returns an object as described by `omnizarr.codec.adapt.PythonCodec`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from omnizarr.codec.adapt import adapt, check_type
from omnizarr.codec.stage import Stage
from omnizarr.codec.steps import Lowered
from omnizarr.errors import MetadataError, UnsafeError, UnsupportedError
from omnizarr.model.codec import ALIASES, Kind, is_unsafe
from omnizarr.model.codec import KINDS as ALL_KINDS
from omnizarr.model.codec import kind_of as known_kind
from omnizarr.model.jsonvalue import JSON

GROUP = "omnizarr.codecs"
NUMCODECS = "numcodecs."
IMAGECODECS = "imagecodecs_"
KINDS: tuple[Kind, ...] = ("array", "array-bytes", "bytes")


def kind_of(name: str) -> Kind | None:
    """Return "array", "array-bytes" or "bytes" for a codec, or `None` where only its place in a chain can tell."""
    known = known_kind(name)
    if known is not None:
        return known
    factory = _entry_point(name)
    return None if factory is None else _kind(name, factory)


def lower_foreign(name: str, config: Mapping[str, JSON], stage: Stage) -> Lowered:
    """Make a codec that the kernel does not have, and the kernel's step for it.

    Raises:
        UnsafeError: If the codec would run code from data.
        UnsupportedError: If no installed package has the codec, or two claim its name.
    """
    identifier = name.removeprefix(NUMCODECS)
    if is_unsafe(name):
        raise UnsafeError(
            "data in this encoding can run any code when decoded, so it is never read",
            codec=name,
            hint="convert it with the program that wrote it, where you trust its source",
        )
    factory = _entry_point(name)
    if factory is not None:
        make = getattr(factory, "from_config", factory)
        codec = make(dict(config), dtype=stage.dtype, shape=stage.shape)
        return adapt(name, _kind(name, codec), codec, stage)._replace(config=dict(config))
    return _lower_numcodecs(name, identifier, config, stage)


def _kind(name: str, codec: object) -> Kind:
    kind = getattr(codec, "kind", "bytes")
    for known in KINDS:
        if kind == known:
            return known
    raise UnsupportedError(f"its kind is {kind!r}, not one of {', '.join(KINDS)}", codec=name)


@lru_cache(maxsize=256)
def _entry_point(name: str) -> Any:  # noqa: ANN401 - whatever a package offers
    """Load the factory that a package registered for the name; `None` if there is none."""
    # Imported on a miss only: it takes longer than all of Omnizarr.
    found = {(point.value, point.dist.name if point.dist else ""): point for point in _select(name)}
    if not found:
        return None
    if len(found) > 1:
        who = " and ".join(sorted(f"{dist or '?'} ({value})" for value, dist in found))
        raise UnsupportedError(f"two packages claim this codec: {who}", codec=name, hint="uninstall one of them")
    return next(iter(found.values())).load()


def _select(name: str) -> Any:  # noqa: ANN401 - typed by its module, which is imported late
    return import_module("importlib.metadata").entry_points(group=GROUP, name=name)


def _lower_numcodecs(name: str, identifier: str, config: Mapping[str, JSON], stage: Stage) -> Lowered:
    try:
        registry = import_module("numcodecs.registry")
    except ImportError:
        hint = "pip install omnizarr[numcodecs]" if name != identifier else _nearest(name)
        raise UnsupportedError("no such codec is installed", codec=name, hint=hint) from None
    if identifier.startswith(IMAGECODECS) and identifier not in registry.codec_registry:
        _register_imagecodecs(name)
    if identifier not in registry.codec_registry and identifier not in registry.entries:
        raise UnsupportedError("no such codec is installed", codec=name, hint=_nearest(name))
    try:
        codec = registry.get_codec({**_complete(identifier, config, stage), "id": identifier})
    except (TypeError, ValueError) as error:
        raise MetadataError(f"the configuration does not suit it: {error}", codec=name) from error
    # Of a codec from elsewhere no more is known than that it makes bytes of whatever reaches it.
    kind = known_kind(name) or ("array-bytes" if stage.is_array else "bytes")
    if kind == "array":
        check_type(name, codec, stage)
    return adapt(name, kind, codec, stage)._replace(config=dict(config))


def _register_imagecodecs(name: str) -> None:
    """Let imagecodecs put its codecs into the registry of numcodecs, which it does not do by itself."""
    try:
        import_module("imagecodecs.numcodecs").register_codecs(verbose=False)
    except ImportError:
        hint = "pip install imagecodecs"
        raise UnsupportedError("the package imagecodecs has this codec", codec=name, hint=hint) from None


def _complete(identifier: str, config: Mapping[str, JSON], stage: Stage) -> dict[str, JSON]:
    """Add what zarr-python's wrappers leave out because the array tells it."""
    full = dict(config)
    if identifier in ("delta", "fixedscaleoffset", "quantize") and full.get("dtype") is None:
        full["dtype"] = stage.dtype.str
    if identifier == "astype" and full.get("decode_dtype") is None:
        full["decode_dtype"] = stage.dtype.str
    return full


def _nearest(name: str) -> str:
    # Imported here because only errors need it.
    near = import_module("difflib").get_close_matches(name, [*ALL_KINDS, *ALIASES], n=1)
    return f"did you mean {near[0]!r}?" if near else "install the package that has it, or name another codec"
