"""Codecs that change the shape and nothing else: `reshape` of the registry, and `zarrs.squeeze`.

https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/reshape
"""

from __future__ import annotations

from typing import Final

from omnizarr.codec.lowered import Lower, Lowered
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.reshape import reshaped


def _reshape(options: Options, stage: Stage) -> Lowered:
    lengths = options.raw("shape")
    shape, problem = reshaped(lengths, stage.shape)
    if shape is None:
        raise options.wrong("shape", lengths, problem)
    config: dict[str, JSON] = {"shape": lengths}
    return Lowered(config, ("reshape", {"shape": lengths}), stage._replace(shape=shape))


def _squeeze(options: Options, stage: Stage) -> Lowered:
    del options  # it has none
    shape = tuple(length for length in stage.shape if length != 1)
    return Lowered({}, ("squeeze", {}), stage._replace(shape=shape))


CODECS: Final[dict[str, Lower]] = {"reshape": _reshape, "zarrs.squeeze": _squeeze}
