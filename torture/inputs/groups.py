"""All cases, by their groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from torture.inputs import bombs, codec_documents, flips, json_texts, metadata, shards, variable
from torture.inputs.case import Case, Cases

FAMILIES: Final[Mapping[str, tuple[Callable[[], Cases], ...]]] = {
    "F1": (flips.raw, flips.illegal),
    "F2": (bombs.bombs,),
    "F3": (bombs.frames,),
    "F4": (bombs.containers,),
    "F5": (flips.damaged,),
    "F6": (flips.checksums,),
    "F7": (codec_documents.unknown,),
    "F8": (codec_documents.unsafe,),
    "F9": (variable.variable,),
    "F10": (codec_documents.misfits,),
    "F11": (shards.entries,),
    "F12": (shards.overlaps,),
    "F13": (shards.damage,),
    "F14": (shards.depth,),
    "F16": (metadata.sizes,),
    "F17": (json_texts.texts,),
    "F18": (metadata.unknown_members,),
    "F19": (metadata.together,),
    "F21": (metadata.fills,),
}


def cases_of(groups: Iterable[str]) -> Iterable[Case]:
    """Give the cases of some groups, in their order."""
    for group in groups:
        for family in FAMILIES.get(group, ()):
            yield from family()
