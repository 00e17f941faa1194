"""Memory that is there before a race: a virtual machine gets what it has not used for a while only slowly."""

from __future__ import annotations

import mmap
import subprocess
import sys
from typing import Final

_TOUCHING: Final = """
import mmap, sys
for advice in (mmap.MADV_HUGEPAGE, mmap.MADV_NOHUGEPAGE):
    memory = mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(advice)
    for at in range(0, len(memory), 4096):
        memory[at] = 1
    memory.close()
"""


def touch(size: int) -> None:
    """Use as many bytes as a contender will, in a process that ends."""
    subprocess.run([sys.executable, "-c", _TOUCHING, str(size)], check=True)


def touch_here(size: int) -> None:
    """Use as many bytes in this process, and give them back.

    For a clock that starts right after: where free memory is reported to the host of a virtual machine, that begins to
    take it back two seconds later.
    """
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    for at in range(0, size, 4096):
        memory[at] = 1
    memory.close()
