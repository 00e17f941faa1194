"""The table of readers on the same inputs, as Markdown."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import Final

from torture.inputs.running import Result, count

TITLES: Final = {
    "F1": "raw chunks of a wrong length, bits without a value",
    "F2": "streams that swell (bombs)",
    "F3": "zstd frames that lie",
    "F4": "Blosc containers that lie",
    "F5": "streams cut at each byte, each bit flipped",
    "F6": "checksums wrong or missing",
    "F7": "codecs unknown, misconfigured, in a wrong order",
    "F8": "codecs that would run code",
    "F9": "lengths of strings, bad UTF-8",
    "F10": "codecs that do not suit the array",
    "F11": "shard entries beyond the shard",
    "F12": "shard entries that overlap",
    "F13": "shard index damaged or misplaced",
    "F14": "shards in shards, very many chunks",
    "F16": "shapes, chunks, types that cannot be",
    "F17": "JSON that is none, deep, huge, repeated",
    "F18": "members that must be understood",
    "F19": "documents of several kinds for one node",
    "F20": "consolidated metadata that disagrees",
    "F21": "fill values",
    "F22": "NCZarr's own metadata",
    "F23": "CDL",
    "F24": "templates of reference sets",
    "F25": "formulas of reference sets",
    "F26": "references that lead where they must not",
    "F27": "parts that are not there",
    "F28": "records in parquet",
    "F29": "keys that lead out of the store",
    "F30": "links, pipes, devices, folders",
    "F31": "names that some systems mistake",
    "F32": "no right to read",
    "F36": "what a torn write leaves",
    "F37": "foreign files among nodes",
    "F38": "zip archives that lie",
    "F39": "zip archives without their end",
    "F40": "404",
    "F41": "refusals",
    "F42": "5xx, resets, redirects",
    "F43": "bodies cut, too long, without end",
    "F44": "wrong ranges, pages in place of chunks",
    "F46": "listings that lead out or never end",
}
FLAWS: Final = ("wrong", "crash", "hang", "memory", "slow", "foreign", "refused")
SHOWN: Final = {"memory": "memory", "foreign": "other error", "refused": "good refused", "slow": "slow"}


def table(results: Mapping[str, Sequence[Result]]) -> str:
    """Return a table of groups by readers; `results` is by the reader's name with its version."""
    counts = {reader: count(found) for reader, found in results.items()}
    groups = [group for group in TITLES if any(group in found for found in counts.values())]
    lines = [
        "| group | cases | " + " | ".join(results) + " |",
        "|---|---:|" + "---|" * len(results),
    ]
    for group in groups:
        total = max(sum(found.get(group, collections.Counter()).values()) for found in counts.values())
        cells = [_cell(found.get(group, collections.Counter())) for found in counts.values()]
        lines.append(f"| {group} {TITLES[group]} | {total} | " + " | ".join(cells) + " |")
    sums = [sum(found.values(), collections.Counter()) for found in counts.values()]
    most = max(sum(one.values()) for one in sums)
    lines.append(f"| **all** | {most} | " + " | ".join(_cell(one, bold=True) for one in sums) + " |")
    return "\n".join(lines) + "\n"


def _cell(counts: collections.Counter[str], *, bold: bool = False) -> str:
    flaws = [f"{counts[flaw]} {SHOWN.get(flaw, flaw)}" for flaw in FLAWS if counts[flaw]]
    ran = sum(counts.values()) - counts["not run"]
    if not ran:
        return "not run"
    shown = ", ".join(flaws) if flaws else "all right or loud"
    shown = f"**{shown}**" if bold else shown
    return f"{shown} ({counts['not run']} not run)" if counts["not run"] else shown
