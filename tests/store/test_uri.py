"""Paths, keys and file: URIs of both systems, tested on any."""

import re
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from omnizarr.errors import UnsafeError
from omnizarr.store.keys import is_key
from omnizarr.store.uri import key_to_path, path_to_key, path_to_uri, quote, scheme, uri_to_path

EXAMPLES = settings(max_examples=max(500, settings().max_examples))
NAMES = st.text(st.characters(exclude_characters="\0/\\", exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..")
)
DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\..*)?\Z", re.IGNORECASE)
WINDOWS_NAMES = st.text(
    st.characters(exclude_characters='<>:"|?*\\/', exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8
).filter(lambda name: not name.endswith((".", " ")) and not DEVICE.match(name))
HOSTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,6}", fullmatch=True).filter(lambda h: h.lower() != "localhost")


@pytest.mark.parametrize(
    ("flavour", "path", "uri"),
    [
        ("posix", "/my data", "file:///my%20data"),
        ("posix", "/", "file:///"),
        ("posix", "/a/b.zarr", "file:///a/b.zarr"),
        ("posix", "/100%/é#?", "file:///100%25/%C3%A9%23%3F"),
        ("posix", "/c:/my data", "file:///c%3A/my%20data"),
        ("posix", "/a\\b", "file:///a%5Cb"),
        ("posix", "/\udcff", "file:///%FF"),
        ("windows", "c:\\my data", "file:///c:/my%20data"),
        ("windows", "C:\\", "file:///C:/"),
        ("windows", "C:\\a\\b.zarr", "file:///C:/a/b.zarr"),
        ("windows", "\\\\server\\share", "file://server/share"),
        ("windows", "\\\\server\\my share\\x", "file://server/my%20share/x"),
    ],
)
def test_path_and_canonical_uri(flavour, path, uri):
    assert path_to_uri(path, flavour) == uri
    assert uri_to_path(uri, flavour) == path


@pytest.mark.parametrize(
    ("flavour", "uri", "path"),
    [
        ("posix", "file:/my%20data", "/my data"),
        ("posix", "FILE://LOCALHOST/my%20data/", "/my data"),
        ("posix", "file:///a/./b//../c", "/a/c"),
        ("posix", "file:///%61%2e/%2E%2e/b", "/b"),
        ("posix", "file:///..", "/"),
        ("posix", "file:///my data/é", "/my data/é"),
        ("posix", "file:///c:/my%20data", "/c:/my data"),
        ("windows", "file:/c:/my%20data", "c:\\my data"),
        ("windows", "file:c:/my%20data", "c:\\my data"),
        ("windows", "file://localhost/c:/x/", "c:\\x"),
        ("windows", "file:///c|/x", "c:\\x"),
        ("windows", "file:///c:", "c:\\"),
        ("windows", "file:////server/share/x", "\\\\server\\share\\x"),
        ("windows", "file://///server/share/x", "\\\\server\\share\\x"),
        ("windows", "file://server/share/../x", "\\\\server\\share\\x"),
        ("windows", "file:///c:/a/../../b", "c:\\b"),
    ],
)
def test_other_spellings_of_uris(flavour, uri, path):
    assert uri_to_path(uri, flavour) == path


@pytest.mark.parametrize(
    ("flavour", "uri"),
    [
        ("posix", "http://x"),
        ("posix", "/a"),
        ("posix", "file:a/b"),
        ("posix", "file:"),
        ("posix", "file://data/x.zarr"),
        ("posix", "file://"),
        ("posix", "file:///a?b"),
        ("posix", "file:///a#mode=zarr"),
        ("posix", "file:///a%"),
        ("posix", "file:///a%2"),
        ("posix", "file:///a%zz"),
        ("posix", "file:///a%  b"),
        ("posix", "file:///a%00b"),
        ("posix", "file:///a%2Fb"),
        ("windows", "file:///data"),
        ("windows", "file://server"),
        ("windows", "file://server/"),
        ("windows", "file://user@server/share"),
        ("windows", "file://server:80/share"),
        ("windows", "file:///c:/a%5Cb"),
        ("windows", "file:///c:/a%2fb"),
        ("windows", "file:///c:\\a"),
        ("windows", "file:///c:/a?b"),
        ("windows", "file:c:x"),
        ("windows", "file://./c:/x"),
    ],
)
def test_uris_that_are_refused(flavour, uri):
    with pytest.raises(UnsafeError):
        uri_to_path(uri, flavour)


def test_a_forgotten_slash_is_guessed():
    with pytest.raises(UnsafeError, match=r"file:///data/x\.zarr"):
        uri_to_path("file://data/x.zarr", "posix")


@pytest.mark.parametrize(
    ("flavour", "path"),
    [
        ("posix", "a/b"),
        ("posix", ""),
        ("posix", "/a\0"),
        ("windows", "a\\b"),
        ("windows", "\\a"),
        ("windows", "c:"),
        ("windows", "c:a"),
        ("windows", "\\\\server"),
        ("windows", "\\\\.\\pipe\\x"),
        ("windows", ""),
    ],
)
def test_paths_without_a_uri(flavour, path):
    with pytest.raises(UnsafeError):
        path_to_uri(path, flavour)


