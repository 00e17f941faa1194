"""What people see: one line, a tree, and HTML that is safe and stands alone."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import omnizarr as oz
from omnizarr.hierarchy.picture import picture
from omnizarr.sizes import human_bytes


class Balanced(HTMLParser):
    """Fails on tags that do not close."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)


@pytest.fixture
def group():
    root = oz.create_group({})
    root.create_array(
        "t<b>", shape=(365, 100, 200), dtype="f4", chunks=(10, 50, 50), shards=(50, 100, 100), dims=("t", "<y>", None)
    )
    root.create_array("deep/text", shape=(3,), dtype=str)
    root.attrs["title"] = "<script>"
    return root


def test_one_line_says_what_it_is(group):
    assert repr(group["t<b>"]) == (
        "<omnizarr.Array '/t<b>' (t: 365, <y>: 100, 200) float32 chunks=(10, 50, 50) shards=(50, 100, 100)"
        " codecs=bytes+blosc zarr3>"
    )
    assert repr(group).startswith("<omnizarr.Group '/' zarr3 in memory")


def test_the_tree(group):
    assert str(group.tree()) == "/\n├── deep\n│   └── text (3,) string\n└── t<b> (t: 365, <y>: 100, 200) float32"
    assert str(group.tree(1)) == "/\n├── deep\n└── t<b> (t: 365, <y>: 100, 200) float32"
    assert repr(group["deep"].tree()) == "deep\n└── text (3,) string"


def test_a_long_tree_is_cut():
    root = oz.create_group(oz.MemoryStore())
    for i in range(1100):
        root.create_group(f"g{i}")
    assert str(root.tree()).endswith("…")
    assert "and 100 more" in root.tree()._repr_html_()


def test_html_is_whole_and_safe(group):
    for thing in (group, group.tree(), group["t<b>"], group["deep/text"]):
        text = thing._repr_html_()
        seen = Balanced(text).seen
        assert "script" not in seen
        assert "b>" not in text.replace("<b>", "").replace("</b>", "").replace("&lt;b&gt;", "")
    assert "svg" in Balanced(group["t<b>"]._repr_html_()).seen


def test_pictures_of_any_shape():
    assert picture((), (), None, None) == ""
    assert picture((3, 0), (1, 1), None, None) == ""
    for shape in ((5,), (5, 6), (5, 6, 7), (2, 5, 6, 7), (10**9, 3), (1, 1, 1)):
        text = picture(shape, tuple(max(1, n // 3) for n in shape), None, None)
        assert "svg" in Balanced(text).seen
        assert len(text) < 20_000
    many = picture((10**6, 10**6), (1, 1), (10, 10), None)
    assert len(many) < 20_000


def test_bytes_for_people():
    sizes = (0, 999, 1536, 999_950, 5 << 30, 10**21)
    assert [human_bytes(n) for n in sizes] == ["0 B", "999 B", "1.5 kB", "1.0 MB", "5.4 GB", "1000000.0 PB"]


@pytest.mark.parametrize("dtype", ["M8", "m8"])
def test_times_without_a_unit_have_a_text(dtype):
    a = oz.create_array({}, shape=(3,), dtype=dtype, fill_value=3)
    assert "Fill value" in a._repr_html_()
