"""Every Python snippet of the README and of the documentation runs, page by page, and prints what it says it prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
FENCE = re.compile(r"^( *)```python\n(.*?)^\1```$(?:\n+^\1```text\n(.*?)^\1```$)?", re.MULTILINE | re.DOTALL)


def snippets(page: Path) -> list[tuple[int, str, str | None]]:
    """Line, code and expected output of each snippet; output is a `text` block that follows at once."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        indent = len(match[1])
        line = text.count("\n", 0, match.start()) + 2
        code = "".join(part[indent:] if part.strip() else part for part in match[2].splitlines(keepends=True))
        found.append((line, code, match[3]))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_snippets_of_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for line, code, expected in snippets(page):
        # Blank lines in front make tracebacks point at the line of the page.
        program = compile("\n" * (line - 1) + code, str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, names)
        if expected is not None:
            assert printed.getvalue().split() == expected.split(), f"{page.name}:{line} prints something else"


def test_readme_has_an_example():
    assert snippets(TOP / "README.md")
