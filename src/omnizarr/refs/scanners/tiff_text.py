"""What programs write into the texts of TIFF files: GDAL's metadata, and how tifffile, ImageJ and OME arrange pages."""

from __future__ import annotations

import json
from math import prod
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree as ET

from omnizarr.refs.scanners.tiff_file import Directory

_TEXTS: Final = {
    269: "DocumentName",
    270: "ImageDescription",
    271: "Make",
    272: "Model",
    285: "PageName",
    305: "Software",
    306: "DateTime",
    315: "Artist",
    316: "HostComputer",
    33432: "Copyright",
}
_GDAL: Final = 42112
_MOST_TEXT: Final = 1 << 20
_DESCRIPTION: Final = 270


class Leading(NamedTuple):
    """How pages are arranged: the dimensions before those of a page."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    order: tuple[int, ...] | None = None
    """Which page each place has, where that is not the order of the file."""
    one_block: bool = False
    """Whether only the first page has a directory, and the others follow its data."""


def attributes(directory: Directory) -> dict[str, Any]:
    """Return the texts of an image as attributes."""
    texts = {name: directory.text(tag) for tag, name in _TEXTS.items()}
    return {name: text for name, text in texts.items() if text and len(text) <= _MOST_TEXT}


class GdalItems(NamedTuple):
    """GDAL's metadata: of the image, and of each of its bands."""

    image: dict[str, Any]
    bands: dict[int, dict[str, Any]]


def gdal_items(directory: Directory) -> GdalItems:
    """Read GDAL's metadata; what is not well-formed is left out, for it is only said in passing."""
    made = GdalItems({}, {})
    root = _xml(directory.text(_GDAL))
    for item in root.iter("Item") if root is not None else ():
        name, sample, role = item.get("role") or item.get("name"), item.get("sample"), item.get("role")
        if not name or (domain := item.get("domain")) in ("IMAGE_STRUCTURE", "DERIVED_SUBDATASETS"):
            continue
        place = made.image if sample is None or not sample.isdecimal() else made.bands.setdefault(int(sample), {})
        place[f"{domain}:{name}" if domain and not role else name] = item.text or ""
    return made


def _xml(text: str) -> ET.Element | None:
    # Entities are the one way in which a small text becomes a large one, and nobody has use for them here.
    if not text.lstrip().startswith("<") or "<!" in text.replace("<!--", "") or len(text) > 64 * _MOST_TEXT:
        return None
    try:
        return ET.fromstring(text.strip())  # noqa: S314 - has no entities, see above
    except ET.ParseError:
        return None


def leading(directory: Directory, count: int, shape: tuple[int, ...]) -> Leading:
    """Find out how pages that are all alike are arranged.

    Args:
        directory: The first page.
        count: How many there are.
        shape: The shape of each.
    """
    text = directory.text(_DESCRIPTION)
    found = None
    if text.startswith('{"shape":'):
        found = _of_tifffile(text, count, shape)
    elif text.startswith("ImageJ="):
        found = _of_imagej(text, count)
    elif "<OME" in text[:2000]:
        found = _of_ome(text, count, shape)
    if found is not None:
        return found
    return Leading(("page",), (count,)) if count > 1 else Leading((), ())


def _of_tifffile(text: str, count: int, shape: tuple[int, ...]) -> Leading | None:
    try:
        said = json.loads(text)
        sizes = [int(n) for n in said["shape"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    page = [n for n in shape if n > 1]
    one_block = said.get("truncated") is True and count == 1
    for at in range(len(sizes) + 1):
        pages = prod(sizes[:at])
        if [n for n in sizes[at:] if n > 1] == page and (pages == count or (one_block and pages > 1)):
            axes = said.get("axes")
            named = isinstance(axes, str) and len(axes) == len(sizes)
            names = [axes[i].lower() if named else f"dim_{i}" for i in range(at)]
            if not named and at == 1:
                names = ["page"]
            kept = [i for i in range(at) if sizes[i] > 1]
            distinct = [names[i] for i in kept]
            if len(set(distinct)) < len(distinct) or {"y", "x", "band"} & set(distinct):
                distinct = [f"dim_{i}" for i in kept]
            return Leading(tuple(distinct), tuple(sizes[i] for i in kept), one_block=one_block)
    return None


def _of_imagej(text: str, count: int) -> Leading | None:
    said = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    numbers = {name: int(value) for name, value in said.items() if value.isdecimal()}
    images = numbers.get("images", count)
    sizes = {"t": numbers.get("frames", 1), "z": numbers.get("slices", 1), "c": numbers.get("channels", 1)}
    sizes = {name: n for name, n in sizes.items() if n > 1}
    if prod(sizes.values()) != images:
        sizes = {"page": images} if images > 1 else {}
    if images == count or (count == 1 and images > 1):
        return Leading(tuple(sizes), tuple(sizes.values()), one_block=images != count)
    return None


def _of_ome(text: str, count: int, shape: tuple[int, ...]) -> Leading | None:
    root = _xml(text)
    images = [one for one in root.iter() if one.tag.endswith("}Image")] if root is not None else []
    pixels = [one for one in images[0] if one.tag.endswith("}Pixels")] if len(images) == 1 else []
    if not pixels:
        return None
    said = pixels[0].attrib
    order = said.get("DimensionOrder", "")
    if sorted(order) != sorted("XYZCT") or not all(said.get(f"Size{one}", "").isdecimal() for one in "ZCT"):
        return None
    sizes = {one: int(said[f"Size{one}"]) for one in "ZCT"}
    channel = next((one for one in pixels[0] if one.tag.endswith("}Channel")), None)
    samples = channel.get("SamplesPerPixel", "1") if channel is not None else "1"
    if samples.isdecimal() and int(samples) > 1 and int(samples) in shape and sizes["C"] % int(samples) == 0:
        sizes["C"] //= int(samples)
    if prod(sizes.values()) != count:
        return None
    slow_first = [one for one in reversed(order) if one in sizes]
    permutation = _ome_order([one for one in pixels[0] if one.tag.endswith("}TiffData")], sizes, slow_first, count)
    if permutation is None:
        return None
    kept = [one for one in slow_first if sizes[one] > 1]
    plain = permutation == tuple(range(count))
    return Leading(
        tuple(one.lower() for one in kept), tuple(sizes[one] for one in kept), None if plain else permutation
    )


def _ome_order(
    data: list[ET.Element], sizes: dict[str, int], slow_first: list[str], count: int
) -> tuple[int, ...] | None:
    """Return the page of each place; `None` where the elements do not tell that of every one."""
    pages = [-1] * count
    if not data:
        return tuple(range(count))
    for one in data:
        numbers = {name: int(value) for name, value in one.attrib.items() if value.isdecimal()}
        if len(one):
            return None  # planes in other files
        start = 0
        for axis in slow_first:
            start = start * sizes[axis] + numbers.get(f"First{axis}", 0)
        first = numbers.get("IFD", 0)
        many = numbers.get("PlaneCount", 1 if "IFD" in numbers else count)
        if start + many > count or first + many > count:
            return None
        pages[start : start + many] = range(first, first + many)
    return tuple(pages) if sorted(pages) == list(range(count)) else None
