"""The page on codecs knows every name."""

from __future__ import annotations

from pathlib import Path

from omnizarr.codec.steps import KERNEL, RARE
from omnizarr.model.codec import ALIASES, KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "codec-table.md").read_text(encoding="utf-8")


def test_every_codec_and_alias_is_in_a_table():
    rows = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))
    missing = [name for name in (*KINDS, *ALIASES, *KERNEL, *RARE) if f"`{name}`" not in rows]
    assert not missing


def test_codecs_stand_under_their_kind():
    titles = {"array": "From array to array", "array-bytes": "From array to bytes", "bytes": "From bytes to bytes"}
    sections = {title: PAGE.split(f"## {title}")[1].split("\n## ")[0] for title in titles.values()}
    wrong = [name for name, kind in KINDS.items() if f"`{name}`" not in sections[titles[kind]]]
    assert not wrong
