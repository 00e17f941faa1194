"""Which cluster: its words, as a command or a caller gives them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from omnizarr.errors import SelectionError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]i?)?b?", re.IGNORECASE)
_WORDS = "Give the address of a scheduler (tcp://host:8786), or local:4 or local:4,memory=2GB for workers here."


class Local(NamedTuple):
    """A cluster on this machine, made for the work and gone afterwards."""

    workers: int
    memory: int | None = None
    """Bytes of each worker; an equal share of the machine's if not given."""

    threads: int = 1
    """Tasks that a worker does at once; each uses the kernel's threads besides."""


def cluster_spec(given: Any) -> Local | Any:  # noqa: ANN401 - an address, or an object of Dask's
    """Understand what a caller names: `local:…`, an address, or a client or cluster of Dask's as it is.

    Raises:
        SelectionError: It is none of these.

    >>> cluster_spec("local:4"), cluster_spec("local:2,memory=512MB,threads=2"), cluster_spec("tcp://10.0.0.1:8786")
    (Local(workers=4, memory=None, threads=1), Local(workers=2, memory=512000000, threads=2), 'tcp://10.0.0.1:8786')
    """
    if not isinstance(given, str):
        return given
    kind, _, rest = given.partition(":")
    if kind != "local":
        if not given or ("://" not in given and not re.fullmatch(r"[^\s:/]+:\d+", given)):
            raise SelectionError(f"{given!r} is no cluster", hint=_WORDS)
        return given
    count, *words = rest.split(",")
    try:
        found: dict[str, int] = {"workers": int(count)}
        for word in words:
            name, _, value = word.partition("=")
            found[name.strip()] = _size(value) if name.strip() == "memory" else int(value)
        local = Local(**found)
    except (ValueError, TypeError):
        raise SelectionError(f"{given!r} is no cluster", hint=_WORDS) from None
    if min(local.workers, local.threads) < 1:
        raise SelectionError(f"{given!r} has no workers", hint=_WORDS)
    return local


def _size(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return int(float(found[1]) * _UNITS[(found[2] or "").lower()])
