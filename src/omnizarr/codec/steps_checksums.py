"""Checksums of numcodecs, and its text encoding: https://numcodecs.readthedocs.io/en/stable/checksum32.html."""

from __future__ import annotations

from typing import Final

from omnizarr.codec.lowered import Lower, Lowered
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.model.jsonvalue import JSON


def _after(stage: Stage) -> Stage:
    return stage.to_bytes(None if stage.size is None else stage.size + 4, typed=False)


def _located(name: str, default: str) -> Lower:
    def lower(options: Options, stage: Stage) -> Lowered:
        location = options.choice("location", default, ("start", "end"))
        # numcodecs leaves out what it would assume.
        config: dict[str, JSON] = {} if location == default else {"location": location}
        return Lowered(config, ("checksum", {"sum": name, "at_start": location == "start"}), _after(stage))

    return lower


def _fletcher32(options: Options, stage: Stage) -> Lowered:
    del options  # it has none
    return Lowered({}, ("checksum", {"sum": "fletcher32", "at_start": False}), _after(stage))


def _jenkins_lookup3(options: Options, stage: Stage) -> Lowered:
    initial = options.integer("initval", 0, 0, 2**32 - 1)
    prefix = options.raw("prefix")
    given = () if prefix is None else options.integers("prefix")
    if any(byte > 255 for byte in given):
        raise options.wrong("prefix", prefix, "a list of bytes or null")
    step = {"sum": "jenkins_lookup3", "at_start": False, "initval": initial, "prefix": bytes(given)}
    return Lowered({"initval": initial, "prefix": prefix}, ("checksum", step), _after(stage))


def _base64(options: Options, stage: Stage) -> Lowered:
    del options  # it has none
    size = None if stage.size is None else (stage.size + 2) // 3 * 4
    return Lowered({}, ("base64", {}), stage.to_bytes(size, typed=False))


CODECS: Final[dict[str, Lower]] = {
    "numcodecs.crc32": _located("crc32", "start"),
    "numcodecs.adler32": _located("adler32", "start"),
    "numcodecs.crc32c": _located("crc32c", "end"),
    "numcodecs.fletcher32": _fletcher32,
    "numcodecs.jenkins_lookup3": _jenkins_lookup3,
    "numcodecs.base64": _base64,
}
