"""The codecs of an array in another format: the same where that has them, else the nearest that it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from omnizarr.codec.chain import Layout, build_chain
from omnizarr.codec.compile import compile_chain
from omnizarr.errors import OmnizarrError
from omnizarr.format.dialects import ZARR2, ZARR3
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec, canonical, inner_codecs, kind_of, sharding_of

_N5: Final = "n5_default"

_PORTABLE: Final = frozenset(
    (
        *("transpose", "bytes", "vlen-utf8", "vlen-bytes", "sharding_indexed", "crc32c", "blosc", "gzip", "zstd"),
        *("zlib", "lz4", "bz2", "lzma", "shuffle", "delta", "numcodecs.adler32", "numcodecs.astype"),
        *("numcodecs.bitround", "numcodecs.crc32", "numcodecs.crc32c", "numcodecs.fixedscaleoffset"),
        *("numcodecs.fletcher32", "numcodecs.jenkins_lookup3", "numcodecs.packbits", "numcodecs.pcodec"),
        *("numcodecs.quantize", "numcodecs.zfpy"),
    )
)
"""Codecs that zarr-python reads in documents of v3; what no other reader knows is not put into new ones."""

_DEFAULT_LEVEL: Final = 6
"""What zlib takes for -1."""

_FOR_WRITERS: Final[dict[str, frozenset[str]]] = {
    "blosc": frozenset(("clevel", "shuffle", "typesize", "blocksize")),
    **dict.fromkeys(("zlib", "gzip", "bz2"), frozenset(("level",))),
    "zstd": frozenset(("level", "checksum")),
    "lz4": frozenset(("acceleration",)),
}
"""Settings of the kernel's steps that readers do not need: the stored bytes say what they must know."""


def in_range(codec: Codec) -> Codec:
    """Return a codec with a level that v3 has a number for: in numcodecs and N5, -1 leaves the level to the library."""
    if canonical(codec.name) == "gzip" and codec.configuration.get("level") == -1:
        return codec._replace(configuration={**codec.configuration, "level": _DEFAULT_LEVEL})
    return codec


def plain_chain(meta: ArrayMeta) -> tuple[Codec, ...]:
    """Return what encodes a chunk, without the shard or the N5 block around it."""
    sharding = sharding_of(meta.codecs)
    if sharding is not None:
        return (*meta.codecs[:-1], *inner_codecs(sharding))
    if len(meta.codecs) == 1 and meta.codecs[0].name == _N5:
        return inner_codecs(meta.codecs[0])
    return meta.codecs


def is_portable(codecs: tuple[Codec, ...], form: str) -> bool:
    """Whether other readers of v3 or v2 have the codecs; builds of Blosc with Snappy have become rare."""
    sharding = sharding_of(codecs)
    every = codecs if sharding is None else (*codecs, *inner_codecs(sharding))
    if any(codec.name == "blosc" and codec.configuration.get("cname") == "snappy" for codec in every):
        return form not in (ZARR3.name, ZARR2.name)
    return form != ZARR3.name or all(canonical(codec.name) in _PORTABLE for codec in every)


def candidates(chain: tuple[Codec, ...], layout: Layout, form: str, limits: Limits) -> Iterator[tuple[Codec, ...]]:
    """Give chains for an array of a format, the one that changes least first; whoever takes one checks if it can be.

    Args:
        chain: What encodes a chunk now.
        layout: Type, chunks and shards of the array.
        form: The format.
        limits: Bounds on the size of chunks.
    """
    compressors = [codec for codec in chain if kind_of(codec.name) == "bytes"]
    wanted: list[object] = [list(chain), [_without_blocks(codec) for codec in chain], compressors]
    wanted.append([_without_blocks(codec) for codec in compressors])
    wanted += ["auto", [_blosc(layout)]] if form != "zarr0" else [[_blosc(layout)]]
    for given in wanted:
        try:
            yield build_chain(given, layout, limits)
        except OmnizarrError:  # codecs that do not fit other chunks, or a shard
            continue


def _blosc(layout: Layout) -> Codec:
    shuffle = "shuffle" if layout.dtype.itemsize > 1 else "noshuffle"
    return Codec("blosc", {"cname": "lz4", "clevel": 5, "shuffle": shuffle})


def _without_blocks(codec: Codec) -> Codec:
    """Leave the size of Blosc's blocks to Blosc: the oldest formats have no word for it."""
    if codec.name != "blosc" or not codec.configuration.get("blocksize"):
        return codec
    return codec._replace(configuration={**codec.configuration, "blocksize": 0})


def reads_alike(source: ArrayMeta, target: ArrayMeta, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether stored chunks of one array are chunks of the other as they are."""
    if source.grid != target.grid or source.shape != target.shape:
        return False
    if source.codecs == target.codecs and source.dtype == target.dtype:
        return True
    try:
        old = compile_chain(source.codecs, source.dtype, source.grid.longest, limits=limits)
        # In memory the target may have another byte order, but what is stored is the same if read the same way.
        new = compile_chain(target.codecs, source.dtype, source.grid.longest, limits=limits)
    except OmnizarrError:
        return False
    if old.skipped != new.skipped:
        return False
    return _for_readers(old.steps) == _for_readers(new.steps) and _native_orders(source, target)


def _native_orders(source: ArrayMeta, target: ArrayMeta) -> bool:
    """Whether elements that are not swapped have one order: those of structures lie in memory as they are stored."""
    return source.dtype.family != "struct" or source.dtype.numpy == target.dtype.numpy


def _for_readers(steps: Any) -> Any:  # noqa: ANN401 - steps nest, as codecs do
    """Return steps of the kernel without the settings that only writers need."""
    if (
        isinstance(steps, (list, tuple))
        and len(steps) == 2
        and isinstance(steps[0], str)
        and isinstance(steps[1], dict)
    ):
        name, settings = steps
        left_out = _FOR_WRITERS.get(name, frozenset())
        return name, {key: _for_readers(value) for key, value in settings.items() if key not in left_out}
    if isinstance(steps, list):
        return [_for_readers(step) for step in steps]
    return steps
