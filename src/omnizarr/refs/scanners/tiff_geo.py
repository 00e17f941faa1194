"""Where a GeoTIFF image lies on the Earth: its keys as attributes, and coordinates where rows run along an axis.

OGC GeoTIFF 1.1: https://docs.ogc.org/is/19-008r4/19-008r4.html
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from omnizarr.refs.scanners.tiff_file import Directory

_SCALE: Final = 33550
_TIE_POINTS: Final = 33922
_TRANSFORM: Final = 34264
_KEYS: Final = 34735
_DOUBLES: Final = 34736
_TEXTS: Final = 34737

_RASTER_TYPE: Final = "GTRasterTypeGeoKey"
_MODEL_TYPE: Final = "GTModelTypeGeoKey"

_NAMES: Final = {
    1024: _MODEL_TYPE,
    1025: _RASTER_TYPE,
    1026: "GTCitationGeoKey",
    2048: "GeographicTypeGeoKey",
    2049: "GeogCitationGeoKey",
    2050: "GeogGeodeticDatumGeoKey",
    2051: "GeogPrimeMeridianGeoKey",
    2052: "GeogLinearUnitsGeoKey",
    2053: "GeogLinearUnitSizeGeoKey",
    2054: "GeogAngularUnitsGeoKey",
    2055: "GeogAngularUnitSizeGeoKey",
    2056: "GeogEllipsoidGeoKey",
    2057: "GeogSemiMajorAxisGeoKey",
    2058: "GeogSemiMinorAxisGeoKey",
    2059: "GeogInvFlatteningGeoKey",
    2060: "GeogAzimuthUnitsGeoKey",
    2061: "GeogPrimeMeridianLongGeoKey",
    2062: "GeogTOWGS84GeoKey",
    3072: "ProjectedCSTypeGeoKey",
    3073: "PCSCitationGeoKey",
    3074: "ProjectionGeoKey",
    3075: "ProjCoordTransGeoKey",
    3076: "ProjLinearUnitsGeoKey",
    3077: "ProjLinearUnitSizeGeoKey",
    3078: "ProjStdParallel1GeoKey",
    3079: "ProjStdParallel2GeoKey",
    3080: "ProjNatOriginLongGeoKey",
    3081: "ProjNatOriginLatGeoKey",
    3082: "ProjFalseEastingGeoKey",
    3083: "ProjFalseNorthingGeoKey",
    3084: "ProjFalseOriginLongGeoKey",
    3085: "ProjFalseOriginLatGeoKey",
    3086: "ProjFalseOriginEastingGeoKey",
    3087: "ProjFalseOriginNorthingGeoKey",
    3088: "ProjCenterLongGeoKey",
    3089: "ProjCenterLatGeoKey",
    3090: "ProjCenterEastingGeoKey",
    3091: "ProjCenterNorthingGeoKey",
    3092: "ProjScaleAtNatOriginGeoKey",
    3093: "ProjScaleAtCenterGeoKey",
    3094: "ProjAzimuthAngleGeoKey",
    3095: "ProjStraightVertPoleLongGeoKey",
    3096: "ProjRectifiedGridAngleGeoKey",
    4096: "VerticalCSTypeGeoKey",
    4097: "VerticalCitationGeoKey",
    4098: "VerticalDatumGeoKey",
    4099: "VerticalUnitsGeoKey",
}
_USER_DEFINED: Final = 32767
_MOST_TIE_POINTS: Final = 6 * 1024


class Grid(NamedTuple):
    """Coordinates of rows and columns, as lines: where the first pixel's outer edge is, and a pixel's size."""

    x: tuple[float, float]
    y: tuple[float, float]
    at_edges: bool
    """Whether the coordinates belong to the pixels' corners rather than their centres."""
    geographic: bool


def attributes(directory: Directory) -> dict[str, Any]:
    """Return what the tags and keys of GeoTIFF say, in words; nothing for other images."""
    found: dict[str, Any] = {}
    for name, tag in (("ModelPixelScale", _SCALE), ("ModelTiepoint", _TIE_POINTS), ("ModelTransformation", _TRANSFORM)):
        values = directory.floats(tag)
        if values and len(values) <= _MOST_TIE_POINTS and np.isfinite(values).all():
            found[name] = values
    keys = directory.numbers(_KEYS)
    if not keys or len(keys) < 4:
        return found
    doubles, texts = directory.floats(_DOUBLES), directory.text(_TEXTS)
    for at in range(4, min(len(keys) - 3, 4 * (keys[3] + 1)), 4):
        number, place, count, value = keys[at : at + 4]
        name = _NAMES.get(number, f"GeoKey{number}")
        if place == 0:
            found[name] = value
        elif place == _DOUBLES:
            part = doubles[value : value + count]
            found[name] = part[0] if len(part) == 1 else part
        elif place == _TEXTS:
            found[name] = texts[value : value + count].rstrip("|")
    return found | _crs(found)


def _crs(found: dict[str, Any]) -> dict[str, Any]:
    """Name the reference system by its number, where it has one."""
    for name in ("ProjectedCSTypeGeoKey", "GeographicTypeGeoKey"):
        code = found.get(name)
        if isinstance(code, int) and 0 < code < _USER_DEFINED:
            return {"crs": f"EPSG:{code}"}
    return {}


def grid_of(found: dict[str, Any]) -> Grid | None:
    """Return the lines of coordinates, if rows and columns run along axes."""
    at_edges = found.get(_RASTER_TYPE, 1) != 2
    geographic = found.get(_MODEL_TYPE) == 2
    scale, tie, matrix = (found.get(name) for name in ("ModelPixelScale", "ModelTiepoint", "ModelTransformation"))
    if matrix is not None and len(matrix) == 16:
        if matrix[1] or matrix[4]:
            return None
        return Grid((matrix[3], matrix[0]), (matrix[7], matrix[5]), at_edges, geographic)
    if scale is None or tie is None or len(scale) < 2 or len(tie) != 6:
        return None
    column, row, _, x, y, _ = tie
    return Grid((x - column * scale[0], scale[0]), (y + row * scale[1], -scale[1]), at_edges, geographic)


def coordinates(
    grid: Grid, sizes: tuple[int, int], full: tuple[int, int]
) -> list[tuple[dict[str, str], npt.NDArray[np.float64]]]:
    """Return the coordinates of rows and of columns, each with attributes.

    Args:
        grid: The lines of the full image.
        sizes: Rows and columns of this version of it.
        full: Those of the full image.
    """
    made: list[tuple[dict[str, str], npt.NDArray[np.float64]]] = []
    for (start, step), size, whole, axis in zip((grid.y, grid.x), sizes, full, "yx", strict=True):
        ratio = whole / size
        shift = 0.5 if grid.at_edges else 0.0
        # A pixel of a smaller version covers `ratio` pixels of the full image, and its centre moves with them.
        first = start + step * (shift * ratio if grid.at_edges else (ratio - 1) / 2)
        attrs = {"axis": axis.upper()}
        if grid.geographic:
            name = "latitude" if axis == "y" else "longitude"
            attrs |= {"standard_name": name, "units": "degrees_north" if axis == "y" else "degrees_east"}
        else:
            attrs["standard_name"] = f"projection_{axis}_coordinate"
        made.append((attrs, first + step * ratio * np.arange(size, dtype=np.float64)))
    return made
