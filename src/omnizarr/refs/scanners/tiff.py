"""TIFF files as references: BigTIFF, GeoTIFF, cloud-optimised files with overviews, stacks of pages.

The image of full size is the array `0`, smaller versions of it are `1`, `2` and so on; pages that agree are stacked.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from omnizarr.errors import UnsupportedError, warn
from omnizarr.format.fill_attribute import fill_attribute
from omnizarr.model.grid import RectilinearGrid
from omnizarr.refs.scanners import tiff_geo, tiff_text
from omnizarr.refs.scanners.building import Builder
from omnizarr.refs.scanners.picking import Picked
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refs.scanners.tiff_chunks import Pieces, pieces
from omnizarr.refs.scanners.tiff_file import Directory, TiffFile
from omnizarr.refs.scanners.tiff_page import Layout, Page
from omnizarr.refs.scanners.tiff_series import Level, Series, read_series
from omnizarr.refset.model import Chunks, References

_COLOURS: Final = 320
_MOST_COLOURS: Final = 3 * 256


def scan(source: SourceFile, options: Options = DEFAULTS) -> References:
    """Find the images of a TIFF file.

    Raises:
        CorruptError: If the file is damaged.
        UnsupportedError: If an image cannot be read through references.
    """
    with source.open() as file:
        tiff = TiffFile(file, source.url)
        series = read_series(tiff, source.url)
        return _Scan(source, tiff, options).run(series)


class _Array:
    """An array of the file, on its way into the set."""

    def __init__(self, path: str, level: Level, dims: list[str], made: Pieces, attrs: dict[str, Any]) -> None:
        self.path, self.layout, self.dims, self.made, self.attrs = path, level[0].layout, dims, made, attrs


class _Scan:
    def __init__(self, source: SourceFile, file: TiffFile, options: Options) -> None:
        self._source, self._file, self._options = source, file, options
        self._sizes: dict[tuple[str, str], int] = {}
        """The lengths of dimensions by group and name: in a group, one name has one length."""
        self._coordinates: dict[str, tuple[dict[str, str], Any]] = {}

    def run(self, series: list[Series]) -> References:
        nested = len(series) > 1 and any(len(one.levels) > 1 or one.masks for one in series)
        named = [
            (self._path(i, j, nested), one, level) for i, one in enumerate(series) for j, level in enumerate(one.levels)
        ]
        named += [
            (f"{i}/{name}" if nested else name, one, level)
            for i, one in enumerate(series)
            for name, level in _masks(one, "" if nested or len(series) == 1 else f"{i}_")
        ]
        picked = Picked(self._options, [path for path, _, _ in named])
        arrays: list[_Array] = []
        for path, one, level in named:
            if picked(path):
                self._add(arrays, path, one, level)
        uneven = any(isinstance(array.made.chunks, RectilinearGrid) for array in arrays)
        made = Builder(self._source, "zarr3" if uneven else "zarr2", self._options.inline)
        first = series[0].levels[0][0].directory
        made.group("", self._root_attributes(first, series, nested=nested))
        for i, one in enumerate(series) if nested else ():
            made.group(str(i), {**_multiscales(one), **tiff_text.attributes(one.levels[0][0].directory)})
        for array in arrays:
            _emit(made, array)
        for name, (attrs, values) in self._coordinates.items():
            rows = Chunks.of_bytes((1,), {0: values.astype("<f8").tobytes()})
            dims = [name.rpartition("/")[2]]
            made.array(
                name,
                rows,
                shape=values.shape,
                chunks=values.shape,
                dtype="<f8",
                codecs=None,
                fill_value=None,
                dims=dims,
                attrs=attrs,
            )
        return made.references

    @staticmethod
    def _path(i: int, j: int, nested: bool) -> str:
        return f"{i}/{j}" if nested else str(i + j)

    def _root_attributes(self, first: Directory, series: list[Series], *, nested: bool) -> dict[str, Any]:
        found = {**tiff_geo.attributes(first), **tiff_text.attributes(first), **tiff_text.gdal_items(first).image}
        return found if nested or len(series) > 1 else {**found, **_multiscales(series[0])}

    def _add(self, arrays: list[_Array], path: str, series: Series, level: Level) -> None:
        layout = level[0].layout
        where = f"{self._source.url}: the image {path}"
        shape = _page_shape(layout)
        main = series.levels[0]
        lead = tiff_text.leading(main[0].directory, len(main), _page_shape(main[0].layout))
        if lead.one_block and level is not main:
            lead = tiff_text.Leading((), ())
        pages = [level[i] for i in lead.order] if lead.order else level
        try:
            made = pieces(pages, lead.sizes, self._file.order, self._file.read, where, block=lead.one_block)
        except UnsupportedError as error:
            if self._options.on_error == "raise":
                raise
            warn(f"left out: {error}")
            return
        names = ("band", "y", "x") if layout.planar else ("y", "x", "band")[: len(shape)]
        group = path.rpartition("/")[0]
        dims = [
            self._dim(group, name, size, path) for name, size in zip((*lead.names, *names), made.shape, strict=True)
        ]
        arrays.append(_Array(path, level, dims, made, _attributes(layout, level[0], series.levels[0][0])))
        self._locate(series, layout, dims, group)

    def _dim(self, group: str, name: str, size: int, path: str) -> str:
        if self._sizes.setdefault((group, name), size) == size:
            return name
        other = f"{name}{path.rpartition('/')[2]}"
        self._sizes[group, other] = size
        return other

    def _locate(self, series: Series, layout: Layout, dims: list[str], group: str) -> None:
        """Add coordinates, where the image has them."""
        full = series.levels[0][0]
        grid = tiff_geo.grid_of(tiff_geo.attributes(full.directory))
        if grid is None:
            return
        sizes, whole = (layout.length, layout.width), (full.layout.length, full.layout.width)
        at = 1 if layout.planar else 0
        lead = len(dims) - len(_page_shape(layout))
        for (attrs, values), name in zip(tiff_geo.coordinates(grid, sizes, whole), dims[lead + at :], strict=False):
            self._coordinates.setdefault(f"{group}/{name}" if group else name, (attrs, values))


def _page_shape(layout: Layout) -> tuple[int, ...]:
    if layout.planar:
        return layout.samples, layout.length, layout.width
    return (layout.length, layout.width, *((layout.samples,) if layout.samples > 1 else ()))


def _masks(series: Series, prefix: str) -> list[tuple[str, Level]]:
    return [(f"{prefix}mask{i or ''}", level) for i, level in enumerate(series.masks)]


def _multiscales(series: Series) -> dict[str, Any]:
    if len(series.levels) == 1:
        return {}
    paths = [{"path": str(i)} for i in range(len(series.levels))]
    return {"multiscales": [{"version": "0.1", "name": "", "datasets": paths, "metadata": {}}]}


def _emit(made: Builder, array: _Array) -> None:
    pieces = array.made
    dtype = pieces.encoding.dtype
    fill = _fill(array.layout.nodata, dtype)
    attrs = {**array.attrs, **fill_attribute(fill, dtype, made.dialect)}
    made.array(
        array.path,
        pieces.rows,
        shape=pieces.shape,
        chunks=pieces.chunks,
        dtype=dtype,
        codecs=pieces.encoding.codecs or None,
        fill_value=0 if fill is None and made.dialect == "zarr3" else fill,
        dims=array.dims,
        attrs=attrs,
    )


def _fill(nodata: str, dtype: np.dtype[Any]) -> float | int | None:
    """Return the value that means "no data", if the type has it."""
    try:
        value = float(nodata)
    except ValueError:
        return None
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        try:
            whole = int(nodata)
        except ValueError:
            whole = int(value) if math.isfinite(value) and value.is_integer() else limits.max + 1
        return whole if limits.min <= whole <= limits.max else None
    return value if dtype.kind == "f" else None


def _attributes(layout: Layout, page: Page, main: Page) -> dict[str, Any]:
    """Return the attributes of an array: how to scale its values, and what its bands are."""
    found: dict[str, Any] = {}
    if layout.nodata:
        found["nodata"] = layout.nodata
    bands = tiff_text.gdal_items(main.directory).bands
    for name, role, default in (("scale_factor", "scale", 1.0), ("add_offset", "offset", 0.0)):
        given = [_number(bands.get(i, {}).pop(role, None), default) for i in range(layout.samples if bands else 0)]
        if any(one != default for one in given):
            same = all(one == given[0] for one in given)
            found[name if same else f"{role}s"] = given[0] if same else given
    described = {str(i): items for i, items in bands.items() if items}
    if described:
        found["bands"] = described
    colours = page.directory.numbers(_COLOURS) if _COLOURS in page.directory else None
    if colours and len(colours) <= _MOST_COLOURS:
        size = len(colours) // 3
        found["ColorMap"] = [colours[i * size : (i + 1) * size] for i in range(3)]
    return found


def _number(text: str | None, default: float) -> float:
    try:
        return default if text is None else float(text)
    except ValueError:
        return default
