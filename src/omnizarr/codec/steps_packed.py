"""Codecs that make bytes of an array of numbers by themselves: Pcodec and zfp.

https://numcodecs.readthedocs.io/en/stable/compression/pcodec.html, its neighbour `zfpy`, and
https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zfp
"""

from __future__ import annotations

from typing import Final

from omnizarr.codec.elements import element_of
from omnizarr.codec.lowered import Lower, Lowered
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage, byte_order
from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON

_DELTAS: Final = ("auto", "none", "no_op", "try_consecutive", "try_lookback")


def _pcodec(options: Options, stage: Stage) -> Lowered:
    element = element_of(stage)
    known = element is not None and element.size > 1 and (element.fraction is None) == (stage.dtype.kind not in "fc")
    if element is None or not known or stage.label == "bfloat16":
        raise MetadataError(f"the codec does not take the type {stage.label}", codec="pcodec")
    delta = options.choice("delta_spec", "auto", _DELTAS)
    given = options.raw("delta_encoding_order")
    order = 0 if given is None else options.integer("delta_encoding_order", 0, 0, 7)
    if given is not None and delta not in ("auto", "try_consecutive"):
        raise options.wrong("delta_encoding_order", given, "null, for it is only used by try_consecutive")
    options.choice("paging_spec", "equal_pages_up_to", ("equal_pages_up_to",))
    config: dict[str, JSON] = {
        "level": options.integer("level", 8, 0, 12),
        "mode_spec": options.choice("mode_spec", "auto", ("auto", "classic")),
        "delta_spec": delta,
        "paging_spec": "equal_pages_up_to",
        "delta_encoding_order": given,
        "equal_pages_up_to": options.integer("equal_pages_up_to", 262144, 1, 1 << 32),
    }
    step = {
        "kind": "f" if element.fraction is not None else "i" if element.signed else "u",
        "size": element.size,
        "big": element.big,
        "components": element.components,
        "level": config["level"],
        "find_mode": config["mode_spec"] == "auto",
        # Before there was a delta_spec, the order alone said it.
        "delta": "try_consecutive" if given is not None else "none" if delta == "no_op" else delta,
        "delta_order": order,
        "page": config["equal_pages_up_to"],
    }
    return Lowered(config, ("pcodec", step), stage.to_bytes(None, typed=False))


_ZFP_MODES: Final[dict[str, tuple[str, ...]]] = {
    "reversible": (),
    "expert": ("minbits", "maxbits", "maxprec", "minexp"),
    "fixed_accuracy": ("tolerance",),
    "fixed_rate": ("rate",),
    "fixed_precision": ("precision",),
}
_RANGES: Final = {
    "minbits": (0, 16658),
    "maxbits": (1, 16658),
    "maxprec": (1, 64),
    "minexp": (-16495, 16272),
    "precision": (0, 1 << 31),
}
_ZFPY_MODES: Final = {2: "fixed_rate", 3: "fixed_precision", 4: "fixed_accuracy"}
_ZFP_TYPES: Final = ("int32", "int64", "float32", "float64")
_PROMOTED: Final = ("int8", "uint8", "int16", "uint16", "uint32", "uint64", "float16")
_MOST_RATE: Final = 65.0


def _zfp(options: Options, stage: Stage) -> Lowered:
    mode = options.choice("mode", None, tuple(_ZFP_MODES))
    config: dict[str, JSON] = {"mode": mode}
    for name in _ZFP_MODES[mode]:
        if name in _RANGES:
            config[name] = options.integer(name, -1 << 40, *_RANGES[name])
        else:
            config[name] = options.number(name, 0.0, _MOST_RATE if name == "rate" else float("inf"))
    return _zfp_step("zfp", dict(config), stage)._replace(config=config)


def _zfpy(options: Options, stage: Stage) -> Lowered:
    given = options.integer("mode", 4, 1, 5)
    options.raw("compression_kwargs")  # numcodecs repeats the others here
    config: dict[str, JSON] = {"mode": given}
    config["tolerance"] = options.number("tolerance", float("-inf"), float("inf"), -1)
    config["rate"] = options.number("rate", float("-inf"), _MOST_RATE, -1)
    config["precision"] = options.integer("precision", -1, -1, 1 << 31)
    mode = _ZFPY_MODES.get(given, "reversible")
    names = _ZFP_MODES[mode]
    number = config[names[0]] if names else -1
    # zfpy takes a negative number for one that was not given, and without any it loses nothing.
    if not isinstance(number, int | float) or number < 0:
        mode, names = "reversible", ()
    return _zfp_step("zfpy", {"mode": mode, **{name: config[name] for name in names}}, stage)._replace(config=config)


def _zfp_step(name: str, step: dict[str, JSON], stage: Stage) -> Lowered:
    kind = "int64" if stage.dtype.kind in "mM" else stage.label
    allowed = (*_ZFP_TYPES, *_PROMOTED) if name == "zfp" else _ZFP_TYPES
    if kind not in allowed:
        raise MetadataError(f"the codec does not take the type {stage.label}", codec=name)
    if step["mode"] == "fixed_accuracy" and name == "zfp" and kind[0] != "f":
        raise MetadataError(f"fixed_accuracy is for floats, and not for {stage.label}", codec=name)
    if len(stage.shape) > 4:
        hint = 'join dimensions with the codec "reshape" before it'
        raise MetadataError(f"it takes 4 dimensions at most, not {len(stage.shape)}", codec=name, hint=hint)
    big = stage.dtype.itemsize > 1 and byte_order(stage.dtype) == "big"
    full = {**step, "type": kind, "big": big, "header": name == "zfpy"}
    return Lowered({}, ("zfp", full), stage.to_bytes(None, typed=False))


CODECS: Final[dict[str, Lower]] = {"numcodecs.pcodec": _pcodec, "zfp": _zfp, "numcodecs.zfpy": _zfpy}
