"""Numbers of bytes, for people."""

from __future__ import annotations


def human_bytes(size: float) -> str:
    """Return a number of bytes in the unit that suits it, in powers of 1000.

    >>> human_bytes(999), human_bytes(1_500_000)
    ('999 B', '1.5 MB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 999.95:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} PB"
