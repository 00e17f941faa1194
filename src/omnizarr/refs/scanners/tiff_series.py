"""Which images of a TIFF file belong together: pages of one array, smaller versions of it, and masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from omnizarr.refs.scanners.tiff_file import TiffFile
from omnizarr.refs.scanners.tiff_page import MASK, REDUCED, Page, read_page

Level = list[Page]
"""Pages of one layout, which make up an array."""

_MOST_LEVELS: Final = 64


@dataclass(slots=True)
class Series:
    """An image, or a stack of images, and smaller versions of it."""

    levels: list[Level] = field(default_factory=list[Level])
    masks: list[Level] = field(default_factory=list[Level])


@dataclass(slots=True)
class _Main:
    """A page of full size with what follows it."""

    page: Page
    reduced: list[Page] = field(default_factory=list[Page])
    masks: list[Page] = field(default_factory=list[Page])


def read_series(file: TiffFile, url: str) -> list[Series]:
    """Read all pages of a file, and put them together.

    Raises:
        CorruptError: If the file is damaged.
        UnsupportedError: If an image is of a kind that has no array.
    """
    mains: list[_Main] = []
    for directory in file.directories():
        page = read_page(directory, file.size, url)
        if page.kind & MASK and mains:
            mains[-1].masks.append(page)
        elif page.kind & REDUCED and mains:
            mains[-1].reduced.append(page)
        else:
            below = [read_page(file.directory(at)[0], file.size, url) for at in page.below[:_MOST_LEVELS] if at]
            mains.append(_Main(page, below))
    if not mains:
        raise file.corrupt("there is no image in it")
    if _agree([one.page for one in mains]):
        levels = _levels([one.reduced for one in mains])
        masks = _levels([one.masks for one in mains])
        if levels is not None and masks is not None:
            return [Series([[one.page for one in mains], *levels], masks)]
    return [Series([[one.page], *([page] for page in one.reduced)], [[page] for page in one.masks]) for one in mains]


def _agree(pages: Sequence[Page]) -> bool:
    return all(page.layout == pages[0].layout for page in pages)


def _levels(groups: list[list[Page]]) -> list[Level] | None:
    """Put the n-th pages of all groups together; `None` if they do not agree."""
    if len({len(group) for group in groups}) > 1:
        return None
    levels = [list(level) for level in zip(*groups, strict=True)]
    return levels if all(_agree(level) for level in levels) else None