def test_long_windows_paths_and_slashes():
    assert path_to_uri("\\\\?\\C:\\x", "windows") == path_to_uri("C:/x/", "windows") == "file:///C:/x"
    assert path_to_uri("\\\\?\\UNC\\server\\share\\x", "windows") == "file://server/share/x"
    assert path_to_uri("C:\\a\\.\\b\\..", "windows") == "file:///C:/a"


@EXAMPLES
@given(st.lists(NAMES, max_size=4))
def test_posix_round_trip_agrees_with_pathlib(names):
    path = "/" + "/".join(names)
    uri = path_to_uri(path, "posix")
    assert uri == PurePosixPath(path).as_uri()
    assert uri.isascii()
    assert uri_to_path(uri, "posix") == path
    assert path_to_uri(uri_to_path(uri, "posix"), "posix") == uri


@EXAMPLES
@given(st.sampled_from("cZ"), st.lists(WINDOWS_NAMES, max_size=4))
def test_windows_round_trip_agrees_with_pathlib(drive, names):
    path = f"{drive}:\\" + "\\".join(names)
    uri = path_to_uri(path, "windows")
    assert uri == PureWindowsPath(path).as_uri()
    assert uri_to_path(uri, "windows") == path


@EXAMPLES
@given(HOSTS, st.lists(WINDOWS_NAMES, min_size=1, max_size=4))
def test_windows_network_round_trip(host, names):
    assume(names[0] not in (".", ".."))
    path = f"\\\\{host}\\" + "\\".join(names)
    uri = path_to_uri(path, "windows")
    assert uri_to_path(uri, "windows") == path
    assert uri == f"file://{host}/" + "/".join(quote(name) for name in names)


@EXAMPLES
@given(st.sampled_from(["posix", "windows"]), st.text(max_size=20))
def test_any_text_is_a_path_or_refused(flavour, text):
    try:
        path = uri_to_path("file:" + text, flavour)
    except UnsafeError:
        return
    assert uri_to_path(path_to_uri(path, flavour), flavour) == path


def test_keys_as_paths_as_the_specification_shows_them():
    assert key_to_path("/data", "foo/bar", "posix") == "/data/foo/bar"
    assert path_to_key("/data", "/data/foo/bar", "posix") == "foo/bar"
    assert key_to_path("C:\\data", "foo/bar", "windows") == "C:\\data\\foo\\bar"
    assert path_to_key("C:\\data", "C:\\data\\foo\\bar", "windows") == "foo/bar"
    assert key_to_path("/", "a", "posix") == "/a"
    assert path_to_key("/", "/a/b", "posix") == "a/b"
    assert key_to_path("C:\\", "a", "windows") == "C:\\a"
    assert path_to_key("C:\\", "c:\\a", "windows") == "a"


@EXAMPLES
@given(st.lists(NAMES, max_size=3), st.lists(NAMES, min_size=1, max_size=3))
def test_posix_keys_round_trip(base, names):
    root, key = "/" + "/".join(base), "/".join(names)
    assume(is_key(key))
    path = key_to_path(root, key, "posix")
    assert PurePosixPath(path) == PurePosixPath(root, *names)
    assert path_to_key(root, path, "posix") == key


@EXAMPLES
@given(st.lists(WINDOWS_NAMES, max_size=3), st.lists(WINDOWS_NAMES, min_size=1, max_size=3))
def test_windows_keys_round_trip(base, names):
    root, key = "C:\\" + "\\".join(base), "/".join(names)
    path = key_to_path(root, key, "windows")
    assert PureWindowsPath(path) == PureWindowsPath(root, *names)
    assert path_to_key(root, path, "windows") == key


@pytest.mark.parametrize("path", ["/data", "/data/", "/database/x", "/other/x", "/", "/data/../x", "/data//x"])
def test_paths_that_are_not_below_the_root(path):
    with pytest.raises(UnsafeError):
        path_to_key("/data", path, "posix")


@pytest.mark.parametrize(
    "key",
    [
        "CON",
        "con",
        "a/nul.txt",
        "COM1",
        "LPT9.x",
        "aux ",
        "a.",
        "b /c",
        "ab:c",
        "x/a?b",
        "<",
        "a|b",
        'a"b',
        "a*b",
        "\x01",
    ],
)
def test_names_that_windows_takes_for_something_else(key):
    assert key_to_path("/data", key, "posix") == f"/data/{key}"
    with pytest.raises(UnsafeError):
        key_to_path("C:\\data", key, "windows")


@pytest.mark.parametrize("key", ["../x", "/etc/x", "a//b", "a\\b", "C:x", "a\0"])
def test_keys_that_lead_out_have_no_path(key):
    for root, flavour in (("/data", "posix"), ("C:\\data", "windows")):
        with pytest.raises(UnsafeError):
            key_to_path(root, key, flavour)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/a", None),
        ("a.zarr", None),
        ("c:\\x", None),
        ("c:/x", None),
        ("run:1.zarr", None),
        ("", None),
        ("file", None),
        ("1a://x", None),
        ("a b://c", None),
        ("a/b://c", None),
        ("file:x", "file"),
        ("FILE:///x", "file"),
        ("s3://b/x", "s3"),
        ("https://x", "https"),
        ("a+b.c-d://x", "a+b.c-d"),
        ("zip::s3://b/x.zip", "zip"),
    ],
)
def test_schemes(text, expected):
    assert scheme(text) == expected
