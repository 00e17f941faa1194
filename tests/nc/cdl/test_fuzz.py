"""Mutated texts give an error with a place, or a dataset."""

from __future__ import annotations

import random
import re
import warnings

import pytest

from omnizarr.nc.cdl.errors import CdlError
from omnizarr.nc.cdl.parser import parse
from tests.nc.cdl import texts

_PIECES = [
    *b"{}();:=,*_\"'\\/ \n0x1f",
    "unlimited",
    "data:",
    "group:",
    "NIL",
    "{{",
    "}}",
    "//",
    "/*",
    "\x00",
    "\xff",
    "99999999999",
]


def _mutated(seed: int) -> bytes:
    chosen = random.Random(seed)
    data = bytearray(chosen.choice(list(texts.ALL.values())).encode())
    words = list(re.finditer(rb"\S+", bytes(data)))
    for _ in range(chosen.randint(1, 4)):
        at = chosen.randrange(len(data))
        what = chosen.randrange(5)
        if what == 0:
            del data[at : at + chosen.randint(1, 30)]
        elif what == 1:
            data[at] = chosen.randrange(256)
        elif what == 2:
            piece = chosen.choice(_PIECES)
            data[at:at] = bytes([piece]) if isinstance(piece, int) else piece.encode("latin-1")
        elif what == 3:
            one, other = chosen.choice(words), chosen.choice(words)
            data[one.start() : one.end()] = other[0]
        else:
            end = at + chosen.randint(1, 60)
            data[at:at] = data[at:end] * chosen.randint(1, 3)
        if not data:
            break
    return bytes(data)


@pytest.mark.parametrize("block", range(10))
def test_mutated_texts_are_read_or_refused_with_a_place(block):
    refused: list[str] = []
    for seed in range(block * 50, block * 50 + 50):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                parse(_mutated(seed), "m.cdl")
            except CdlError as error:
                refused.append(error.message)
    assert refused
    assert [one for one in refused if not re.match(r"m\.cdl:\d+:\d+: ", one) or not one.endswith("^")] == []
