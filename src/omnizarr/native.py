"""The compiled kernel, or a plain word on how to get it."""

from __future__ import annotations

from omnizarr.errors import MissingDependencyError

try:
    from omnizarr._native import (
        Block,
        CdlRows,
        Checked,
        CloudStore,
        FileStore,
        JsonSet,
        JsonWriter,
        Kernel,
        MemoryStore,
        ParquetArray,
        ParquetSet,
        ParquetWriter,
        References,
        ReferenceStore,
        RemoteFile,
        Stream,
        Survey,
        ZipStore,
        cdl_numbers,
        chunk_numbers,
        copy_keys,
        cut_member,
        hdf5_chunks,
        packed,
        render_text,
        same_texts,
        split_inside,
        split_object,
        trace_requests,
        traced_requests,
        unpacked,
    )
except ImportError as error:
    raise MissingDependencyError(
        f"the compiled kernel omnizarr._native cannot be loaded: {error}",
        hint="In a source tree run `make build`; elsewhere `pip install --force-reinstall omnizarr`.",
    ) from error

__all__ = [
    "Block",
    "CdlRows",
    "Checked",
    "CloudStore",
    "FileStore",
    "JsonSet",
    "JsonWriter",
    "Kernel",
    "MemoryStore",
    "ParquetArray",
    "ParquetSet",
    "ParquetWriter",
    "ReferenceStore",
    "References",
    "RemoteFile",
    "Stream",
    "Survey",
    "ZipStore",
    "cdl_numbers",
    "chunk_numbers",
    "copy_keys",
    "cut_member",
    "hdf5_chunks",
    "packed",
    "render_text",
    "same_texts",
    "split_inside",
    "split_object",
    "trace_requests",
    "traced_requests",
    "unpacked",
]
