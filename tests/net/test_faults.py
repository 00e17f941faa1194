"""Servers that misbehave: what they send is put right or refused, never believed."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from omnizarr import native
from omnizarr.errors import LimitError, NotFoundError, StaleReferenceError, StoreError, UnsafeError
from omnizarr.store.remote import Remote, RemoteFile, fetch
from tests.net.serving import Handler, Served, usual

DATA = np.random.default_rng(1).bytes(300_000)


@pytest.fixture
def server(server: Served) -> Served:
    server.files["/d/x.bin"] = DATA
    return server


def remote(server: Served, path: str = "/d/x.bin", **settings: float) -> native.RemoteFile:
    settings = {"pause": 0.01, "patience": 0.3, "head": 1024, **settings}
    return native.RemoteFile(server.url + path, [server.url + "/"], **settings)  # type: ignore[arg-type]


def test_ranges_and_the_state(server):
    file = remote(server)
    size, modified, tag = file.stamp()
    assert (size, modified) == (len(DATA), 784_111_777 * 10**9)
    assert tag
    assert file.read_at(299_990, 100) == DATA[299_990:]
    assert file.read_at(5, 100) == DATA[5:105]
    assert file.read_at(400_000, 1) == b""
    assert server.requests == 2
    assert file.counts() == (2, server.sent)


def answering(*answers):
    """Answer requests by one function after the other, and as usual when there is none left."""
    left = list(answers)
    lock = threading.Lock()

    def answer(handler: Handler, data: bytes, asked: tuple[int, int] | None) -> None:
        with lock:
            chosen = left.pop(0) if left else usual
        chosen(handler, data or DATA, asked)

    return answer


def busy(handler, data, asked):
    del data, asked
    handler.reply(503, b"busy", {"Retry-After": "0"})


def cut_off(handler, data, asked):
    start, stop = asked[0], min(asked[1], len(data) - 1)
    said = {"Content-Range": f"bytes {start}-{stop}/{len(data)}"}
    handler.reply(206, data[start : start + (stop + 1 - start) // 2], said, length=stop + 1 - start)
    handler.close_connection = True


def hang_up(handler, data, asked):
    del data, asked
    handler.close_connection = True


def stalled(handler, data, asked):
    cut_off(handler, data, asked)
    handler.wfile.flush()
    time.sleep(1)


@pytest.mark.parametrize("fault", [busy, cut_off, hang_up])
def test_what_passes_is_asked_for_again(server, fault):
    server.odd["/d/odd"] = answering(usual, fault, fault)
    file = remote(server, "/d/odd")
    assert file.read_at(100_000, 70_000) == DATA[100_000:170_000]
    assert file.counts()[0] == 4


def test_an_answer_that_stops_is_asked_for_again(server):
    server.odd["/d/odd"] = answering(usual, stalled)
    file = remote(server, "/d/odd", stall=0.5, attempts=20)
    assert file.read_at(100_000, 70_000) == DATA[100_000:170_000]


def test_what_was_received_before_a_break_is_not_asked_for_again(server):
    server.odd["/d/odd"] = answering(usual, cut_off)
    remote(server, "/d/odd").read_at(98_304, 32_768)
    assert [asked for _, asked in server.asked] == ["bytes=0-1023", "bytes=98304-131071", "bytes=114688-131071"]


def always(status, body=b"", headers=None, **options):
    def answer(handler, data, asked):
        del data, asked
        handler.reply(status, body, headers, **options)

    return answer


def shifted(handler, data, asked):
    start = asked[0] + 1
    handler.reply(206, data[start : asked[1] + 2], {"Content-Range": f"bytes {start}-{asked[1] + 1}/{len(data)}"})


def too_short(handler, data, asked):
    stop = asked[1] - 10
    handler.reply(206, data[asked[0] : stop + 1], {"Content-Range": f"bytes {asked[0]}-{stop}/{len(data)}"})


def too_long(handler, data, asked):
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes {asked[0]}-{asked[1]}/{len(data)}")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for piece in (data[asked[0] : asked[1] + 1], b"and more"):
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    handler.wfile.write(b"0\r\n\r\n")


def unsaid(handler, data, asked):
    handler.reply(206, data[asked[0] : asked[1] + 1])


def nonsense(handler, data, asked):
    handler.reply(206, data[asked[0] : asked[1] + 1], {"Content-Range": "bytes none"})


def packed(handler, data, asked):
    said = f"bytes {asked[0]}-{asked[1]}/{len(data)}"
    handler.reply(206, data[asked[0] : asked[1] + 1], {"Content-Range": said, "Content-Encoding": "gzip"})


def several(handler, data, asked):
    del data, asked
    handler.reply(206, b"--x\r\n", {"Content-Type": "multipart/byteranges; boundary=x"})


def all_of_it(handler, data, asked):
    del asked
    handler.reply(200, data)


def page(handler, data, asked):
    del asked
    body = b"<!DOCTYPE html><title>Log in</title>"
    said = {"Content-Type": "text/html", "Content-Range": f"bytes 0-{len(body) - 1}/{len(body)}"}
    handler.reply(206, body, said)
    del data


def drip(handler, data, asked):
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes {asked[0]}-{asked[1]}/{len(data)}")
    handler.send_header("Content-Length", str(asked[1] + 1 - asked[0]))
    handler.end_headers()
    for i in range(60):
        handler.wfile.write(data[asked[0] + i : asked[0] + i + 1])
        handler.wfile.flush()
        time.sleep(0.03)
    handler.close_connection = True


FAULTS = {
    "from 1 on": shifted,
    "1014 from 0 on": too_short,
    "more bytes than were asked for": too_long,
    "without saying which": unsaid,
    "makes no sense": nonsense,
    "compressed": packed,
    "several parts": several,
    "ignores Range": all_of_it,
    "an HTML page in place of the data": page,
    "HTML page": always(200, b"<html>", {"Content-Type": "text/html; charset=utf-8"}),
    "refuses access": always(403),
    "401": always(401),
    "answered 418": always(418),
    "answered 503 Service Unavailable .after 5 attempts": busy,
    "answer broke off": cut_off,
    "too slowly": drip,
    "without a place to go on to": always(302),
}


@pytest.mark.parametrize("words", FAULTS)
def test_what_does_not_pass_is_refused(server, words):
    server.odd["/d/odd"] = answering(*[FAULTS[words]] * 9)
    with pytest.raises(StoreError, match=words) as caught:
        remote(server, "/d/odd").stamp()
    assert caught.value.key == server.url + "/d/odd"


def test_a_server_that_is_not_there():
    with pytest.raises(StoreError, match="cannot connect"):
        native.RemoteFile("http://127.0.0.1:1/x", ["http://127.0.0.1:1/"], pause=0.001).stamp()


def test_a_file_that_is_not_there(server):
    with pytest.raises(NotFoundError):
        RemoteFile(server.url + "/d/none")
    with pytest.raises(NotFoundError):
        fetch(server.url + "/d/none")


@pytest.mark.parametrize("content", [b"", b"a", b"abc" * 400])
def test_small_files(server, content):
    server.files["/d/small"] = content
    assert RemoteFile(server.url + "/d/small").read() == content
    assert server.requests == 1


def test_a_whole_small_file_from_a_server_without_ranges(server):
    server.odd["/d/small"] = lambda handler, _data, _asked: handler.reply(200, b"all of it")
    assert RemoteFile(server.url + "/d/small").read() == b"all of it"


def test_a_file_that_changes(server):
    file = remote(server)
    file.stamp()
    server.files["/d/x.bin"] = DATA[::-1]
    with pytest.raises(StaleReferenceError, match="changed"):
        file.read_at(100_000, 10)


def test_a_file_that_changes_on_a_server_that_does_not_say_so_early(server):
    def plain(handler, data, asked):
        said = {"Content-Range": f"bytes {asked[0]}-{asked[1]}/{len(data) + len(server.asked)}"}
        handler.reply(206, data[asked[0] : asked[1] + 1], said)

    server.odd["/d/odd"] = answering(plain, plain)
    with pytest.raises(StaleReferenceError, match="it had 300001 bytes and has 300002"):
        remote(server, "/d/odd").read_at(100_000, 10)


def test_documents(server):
    assert fetch(server.url + "/d/x.bin") == DATA
    with pytest.raises(LimitError, match="more than 1000 bytes"):
        fetch(server.url + "/d/x.bin", limit=1000)
    server.odd["/d/page"] = always(200, b"<html>", {"Content-Type": "text/html"})
    with pytest.raises(StoreError, match="HTML"):
        fetch(server.url + "/d/page")


def test_passwords_and_signatures_are_not_shown(server):
    url = server.url.replace("//", "//me:secret@") + "/d/none?X-Signature=abc"
    with pytest.raises(StoreError) as caught:
        native.RemoteFile(url, ["*"]).stamp()
    assert "secret" not in str(caught.value)
    assert "abc" not in str(caught.value)


def test_closed_files_and_places_before_the_beginning(server):
    file = RemoteFile(Remote(server.url + "/d/x.bin"))
    with pytest.raises(OSError, match="nvalid"):
        file.seek(-1)
    assert file.seek(-10, 2) == len(DATA) - 10
    assert file.readinto(buffer := bytearray(20)) == 10
    assert bytes(buffer[:10]) == DATA[-10:]
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.read(1)
    with pytest.raises(UnsafeError):
        native.RemoteFile(server.url + "/d/x.bin", ["http://example.org/"])
