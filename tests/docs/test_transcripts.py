"""Every transcript of the documentation can be typed, and prints what it says; conftest.py says how to write one."""

from __future__ import annotations

from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PAGES = [
    page
    for page in (TOP / "README.md", *sorted((TOP / "docs").rglob("*.md")))
    if "```console\n" in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_page_plays(page, player):
    player.play(page)


PAGE = """\
Some data:

```python
import omnizarr as oz
oz.create_array("a.zarr", shape=(3,), dtype="i4", attrs={"units": "K"})
print("made")
```
```text
made
```

- a list

    ```console
    $ ls -d *.zarr && pwd
    a.zarr
    /home/me
    $ (exit 3)
    $ echo $?
    3
    $ printf 'one\\ntwo\\nthree\\n' >&2; \\
    > echo four
    ...
    three
    four
    $ oz nonsense | head -1
    ...
    ```

```console
$ test -e a.zarr/zarr.json && printf 'no line end'
no line end
```
"""


@pytest.fixture
def page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    return page


def test_a_page_with_all_that_transcripts_have_plays(page, player):
    player.play(page)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    3\n", "    4\n"),
        ("a.zarr\n    /home", "b.zarr\n    /home"),
        ("    ...\n    three\n", "    one\n    three\n"),
        ("no line end\n```", "no line end\nmore\n```"),
        ("no line end\n```", "```"),
    ],
)
def test_what_differs_is_told_of(page, player, old, new, monkeypatch):
    monkeypatch.setitem(type(player).play.__globals__, "RECORDING", False)
    page.write_text(PAGE.replace(old, new), encoding="utf-8")
    with pytest.raises(AssertionError, match="now prints"):
        player.play(page)


def test_recording_writes_only_what_differs(page, player, monkeypatch):
    monkeypatch.setitem(type(player).play.__globals__, "RECORDING", True)
    page.write_text(PAGE.replace("    3\n", "    old\n    and older\n"), encoding="utf-8")
    player.play(page)
    assert page.read_text(encoding="utf-8") == PAGE
