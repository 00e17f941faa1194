"""The codecs that the kernel runs itself: their configuration, checked and completed, and the kernel's steps for it.

Names and configurations of the registry: https://github.com/zarr-developers/zarr-extensions/tree/main/codecs; those of
version 2 are numcodecs' own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from omnizarr.codec.lowered import Lower, Lowered, Step
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage, byte_order, fields_order, swap_unit
from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.late import LateModule
from omnizarr.model.codec import BLOSC_NAMES, BLOSC_SHUFFLES, Codec, blosc_shuffle
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.small import is_small

if TYPE_CHECKING:
    from omnizarr.codec import elements
else:
    elements = LateModule("omnizarr.codec.elements")

__all__ = ["Lower", "Lowered", "Step", "is_native", "lower"]


def _transpose(options: Options, stage: Stage) -> Lowered:
    ndim = len(stage.shape)
    order: tuple[int, ...]
    if options.raw("order") in ("C", "F"):  # spelled so until the final specification of 2023
        order = tuple(range(ndim)) if options.raw("order") == "C" else tuple(range(ndim))[::-1]
    else:
        order = options.integers("order")
    if sorted(order) != list(range(ndim)):
        raise options.wrong("order", list(order), f"a permutation of 0 … {ndim - 1}")
    shape = tuple(stage.shape[axis] for axis in order)
    return Lowered({"order": list(order)}, ("transpose", {"order": list(order)}), stage._replace(shape=shape))


def _delta(options: Options, stage: Stage) -> Lowered:
    dtype = options.dtype("dtype", stage.dtype)
    astype = options.dtype("astype", dtype)
    for name, given in (("dtype", dtype), ("astype", astype)):
        if given.kind in "cSUV" or given.itemsize > 8 or is_small(given):
            raise options.wrong(name, str(given), "an integer or float type of at most 8 bytes")
    # numcodecs takes the elements for what the configuration says, whatever they are.
    if stage.vlen or dtype.itemsize != stage.dtype.itemsize:
        raise options.wrong("dtype", dtype.str, f"of the size of {stage.dtype.str!r}, the type that reaches the codec")
    config: dict[str, JSON] = {"dtype": dtype.str, "astype": astype.str}
    return Lowered(config, ("delta", dict(config)), stage.to_array(astype, stage.shape))


def _bytes(options: Options, stage: Stage) -> Lowered:
    if stage.vlen:
        raise MetadataError(
            f"the codec cannot hold the {stage.vlen} type, whose elements differ in size",
            codec="bytes",
            hint="use vlen-utf8 for strings and vlen-bytes for bytes",
        )
    unit = swap_unit(stage.dtype)
    endian = options.raw("endian")
    fields = fields_order(stage.dtype)
    if fields:
        return _bytes_of_fields(options, stage, fields)
    if endian is None or unit == 1:
        endian = "little"
    if endian not in ("little", "big"):
        raise options.wrong("endian", endian, "little or big")
    swap = 0 if unit == 1 or endian == byte_order(stage.dtype) else unit
    config: dict[str, JSON] = {} if unit == 1 else {"endian": endian}
    # A compressor must see the elements as they are stored, which matters to those that look at their type.
    stored = stage.dtype.newbyteorder("S") if swap else stage.dtype
    after = stage._replace(dtype=stored, is_array=False)
    return Lowered(config, ("bytes", {"swap": swap}), after, _cleaning(stage))


def _cleaning(stage: Stage) -> tuple[Step, ...]:
    """Return the step that brings stored bytes to values of the type, for types with fewer bits than a byte."""
    if stage.dtype.itemsize > 2:  # two for a complex number
        return ()
    element = elements.element_of(stage)
    if element is None or element.size > 1 or not elements.is_narrow(element):
        return ()
    return (("clean", {"bits": element.bits, "signed": elements.sign_bits(stage, element) == 8}),)


def _bytes_of_fields(options: Options, stage: Stage, order: str) -> Lowered:
    """Lower `bytes` for a structure, which in memory lies as it is stored."""
    endian = options.raw("endian")
    if endian not in (None, order):
        raise options.wrong(
            "endian", endian, f"{order}, the byte order of the fields; numpy.dtype.newbyteorder swaps it"
        )
    config: dict[str, JSON] = {} if order == "mixed" else {"endian": order}
    return Lowered(config, ("bytes", {"swap": 0}), stage._replace(is_array=False))


def _vlen_utf8(options: Options, stage: Stage) -> Lowered:
    return _vlen("vlen-utf8", "string", options, stage)


def _vlen_bytes(options: Options, stage: Stage) -> Lowered:
    return _vlen("vlen-bytes", "bytes", options, stage)


def _vlen(codec: str, vlen: str, options: Options, stage: Stage) -> Lowered:
    options.forget()  # it has none, and those of old writers are without meaning
    if stage.vlen != vlen:
        raise MetadataError(f"the codec holds the {vlen} type, not {stage.vlen or stage.dtype.str}", codec=codec)
    return Lowered({}, ("vlen", {}), stage.to_bytes(None, typed=False))


def _vlen_any(options: Options, stage: Stage) -> Lowered:
    if not stage.vlen or (stage.objects is not None and stage.objects.item != "array"):
        shown = stage.objects.item + " objects" if stage.objects is not None else stage.dtype.str
        raise MetadataError(f"the codec holds elements of any length, not {shown}", codec="vlen-array")
    given = options.raw("dtype")  # of the elements of arrays; the array's own type tells it too
    config: dict[str, JSON] = {} if given is None else {"dtype": given}
    return Lowered(config, ("vlen", {}), stage.to_bytes(None, typed=False))


def _level(name: str, default: int, low: int, high: int) -> Lower:
    def lower(options: Options, stage: Stage) -> Lowered:
        level = options.integer("level", default, low, high)
        return Lowered({"level": level}, (name, {"level": level}), stage.to_bytes(None, typed=False))

    return lower


def _zstd(options: Options, stage: Stage) -> Lowered:
    level = options.integer("level", 0, -131072, 22)
    checksum = options.boolean("checksum", default=False)
    config: dict[str, JSON] = {"level": level, "checksum": checksum}
    return Lowered(config, ("zstd", dict(config)), stage.to_bytes(None, typed=False))


def _blosc(options: Options, stage: Stage) -> Lowered:
    # c-blosc records sizes past 255 as 1, whoever asks for them.
    given = options.raw("typesize")
    typesize = stage.itemsize if given is None else options.integer("typesize", 1, 0, 1 << 31)
    typesize = typesize if 1 <= typesize <= 255 else 1
    shuffle = blosc_shuffle(options.raw("shuffle", "shuffle"), typesize)
    if not shuffle:
        raise options.wrong("shuffle", options.raw("shuffle"), f"one of {', '.join(BLOSC_SHUFFLES)}")
    config: dict[str, JSON] = {
        "cname": options.choice("cname", "lz4", BLOSC_NAMES),
        "clevel": options.integer("clevel", 5, 0, 9),
        "shuffle": shuffle,
        "typesize": typesize,
        "blocksize": options.integer("blocksize", 0, 0, 1 << 31),
    }
    if options.boolean("bytes_in_order", default=False):
        config["bytes_in_order"] = True
    step = {"bytes_in_order": False, **config, "shuffle": BLOSC_SHUFFLES.index(shuffle)}
    return Lowered(config, ("blosc", step), stage.to_bytes(None, typed=False))


def _lz4(options: Options, stage: Stage) -> Lowered:
    acceleration = options.integer("acceleration", 1, -(1 << 31), (1 << 31) - 1)
    config: dict[str, JSON] = {"acceleration": acceleration}
    return Lowered(config, ("lz4", dict(config)), stage.to_bytes(None, typed=False))


def _lzma(options: Options, stage: Stage) -> Lowered:
    preset = options.raw("preset")
    filters = options.raw("filters")
    if preset is not None:
        preset = options.integer("preset", 6, 0, (1 << 32) - 1)  # bit 31 is liblzma's "extreme"
    if filters is not None and not isinstance(filters, list):
        raise options.wrong("filters", filters, "a list or null")
    config: dict[str, JSON] = {
        "format": options.integer("format", 1, 0, 3),
        "check": options.integer("check", -1, -1, 15),
        "preset": preset,
        "filters": filters,
    }
    return Lowered(config, ("lzma", dict(config)), stage.to_bytes(None, typed=False))


def _crc32c(options: Options, stage: Stage) -> Lowered:
    options.choice("location", "end", ("end",))
    size = None if stage.size is None else stage.size + 4
    return Lowered({}, ("crc32c", {}), stage.to_bytes(size, typed=False))


def _n5_lz4(options: Options, stage: Stage) -> Lowered:
    block = options.integer("block_size", 1 << 16, 64, 1 << 25)
    config: dict[str, JSON] = {} if "block_size" not in options else {"block_size": block}
    return Lowered(config, ("n5.lz4", {"block_size": block}), stage.to_bytes(None, typed=False))


def _shuffle(options: Options, stage: Stage) -> Lowered:
    elementsize = options.integer("elementsize", 4, 0, 1 << 31)
    if stage.size is not None and elementsize > 1 and stage.size % elementsize:
        raise options.wrong("elementsize", elementsize, f"a divisor of the chunk's {stage.size} bytes")
    config: dict[str, JSON] = {"elementsize": elementsize}
    return Lowered(config, ("shuffle", dict(config)), stage.to_bytes(stage.size, typed=False))


def _gdeflate(options: Options, stage: Stage) -> Lowered:
    del options, stage
    hint = "rewrite the array by zarrs, with another codec"
    raise UnsupportedError("GDeflate, which only zarrs writes, is not supported", codec="zarrs.gdeflate", hint=hint)


KERNEL: dict[str, Lower] = {
    "transpose": _transpose,
    "delta": _delta,
    "bytes": _bytes,
    "vlen-utf8": _vlen_utf8,
    "vlen-bytes": _vlen_bytes,
    "numcodecs.vlen-array": _vlen_any,
    "zarrs.vlen_v2": _vlen_any,
    "gzip": _level("gzip", 1, -1, 9),
    "zlib": _level("zlib", 1, -1, 9),
    "bz2": _level("bz2", 1, 1, 9),
    "zstd": _zstd,
    "blosc": _blosc,
    "lz4": _lz4,
    "lzma": _lzma,
    "crc32c": _crc32c,
    "shuffle": _shuffle,
    "n5.lz4": _n5_lz4,
    "zarrs.gdeflate": _gdeflate,
}
"""The codecs of the kernel that many arrays have, but sharding, which holds chains and so belongs to the compiler."""

RARE: Final[dict[str, str]] = {
    **dict.fromkeys(("numcodecs.crc32", "numcodecs.adler32", "numcodecs.crc32c"), "checksums"),
    **dict.fromkeys(("numcodecs.fletcher32", "numcodecs.jenkins_lookup3", "numcodecs.base64"), "checksums"),
    **dict.fromkeys(("packbits", "numcodecs.packbits", "bitround", "numcodecs.bitround"), "bits"),
    **dict.fromkeys(("reshape", "zarrs.squeeze"), "shape"),
    **dict.fromkeys(("numcodecs.astype", "numcodecs.quantize", "numcodecs.fixedscaleoffset"), "arithmetic"),
    **dict.fromkeys(("numcodecs.pcodec", "zfp", "numcodecs.zfpy"), "packed"),
    **dict.fromkeys(("scale_offset", "cast_value"), "values"),
    **dict.fromkeys(("numcodecs.szip", "numcodecs.imagecodecs_szip"), "szip"),
    **dict.fromkeys((f"numcodecs.imagecodecs_{name}" for name in ("lzf", "lz4h5", "bitshuffle")), "hdf5"),
    **dict.fromkeys((f"omnizarr.hdf5_{name}" for name in ("bitshuffle", "shuffle", "zfp")), "hdf5"),
    **dict.fromkeys((f"omnizarr.hdf5_{name}" for name in ("scaleoffset", "nbit")), "hdf5"),
    **{f"numcodecs.imagecodecs_{name}": "tiff" for name in ("lzw", "packbits", "bitorder", "zlib", "zstd")},
    **{f"numcodecs.imagecodecs_{name}": "tiff" for name in ("delta", "floatpred", "packints", "rcomp")},
}
"""The other codecs of the kernel: the module `steps_…` that knows each, imported when an array has it."""


def is_native(name: str) -> bool:
    """Whether the kernel has a codec of this name, chains in codecs left aside."""
    return name in KERNEL or name in RARE


def _lower_of(name: str) -> Lower | None:
    known = KERNEL.get(name)
    if known is None and name in RARE:
        known = import_module(f"omnizarr.codec.steps_{RARE[name]}").CODECS[name]
    return known


def lower(codec: Codec, stage: Stage) -> Lowered | None:
    """Lower a codec of the kernel; `None` where the table has no such name, or the kernel not these types.

    Raises:
        MetadataError: If the configuration, or what reaches the codec, does not suit it.
        UnsupportedError: If the configuration has an option that is not known.
    """
    known = _lower_of(codec.name)
    if known is None:
        return None
    options = Options(codec.name, codec.configuration)
    lowered = known(options, stage)
    if lowered is not None:
        options.done()
    return lowered
