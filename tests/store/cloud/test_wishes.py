"""Options, sorted: what they mean, and which are refused."""

from __future__ import annotations

import pytest

from omnizarr.errors import UnsafeError
from omnizarr.store.cloud.names import IGNORED, names_of
from omnizarr.store.cloud.wishes import flag, understand_options


def test_settings_of_every_put():
    more = {"RequestPayer": "requester", "ServerSideEncryption": "AES256", "ACL": "private"}
    found = understand_options("s3", {"s3_additional_kwargs": more})
    assert found.config == {"aws_request_payer": "true", "aws_server_side_encryption": "AES256"}
    assert [note.about for note in found.notes] == ["s3_additional_kwargs ACL"]


@pytest.mark.parametrize(
    ("proxies", "config"),
    [
        ({"https": "http://p:1", "http": "http://q:2"}, {"proxy_url": "http://p:1"}),
        ({"http": "http://q:2"}, {"proxy_url": "http://q:2"}),
        ({}, {}),
    ],
)
def test_proxies(proxies, config):
    assert understand_options("s3", {"proxies": proxies}).config == config


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("proxies", "http://p", "a mapping, not of type str"),
        ("s3_additional_kwargs", [], "a mapping, not of type list"),
        ("client_kwargs", 5, "a mapping, not of type int"),
        ("cache", True, "a folder, not of type bool"),
        ("cache", 5, "a folder, not of type int"),
        ("attempts", True, "a number, not of type bool"),
        ("attempts", "many", "a number, not of type str"),
        ("attempts", -1, "a number, not of type int"),
        ("pause", float("inf"), "a number, not of type float"),
        ("anon", "perhaps", "true or false, not of type str"),
        ("key", [], "a text, not of type list"),
    ],
)
def test_values_that_are_refused(name, value, words):
    with pytest.raises(UnsafeError, match=f"the option {name} is to be {words}"):
        understand_options("s3", {name: value})


def test_what_is_said_counts_more_than_the_surroundings():
    mine = understand_options("s3", {"region": "a", "attempts": 2})
    mine.fill_up(understand_options("s3", {"region": "b", "attempts": 3, "pause": 1, "key": "k", "secret": "s"}))
    assert mine.wishes == {"region": "a"}
    assert mine.settings == {"attempts": 2, "pause": 1.0}
    assert mine.config == {"aws_access_key_id": "k", "aws_secret_access_key": "s"}


def test_credentials_go_together():
    mine = understand_options("s3", {"anon": True})
    mine.fill_up(understand_options("s3", {"key": "k", "secret": "s", "profile": "p", "region": "b"}))
    assert mine.config == {}
    assert mine.wishes == {"anon": True, "region": "b"}
    signed = understand_options("s3", {"anon": False})
    signed.fill_up(understand_options("s3", {"profile": "p"}))
    assert signed.wishes == {"anon": False, "profile": "p"}


@pytest.mark.parametrize(("value", "expected"), [(1, True), (0, False), (" Yes ", True), ("off", False), ("", False)])
def test_flags(value, expected):
    assert flag("anon", value) is expected


def test_what_is_ignored_does_not_hide_what_follows():
    name = next(name for name in IGNORED if name not in names_of("s3"))
    found = understand_options("s3", {name: 1, "key": "k", "region": None, "secret": "s"})
    assert found.config == {"aws_access_key_id": "k", "aws_secret_access_key": "s"}
    assert [note.about for note in found.notes] == [name]
