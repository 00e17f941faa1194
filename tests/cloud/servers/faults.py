"""Ways in which a server, or what lies between, can fail. Each is a function of an exchange."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from dataclasses import replace

from tests.cloud.servers.listing import error
from tests.cloud.servers.wire import Exchange, Response

Fault = Callable[[Exchange], Awaitable[None]]

PAGE = b"<!DOCTYPE html><html><head><title>Log in</title></head><body>Accept the terms of this network.</body></html>"


def status(code: int, name: str, **headers: str) -> Fault:
    """Refuse with a code of S3; "_" stands for "-" in names of headers."""
    said = {header.replace("_", "-"): value for header, value in headers.items()}

    async def fault(exchange: Exchange) -> None:
        await exchange.send(error(code, name, headers=said))

    fault.__qualname__ = f"{code} {name}"  # which the log shows
    return fault


missing = status(404, "NoSuchKey")
forbidden = status(403, "AccessDenied")
unauthorized = status(401, "Unauthorized")
expired = status(400, "ExpiredToken")
skewed = status(403, "RequestTimeTooSkewed")
throttled = status(429, "TooManyRequests")
throttled_for_a_second = status(429, "TooManyRequests", Retry_After="1")
internal = status(500, "InternalError")
busy = status(503, "SlowDown")
busy_for_no_time = status(503, "SlowDown", Retry_After="0")
precondition = status(412, "PreconditionFailed")
conflict = status(409, "ConditionalRequestConflict")


async def reset_before(exchange: Exchange) -> None:
    """Break off before anything is done or said."""
    exchange.status = -1
    exchange.reset()


async def hang_up(exchange: Exchange) -> None:
    """End the connection before anything is done or said."""
    exchange.status = -1
    exchange.close()


async def lost(exchange: Exchange) -> None:
    """Do what was asked for, and say nothing."""
    exchange.answer()
    exchange.close()


async def lost_by_reset(exchange: Exchange) -> None:
    """Do what was asked for, and break off."""
    exchange.answer()
    exchange.reset()


async def lost_then_busy(exchange: Exchange) -> None:
    """Do what was asked for, and say that it was not."""
    exchange.answer()
    await exchange.send(error(503, "SlowDown"))


async def reset_after_head(exchange: Exchange) -> None:
    await exchange.write(exchange.answer().head())
    exchange.reset()


async def truncated(exchange: Exchange) -> None:
    """Say the right length, and send half of it."""
    response = exchange.answer()
    await exchange.write(response.head() + response.body[: len(response.body) // 2])
    exchange.close()


async def longer(exchange: Exchange) -> None:
    """Send more than the length that was said."""
    response = exchange.answer()
    await exchange.write(response.head() + response.body + b"and more than that")
    exchange.close()


async def chunked_abort(exchange: Exchange) -> None:
    """Send in chunks, and end without the last one."""
    response = exchange.answer()
    half = response.body[: len(response.body) // 2]
    head = response.head(Content_Length="", Transfer_Encoding="chunked")
    await exchange.write(head + b"%x\r\n%s\r\n" % (len(half), half) if half else head)
    exchange.close()


def stall(seconds: float = 30.0) -> Fault:
    """Send half of the body, then nothing."""

    async def fault(exchange: Exchange) -> None:
        response = exchange.answer()
        await exchange.write(response.head() + response.body[: len(response.body) // 2])
        await exchange.idle(seconds)
        exchange.close()

    return fault


def silent(seconds: float = 30.0) -> Fault:
    """Say nothing at all."""

    async def fault(exchange: Exchange) -> None:
        await exchange.idle(seconds)
        exchange.close()

    return fault


def drip(pause: float = 1.0, most: int = 60) -> Fault:
    """Send the body byte by byte."""

    async def fault(exchange: Exchange) -> None:
        response = exchange.answer()
        await exchange.write(response.head())
        for i in range(min(len(response.body), most)):
            await exchange.write(response.body[i : i + 1])
            await asyncio.sleep(pause)
            if exchange.writer.is_closing():
                break
        exchange.close()

    return fault


async def range_ignored(exchange: Exchange) -> None:
    """Send all of the object, whatever was asked for."""
    exchange.request.ranged = False
    await exchange.send(exchange.answer())


async def wrong_range(exchange: Exchange) -> None:
    """Send another part of the object, and say so."""
    response = exchange.answer()
    said = response.headers.get("Content-Range")
    if said is None:
        said = f"bytes 0-{len(response.body) - 1}/{len(response.body)}"
    first, _, rest = said.removeprefix("bytes ").partition("-")
    last, _, size = rest.partition("/")
    shifted = f"bytes {int(first) + 1}-{int(last) + 1}/{int(size) + 1}"
    body = response.body[1:] + b"\0"
    await exchange.send(Response(206, body, {**response.headers, "Content-Range": shifted}))


async def other_version(exchange: Exchange) -> None:
    """Send bytes of another version of the object."""
    response = exchange.answer()
    body = bytes(byte ^ 255 for byte in response.body)
    await exchange.send(replace(response, body=body, headers={**response.headers, "ETag": '"another"'}))


async def compressed(exchange: Exchange) -> None:
    """Send the object compressed, which nobody asked for."""
    response = exchange.answer()
    headers = {**response.headers, "Content-Encoding": "gzip"}
    await exchange.send(replace(response, body=gzip.compress(response.body, 1), headers=headers))


async def html(exchange: Exchange) -> None:
    """Send a page to log in, as if it were the object."""
    exchange.answer()
    await exchange.send(Response(200, PAGE, {"Content-Type": "text/html; charset=utf-8"}))


async def html_as_range(exchange: Exchange) -> None:
    """Send a page to log in that says it is the range, by a portal that does not say what it is."""
    response = exchange.answer()
    await exchange.send(replace(response, body=PAGE, headers={**response.headers, "Content-Type": "text/html"}))


async def page_loop(exchange: Exchange) -> None:
    """Give the same page of a listing again, with a token that leads back to it."""
    exchange.request.query.pop("continuation-token", None)
    response = exchange.answer()
    body = response.body.replace(b"<IsTruncated>false", b"<IsTruncated>true")
    if b"NextContinuationToken" not in body:
        body = body.replace(
            b"</ListBucketResult>", b"<NextContinuationToken>Lw==</NextContinuationToken></ListBucketResult>"
        )
    await exchange.send(replace(response, body=body))


PASSING = (
    throttled,
    internal,
    busy,
    busy_for_no_time,
    reset_before,
    hang_up,
    reset_after_head,
    truncated,
    longer,
    chunked_abort,
)
"""What a client gets over by asking again."""

ODD = (range_ignored, wrong_range, other_version, compressed, html)
"""Answers that are not what was asked for."""
