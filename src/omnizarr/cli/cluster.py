"""The option of long work that can be done elsewhere."""

from __future__ import annotations

from typing import Any, Protocol


class Adding(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **settings: Any) -> object:  # noqa: ANN401 - argparse's
        """Add an option."""
        ...


def add_cluster(parser: Adding) -> None:
    """Add `--cluster`."""
    parser.add_argument(
        "--cluster",
        metavar="WHERE",
        help="work on a Dask cluster: its scheduler's address, local:4, or local:4,memory=2GB (needs omnizarr[dask])",
    )
