"""Codecs that make bytes of an array of numbers by themselves: Pcodec.

https://numcodecs.readthedocs.io/en/stable/compression/pcodec.html
"""

from __future__ import annotations

from typing import Final

from omnizarr.codec.elements import element_of
from omnizarr.codec.lowered import Lower, Lowered
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON

_DELTAS: Final = ("auto", "none", "try_consecutive", "try_lookback")


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
        "delta": "try_consecutive" if given is not None else delta,
        "delta_order": order,
        "page": config["equal_pages_up_to"],
    }
    return Lowered(config, ("pcodec", step), stage.to_bytes(None, typed=False))


PACKED: Final[dict[str, Lower]] = {"numcodecs.pcodec": _pcodec}
