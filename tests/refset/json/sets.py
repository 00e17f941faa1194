"""Random reference sets for tests."""

from __future__ import annotations

import json
import random

import numpy as np

from omnizarr.refset.model import INLINE, MISSING, WHOLE, Chunks, References, Stamp

SOURCE = bytes(range(256)) * 8
"""What every file of a random set holds."""

_DOCUMENT = {"zarr_format": 2, "dtype": "|u1", "compressor": None, "filters": None, "fill_value": 0, "order": "C"}
_INLINE = [
    b"",
    b"1.50",
    b"[1, 2]",
    b"plain text\nof two lines",
    b"base64:QUJD",
    b"\x00\xff\x80",
    "é".encode(),
    b'"',
    b"n",
]


def random_set(seed: int) -> References:
    """Make a set of a few arrays, with everything that columns can say."""
    chosen = random.Random(seed)
    urls = [f"d{i}/f {i}é{{b}}.bin" if i % 2 else f"f{i}.bin" for i in range(chosen.randint(1, 4))]
    made = References({".zgroup": b'{"zarr_format": 2}', ".zattrs": '{"title": "ü\\n"}'.encode()}, urls=urls)
    if chosen.random() < 0.5:
        made.stamps[urls[0]] = Stamp(len(SOURCE))
    for path in chosen.sample(["a", "b", "g/c", "0", "g/1", ""], chosen.randint(1, 4)):
        _array(made, path, chosen)
    made.documents["note"] = chosen.choice(_INLINE)
    made.others["file"] = (urls[0],)
    made.others["g/part"] = (urls[-1], 3, chosen.randint(0, 20))
    return made


def _array(made: References, path: str, chosen: random.Random) -> None:
    counts = tuple(chosen.randint(1, 4) for _ in range(chosen.randint(0, 3)))
    start = f"{path}/" if path else ""
    document = {**_DOCUMENT, "shape": [4 * n for n in counts], "chunks": [4] * len(counts)}
    if chosen.random() < 0.4:
        document["dimension_separator"] = "/"
    made.documents[f"{start}.zarray"] = json.dumps(document, indent=chosen.choice([None, 2])).encode()
    made.documents.pop(f"{start}.zgroup", None)
    total = int(np.prod(counts))
    numbers = sorted(chosen.sample(range(total), chosen.randint(0, total)))
    ids, offsets, lengths, inline = [], [], [], b""
    for _ in numbers:
        kind = chosen.random()
        if kind < 0.2:
            data = chosen.choice(_INLINE)
            ids, offsets, lengths = [*ids, INLINE], [*offsets, len(inline)], [*lengths, len(data)]
            inline += data
        elif kind < 0.3:
            ids, offsets, lengths = [*ids, chosen.randrange(len(made.urls))], [*offsets, 0], [*lengths, WHOLE]
        elif kind < 0.4:
            ids, offsets, lengths = [*ids, MISSING], [*offsets, 0], [*lengths, 0]
        else:
            ids = [*ids, chosen.randrange(len(made.urls))]
            offsets, lengths = [*offsets, chosen.randint(0, 900)], [*lengths, chosen.randint(0, 900)]
    given = None if len(numbers) == total else numbers
    made.arrays[path] = Chunks.ranges(counts, ids, offsets, lengths, numbers=given, inline=inline)


def values(references: References) -> dict[str, bytes | tuple[str] | tuple[str, int, int]]:
    """Return what every key of a set stands for: the model that all forms of a set must agree with."""
    from omnizarr.refset.grids import array_metas, grid_of

    found: dict[str, bytes | tuple[str] | tuple[str, int, int]] = {**references.documents, **references.others}
    metas = dict(array_metas(references.documents))
    for path, chunks in references.arrays.items():
        grid = grid_of(metas[path])
        places = list(np.ndindex(grid.counts))
        numbers = range(len(chunks)) if chunks.numbers is None else chunks.numbers.tolist()
        for number, url, offset, length in zip(numbers, chunks.urls, chunks.offsets, chunks.lengths, strict=True):
            key = (f"{path}/" if path else "") + grid.keys.key(tuple(map(int, places[number])))
            if url == INLINE:
                found[key] = chunks.inline[int(offset) : int(offset + length)]
            elif url != MISSING:
                name = references.urls[url]
                found[key] = (name,) if length == WHOLE else (name, int(offset), int(length))
    return found
