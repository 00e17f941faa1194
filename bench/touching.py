"""Memory that is there before a race: a virtual machine gets what it has not used for a while only slowly."""

from __future__ import annotations

import mmap


def touch(size: int) -> None:
    """Use as many bytes in this process, and give them back.

    For a clock that starts right after: where free memory is reported to the host of a virtual machine, that begins to
    take it back two seconds later.
    """
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    for at in range(0, size, 4096):
        memory[at] = 1
    memory.close()
