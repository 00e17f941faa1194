"""CRC-32C, for indexes and chunks that are made by hand."""

from __future__ import annotations

from typing import Final


def _entry(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value


_TABLE: Final = [_entry(i) for i in range(256)]


def crc32c(data: bytes) -> int:
    """Return the checksum of RFC 3720.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF
