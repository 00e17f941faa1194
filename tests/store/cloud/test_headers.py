"""Headers that users give: which can be sent, and which options they stand among."""

from __future__ import annotations

import pytest

from omnizarr.errors import UnsafeError
from omnizarr.store.cloud.headers import bucket_part, checked_headers, has_headers, joined_headers, server_part


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (7, "mapping of texts"),
        ("no colon", "mapping of texts"),
        ("{broken", "mapping of texts"),
        ("[1]", "mapping of texts"),
        ({"A": 1}, "mapping of texts"),
        ({1: "a"}, "mapping of texts"),
        ({"no name": "secret"}, "a name that no header can have"),
        ({"": "secret"}, "a name that no header can have"),
        ({"Range": "bytes=0-"}, "the header Range cannot be given"),
        ({"Key": "a", "kEY": "b"}, "the header kEY is given twice"),
        ({"Key": "secret\n"}, "the value of the header Key cannot be sent"),
        ({"Key": "secret ☂"}, "the value of the header Key cannot be sent"),
    ],
)
def test_what_cannot_be_sent_is_refused_without_showing_it(given, message):
    with pytest.raises(UnsafeError, match=message) as caught:
        checked_headers(given)
    assert "secret" not in str(caught.value)


def test_headers_are_texts_in_every_form():
    assert checked_headers(' {"A": "b", "C": ""}') == {"A": "b", "C": ""}
    assert checked_headers("A : b: c ") == {"A": "b: c"}
    assert joined_headers([]) == {}
    assert joined_headers(["A: 1", {"B": "2", "C": "3"}, "b: 4"]) == {"A": "1", "C": "3", "b": "4"}


def test_options_of_servers_and_of_buckets_are_told_apart():
    options = {"Headers": {"A": "b"}, "key": "me", "anon": True, "client_kwargs": {"headers": {"C": "d"}, "x": 1}}
    assert server_part(options) == {"Headers": {"A": "b"}, "anon": True, "client_kwargs": {"headers": {"C": "d"}}}
    assert bucket_part(options) == {"key": "me", "anon": True, "client_kwargs": {"x": 1}}
    assert bucket_part({"client_kwargs": {"headers": {}}, "config_kwargs": None}) == {"config_kwargs": None}
    assert server_part(None) == bucket_part(None) == {}
    assert has_headers(options)
    assert not any(map(has_headers, (None, {}, {"headers": {}}, {"key": "me", "client_kwargs": {"x": 1}})))
