"""All cases, by their groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from torture.inputs import (
    bombs,
    codec_documents,
    filesystem,
    flips,
    json_texts,
    metadata,
    netcdf,
    network,
    references,
    shards,
    variable,
    zips,
)
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
    "F20": (netcdf.consolidated,),
    "F21": (metadata.fills,),
    "F22": (netcdf.nczarr,),
    "F23": (netcdf.cdl,),
    "F24": (references.templates,),
    "F25": (references.formulas,),
    "F26": (references.targets,),
    "F27": (references.parts,),
    "F28": (references.records,),
    "F29": (filesystem.keys,),
    "F30": (filesystem.links,),
    "F31": (filesystem.names,),
    "F32": (filesystem.rights,),
    "F36": (filesystem.changing,),
    "F37": (filesystem.foreign,),
    "F38": (zips.hostile,),
    "F39": (zips.cut,),
    "F40": (network.missing,),
    "F41": (network.refused,),
    "F42": (network.passing,),
    "F43": (network.bodies,),
    "F44": (network.odd,),
    "F46": (network.listings,),
}


def cases_of(groups: Iterable[str]) -> Iterable[Case]:
    """Give the cases of some groups, in their order."""
    for group in groups:
        for family in FAMILIES.get(group, ()):
            yield from family()
