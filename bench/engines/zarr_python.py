"""zarr-python with its default pipeline, its fused one, and the one of zarrs."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numcodecs
import numpy as np
import zarr
import zarr.core.codec_pipeline
from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, TransposeCodec, ZstdCodec

from bench.data import Floats
from bench.engines.base import Engine, Handle, Unsupported, array_path, fresh
from bench.layout import V2_COMPRESSOR, Layout


class ZarrPython(Engine):
    """As installed."""

    pipeline: ClassVar[str] = "zarr.core.codec_pipeline.BatchedCodecPipeline"

    def __init__(self) -> None:
        warnings.simplefilter("ignore")
        zarr.config.set({"codec_pipeline.path": self.pipeline})

    def version(self) -> str:
        return str(zarr.__version__)

    def cold(self, base: Path, layout: Layout) -> str:
        return (
            f"import zarr; zarr.config.set({{'codec_pipeline.path': {self.pipeline!r}}}); "
            f"zarr.open_array({str(array_path(base))!r}, mode='r', zarr_format={layout.version})[0, 0, 0]"
        )

    def create(self, base: Path, layout: Layout) -> Handle:
        zarr.open_group(str(fresh(base)), mode="w", zarr_format=layout.version)
        return zarr.create_array(str(array_path(base)), overwrite=True, **_arguments(layout))

    def open(self, base: Path, layout: Layout) -> Handle:
        return zarr.open_array(str(array_path(base)), mode="r+", zarr_format=layout.version)

    def get(self, array: Handle, selection: Any) -> Floats:
        return array[selection]  # type: ignore[no-any-return]

    def set(self, array: Handle, selection: Any, values: Floats) -> None:
        array[selection] = values

    def oindex(self, array: Handle, selection: Any) -> Floats:
        return array.oindex[selection]  # type: ignore[no-any-return]

    def vindex(self, array: Handle, points: Any) -> Floats:
        return array.vindex[points]  # type: ignore[no-any-return]

    def mask(self, array: Handle, mask: Any) -> Floats:
        return array[mask]  # type: ignore[no-any-return]

    def append(self, array: Handle, block: Floats) -> Handle:
        array.append(block, axis=0)
        return array

    def memory(self, layout: Layout, values: Floats) -> Handle:
        array = zarr.create_array(zarr.storage.MemoryStore(), **_arguments(layout))
        array[...] = values
        return array

    def group_create(self, base: Path, count: int, version: int) -> None:
        group = zarr.open_group(str(base), mode="w", zarr_format=version)
        values = np.arange(10, dtype=np.float32)
        for i in range(count):
            array = group.create_array(f"a{i:04d}", shape=(10,), chunks=(10,), dtype="f4", compressors=None)
            array[:] = values

    def group_consolidate(self, base: Path, version: int) -> None:
        zarr.consolidate_metadata(str(base), zarr_format=version)

    def group_list(self, base: Path, version: int, *, consolidated: bool) -> dict[str, tuple[int, ...]]:
        group = zarr.open_group(str(base), mode="r", zarr_format=version, use_consolidated=consolidated)
        return {name: array.shape for name, array in group.members()}


class ZarrFused(ZarrPython):
    """With the pipeline that decodes a whole batch in one step; newer releases only."""

    pipeline = "zarr.core.codec_pipeline.FusedCodecPipeline"

    def __init__(self) -> None:
        if not hasattr(zarr.core.codec_pipeline, "FusedCodecPipeline"):
            raise Unsupported(f"zarr {zarr.__version__} has no fused pipeline")
        super().__init__()


class ZarrsPipeline(ZarrPython):
    """With the pipeline of zarrs-python."""

    pipeline = "zarrs.ZarrsCodecPipeline"

    def __init__(self) -> None:
        import zarrs  # noqa: F401 - fails here if it is not installed

        super().__init__()

    def version(self) -> str:
        return f"{version('zarrs')} on zarr {zarr.__version__}"

    def cold(self, base: Path, layout: Layout) -> str:
        return "import zarrs; " + super().cold(base, layout)


def _arguments(layout: Layout) -> dict[str, Any]:
    common = {
        "shape": layout.shape,
        "chunks": layout.chunks,
        "zarr_format": layout.version,
        "fill_value": 0.0,
    }
    if layout.version == 2:
        compressor = V2_COMPRESSOR[layout.codec]
        return {
            **common,
            "dtype": layout.dtype,
            "compressors": numcodecs.get_codec(dict(compressor)) if compressor else None,
            "filters": None,
            "order": layout.order,
        }
    compressors = {
        "none": None,
        "gzip": GzipCodec(level=5),
        "zstd": ZstdCodec(level=3),
        "blosc": BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=4),
    }
    axes = tuple(range(len(layout.shape)))[::-1]
    return {
        **common,
        "dtype": "<f4",
        "shards": layout.shards,
        "compressors": compressors[layout.codec],
        "serializer": BytesCodec(endian=layout.endian),
        **({"filters": [TransposeCodec(order=axes)]} if layout.order == "F" else {}),
    }
