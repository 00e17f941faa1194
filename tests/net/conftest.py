"""A server for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.net.serving import Served, serving


@pytest.fixture
def server() -> Iterator[Served]:
    """Files on a port of this machine."""
    with serving() as served:
        yield served
