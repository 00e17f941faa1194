"""Where requests may go: to public addresses, and to what the caller has named; redirections included."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time

import pytest

from omnizarr import native
from omnizarr.errors import StoreError, UnsafeError
from omnizarr.store.remote import PUBLIC, RemoteFile
from tests.net.serving import Served, serving


def moved(target: str, status: int = 302):
    return lambda handler, _data, _asked: handler.reply(status, b"", {"Location": target})


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x", "http://localhost/x", "http://LOCALHOST./x", "http://a.localhost/x", "http://127.1/x",
        "http://2130706433/x", "http://0x7f000001/x", "http://[::1]/x", "http://[::ffff:127.0.0.1]/x",
        "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/x", "http://192.168.0.1/x", "http://100.64.0.1/x",
        "http://0.0.0.0/x", "http://[fe80::1]/x", "http://[fd00:ec2::254]/x",
    ],
)  # fmt: skip
def test_private_addresses_are_refused(url):
    with pytest.raises(UnsafeError, match="private network"):
        native.RemoteFile(url, PUBLIC, attempts=1).stamp()


def test_names_of_private_addresses_are_refused(server):
    name = socket.gethostname()
    try:
        found = {one[4][0] for one in socket.getaddrinfo(name, 80)}
    except OSError:
        pytest.skip("this machine's name has no address")
    if not any(str(one).startswith(("127.", "10.", "172.", "192.168.", "169.254.", "fe80", "::1")) for one in found):
        pytest.skip("this machine's name is public")
    port = server.url.rpartition(":")[2]
    with pytest.raises(UnsafeError, match="private network"):
        native.RemoteFile(f"http://{name}:{port}/x", PUBLIC, attempts=1).stamp()
    assert not server.requests


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirections_are_followed_and_remembered(server, status):
    server.files["/d/x"] = bytes(range(256)) * 1000
    server.odd["/d/old"] = moved("x", status)
    file = RemoteFile(server.url + "/d/old")
    file.seek(200_000)
    assert file.read(3) == server.files["/d/x"][200_000:200_003]
    assert [path for path, _ in server.asked] == ["/d/old", "/d/x", "/d/x"]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("http://169.254.169.254/latest/meta-data", "private network"),
        ("http://localhost:1/", "private network"),
        ("http://127.0.0.1:1/", "private network"),
        ("file:///etc/passwd", "not followed"),
        ("ftp://example.org/", "not followed"),
    ],
)
def test_redirections_to_elsewhere_are_refused(server, target, words):
    server.odd["/d/old"] = moved(target)
    with pytest.raises(UnsafeError, match=words):
        RemoteFile(server.url + "/d/old")


def test_a_redirection_to_another_port_of_the_same_machine_is_refused(server):
    with serving() as other:
        other.files["/x"] = b"secret"
        server.odd["/d/old"] = moved(other.url + "/x")
        with pytest.raises(UnsafeError, match="private network"):
            RemoteFile(server.url + "/d/old")
        assert not other.requests


def test_endless_redirections_end(server):
    server.odd["/d/a"] = moved("b")
    server.odd["/d/b"] = moved("a")
    with pytest.raises(StoreError, match="more than 5 redirections"):
        RemoteFile(server.url + "/d/a")
    assert server.requests == 6


def test_a_signed_target_that_ran_out_is_asked_for_anew(server):
    server.files["/d/signed"] = bytes(200_000)
    server.odd["/d/x"] = moved("signed")
    file = native.RemoteFile(server.url + "/d/x", [server.url + "/"], head=1000, pause=0.01)
    file.stamp()
    server.files["/d/new"] = server.files.pop("/d/signed")
    server.odd["/d/x"] = moved("new")
    assert file.read_at(100_000, 2) == b"\0\0"
    assert [path for path, _ in server.asked] == ["/d/x", "/d/signed", "/d/signed", "/d/x", "/d/new"]


def test_an_interrupt_stops_the_wait(server: Served):
    server.files["/d/x"] = b"x"
    server.latency = 5
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        RemoteFile(server.url + "/d/x")
    assert time.perf_counter() - begin < 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_makes_connections_of_its_own(server):
    server.files["/d/x"] = bytes(range(200)) * 1000
    file = RemoteFile(server.url + "/d/x")
    assert file.read(2) == b"\0\1"
    child = os.fork()
    if child == 0:
        status = 1
        try:
            file.seek(150_000)
            status = 0 if file.read(2) == b"\0\1" else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
