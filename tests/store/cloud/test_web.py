"""Requests to services that give credentials: tried again, never led elsewhere, and told of without secrets."""

from __future__ import annotations

import pytest

from omnizarr.errors import StoreError
from omnizarr.store.cloud import web
from tests.store.cloud.services import Services


@pytest.fixture
def services():
    services = Services()
    yield services
    services.close()


@pytest.fixture
def slept(monkeypatch):
    moments: list[float] = []
    monkeypatch.setattr(web.time, "sleep", moments.append)
    return moments


@pytest.mark.parametrize("status", [429, 500, 503])
def test_services_that_are_busy_are_asked_again(status, services, slept):
    left = [2]

    def answer(_headers, _body):
        left[0] -= 1
        return (status, "hush") if left[0] >= 0 else (200, "yes")

    services.answers["/x"] = answer
    assert web.call(f"{services.url}/x", {"a": "b"}, b"body", "PUT") == b"yes"
    assert [(method, headers["a"], body) for method, _, headers, body in services.seen] == [("PUT", "b", b"body")] * 3
    assert len(slept) == 2


def test_services_that_stay_busy(services, slept):
    services.give("/x", "hush", 503)
    with pytest.raises(web.RefusedError, match="/x answers with 503") as caught:
        web.call(f"{services.url}/x?token=hush", {})
    assert caught.value.status == 503
    assert "hush" not in str(caught.value)
    assert (len(services.seen), len(slept)) == (3, 2)


@pytest.mark.parametrize("status", [302, 400, 403, 404])
def test_refusals_are_final(status, services, slept):
    services.give("/x", "hush", status)
    with pytest.raises(web.RefusedError) as caught:
        web.call(f"{services.url}/x", {})
    assert caught.value.status == status
    assert (len(services.seen), slept) == (1, [])


def test_services_that_are_not_there(slept):
    services = Services()
    services.close()
    with pytest.raises(web.RefusedError, match="cannot be reached") as caught:
        web.call(f"{services.url}/x", {}, tries=2)
    assert caught.value.status == 0
    assert len(slept) == 1


def test_proxies_are_for_other_machines(services, monkeypatch):
    # Only the machine's own addresses are asked directly; whatever else goes through the proxy, which is our server.
    monkeypatch.setenv("http_proxy", services.url)
    services.give("/x", "direct")
    assert web.call(f"{services.url}/x", {}) == b"direct"
    services.give("http://example.invalid/x", "by proxy")
    assert web.call("http://example.invalid/x", {}) == b"by proxy"


def test_answers_are_objects():
    assert web.document(b'{"a": 1}', "me") == {"a": 1}
    for text in (b"[]", b"x", b""):
        with pytest.raises(StoreError, match="the answer of me is no JSON object"):
            web.document(text, "me")
