"""Pages on which servers list a folder."""

from __future__ import annotations

import pytest

from omnizarr.store.http_listing import names

URL = "http://h:1/a%20b/"


@pytest.mark.parametrize(
    ("page", "files", "folders"),
    [
        ('<a href="x">x</a> <a href="y/">y</a>', ["x"], ["y"]),
        ("<A HREF='x'>", ["x"], []),
        ("<a href=x>", ["x"], []),
        ('<a class="c"  href = "x">', ["x"], []),
        ('<a href="x"><a href="x">', ["x"], []),
        ('<a href="c%2F0">', [], []),
        ('<a href=".zarray"> <a href=".zgroup/">', [".zarray"], [".zgroup"]),
        ('<a href="x%20y"> <a href="caf%C3%A9/">', ["x y"], ["café"]),
        ('<a href="a&amp;b">', ["a&b"], []),
        ('<a href="./x"> <a href="/a%20b/z/">', ["x"], ["z"]),
        ('<a href="http://h:1/a%20b/x">', ["x"], []),
        ('<a href="../"> <a href="/"> <a href="."> <a href="./">', [], []),
        ('<a href="?C=N;O=D"> <a href="x?y">', [], []),
        ('<a href="http://other/a%20b/x"> <a href="https://h:1/a%20b/x">', [], []),
        ('<a href="x/y"> <a href="x/../../z">', [], []),
        ('<a href="http://[/x"> <a href="x">', ["x"], []),
        ('<a href="a%00b"> <a href="a%5Cb"> <a href="%2E%2E">', [], []),
        ('<a name="x"> <abbr href="x">', [], []),
        ("", [], []),
    ],
)
def test_names(page, files, folders):
    assert names(URL, page) == (files, folders)
