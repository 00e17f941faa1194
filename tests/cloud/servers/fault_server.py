"""An S3 server in a thread of the tests, which fails by plan and keeps a log.

`python -m tests.cloud.servers.fault_server` runs one by hand and prints its address and keys.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from tests.cloud.servers.instance import instance_answer
from tests.cloud.servers.objects import Bucket, Object
from tests.cloud.servers.plan import Plan
from tests.cloud.servers.s3 import S3
from tests.cloud.servers.sigv4 import Account
from tests.cloud.servers.wire import Exchange, Request, Response, read_request


class Asked(NamedTuple):
    """One request, as the log keeps it."""

    kind: str
    bucket: str
    key: str
    range: str | None
    status: int
    """Of the answer; -1 where there was none and nothing was done."""
    fault: str
    """The name of what went wrong on purpose, empty if nothing did."""


class FaultServer:
    """The handle that tests hold: its objects, its plan, its log."""

    def __init__(self, *, key: str = "minio", secret: str = "of/the+server") -> None:
        self.s3 = S3()
        self.plan = Plan()
        self.log: list[Asked] = []
        self.latency = 0.0
        self.port = 0
        self.key, self.secret = key, secret
        self.s3.accounts[key] = Account(secret)
        self.sent_off = 0
        """How many temporary keys the metadata service has given out."""
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def options(self) -> dict[str, str]:
        """The `storage_options` that reach it."""
        return {"key": self.key, "secret": self.secret, "endpoint_url": self.url}

    def bucket(self, name: str = "bucket") -> Bucket:
        """Give a bucket, which is made if it is not there."""
        return self.s3.buckets.setdefault(name, Bucket())

    def put(self, bucket: str, key: str, data: bytes) -> None:
        """Put an object, by no request."""
        self.bucket(bucket).put(key, Object(data))

    def data(self, bucket: str, key: str) -> bytes:
        """Give the bytes of an object, by no request."""
        return self.s3.buckets[bucket].objects[key].data

    def count(self, *kinds: str) -> int:
        """Count the requests of some kinds, or all."""
        return sum(1 for one in self.log if not kinds or one.kind in kinds)

    def counts(self) -> collections.Counter[str]:
        return collections.Counter(one.kind for one in self.log)

    def faults(self) -> collections.Counter[str]:
        """Count what went wrong on purpose."""
        return collections.Counter(one.fault for one in self.log if one.fault)

    def forget(self) -> None:
        """Begin a new log."""
        self.log.clear()

    def fresh(self, s3: S3 | None = None) -> None:
        """Be as new: no objects, no plan, no log."""
        self.plan.clear()
        self.log.clear()
        self.latency = 0.0
        self.sent_off = 0
        self.s3 = s3 or S3()
        self.s3.accounts[self.key] = Account(self.secret)

    # --- serving ------------------------------------------------------------------------------------------------------

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (request := await read_request(reader, writer)) is not None:
                exchange = Exchange(request, self._answer, (reader, writer))
                await self._one(exchange)
                if not exchange.keep or request.headers.get("connection", "").lower() == "close":
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, exchange: Exchange) -> None:
        request = exchange.request
        self.s3.name(request)
        asked = request.headers.get("range")
        if self.latency:
            await asyncio.sleep(self.latency)
        fault = self.plan.take(request)
        name = "" if fault is None else getattr(fault, "__qualname__", "").split(".")[0]
        place = len(self.log)
        self.log.append(Asked(request.kind, request.bucket, request.key, asked, 0, name))
        try:
            if fault is None:
                await exchange.send(exchange.answer())
            else:
                await fault(exchange)
        finally:
            if place < len(self.log):
                self.log[place] = self.log[place]._replace(status=exchange.status)

    def _answer(self, request: Request) -> Response:
        return instance_answer(self, request) or self.s3.answer(request)

    async def _main(self, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=1 << 20, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._end.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.sleep(0)

    def start(self) -> threading.Thread:
        started = threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(self._main(started)), daemon=True)
        thread.start()
        started.wait()
        return thread

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)


@contextlib.contextmanager
def fault_server() -> Iterator[FaultServer]:
    """Run a server in a thread."""
    server = FaultServer()
    thread = server.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(5)


if __name__ == "__main__":
    with fault_server() as one:
        one.bucket()
        print(f"endpoint_url={one.url} key={one.key} secret={one.secret} bucket=bucket", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                time.sleep(60)
