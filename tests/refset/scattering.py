"""Stored arrays, torn apart: their chunks end up in files, in whole files and in the set itself, as references."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from omnizarr.refset.grids import array_metas, grid_of
from omnizarr.refset.model import INLINE, MISSING, WHOLE, Chunks, References
from omnizarr.store.memory import MemoryStore


def scattered(
    store: MemoryStore, folder: Path, dice: random.Random, *, name: Callable[[str], str] = str, files: int = 3
) -> References:
    """Return references to the values of a store, which end up in new files in a folder, in any order."""
    keys = store.list_prefix("")
    documents = {key: store.get(key) for key in keys if key.rpartition("/")[2] in (".zarray", ".zgroup", "zarr.json")}
    made = References({key: data for key, data in documents.items() if data is not None})
    piles = [bytearray() for _ in range(files)]
    made.urls = [name(f"pile{i}.bin") for i in range(files)]
    for path, meta in array_metas(made.documents):
        made.arrays[path] = _scatter(store, path, meta, (piles, made.urls), (folder, dice, name))
    for i, pile in enumerate(piles):
        (folder / f"pile{i}.bin").write_bytes(bytes(pile))
    return made


def _scatter(store, path, meta, table, means) -> Chunks:
    (piles, urls), (folder, dice, name) = table, means
    counts, keys = grid_of(meta)
    total = int(np.prod(counts, dtype=int))
    columns = np.zeros((3, total), np.uint64)
    inline = bytearray()
    order = list(range(total))
    dice.shuffle(order)
    for number in order:
        key = keys.key(tuple(int(i) for i in np.unravel_index(number, counts)) if counts else ())
        value = store.get(f"{path}/{key}" if path else key)
        way = dice.random()
        if value is None:
            columns[:, number] = MISSING, 0, 0
        elif way < 0.15:
            columns[:, number] = INLINE, len(inline), len(value)
            inline += value
        elif way < 0.25:
            urls.append(name(f"whole{len(urls)}.bin"))
            (folder / urls[-1].rpartition("/")[2]).write_bytes(value)
            columns[:, number] = len(urls) - 1, 0, WHOLE
        else:
            pile = dice.randrange(len(piles))
            piles[pile] += dice.randbytes(dice.choice((0, 0, 0, 3, 5000)))
            columns[:, number] = pile, len(piles[pile]), len(value)
            piles[pile] += value
    ids, offsets, lengths = columns
    return Chunks(counts, ids.astype(np.uint32), offsets.copy(), lengths.copy(), None, bytes(inline))
