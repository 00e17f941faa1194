"""Every Python snippet of the README and of the documentation runs, page by page, and prints what it says it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
# Pages with transcripts are played by test_transcripts.py, snippets included.
PAGES = [
    page
    for page in (TOP / "README.md", *sorted((TOP / "docs").rglob("*.md")))
    if "```console\n" not in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_snippets_of_page_run(page, player):
    player.play(page)


def test_readme_has_an_example():
    assert "import omnizarr as oz\n" in (TOP / "README.md").read_text(encoding="utf-8")
