"""The engine `omnizarr` of xarray."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, ClassVar

from xarray import Dataset as XarrayDataset
from xarray import DataTree
from xarray.backends import AbstractDataStore, BackendEntrypoint
from xarray.backends.store import StoreBackendEntrypoint

from omnizarr.interop.xarray.guess import looks_openable
from omnizarr.interop.xarray.opening import PLACE, Closing, View, asked, open_view


class _Loaded(AbstractDataStore):  # type: ignore[misc]  # xarray is not seen by mypy
    """A group in the form that xarray decodes."""

    def __init__(self, view: View, dropped: Iterable[str], closing: Closing) -> None:
        self._view = view
        self._dropped = frozenset(dropped)
        self._closing = closing

    def get_variables(self) -> dict[str, Any]:
        return self._view.variables(self._dropped)

    def get_attrs(self) -> dict[str, Any]:
        return self._view.attrs

    def get_encoding(self) -> dict[str, Any]:
        return self._view.encoding


class OmnizarrBackend(BackendEntrypoint):  # type: ignore[misc]  # xarray is not seen by mypy
    """Opens whatever `omnizarr.open` opens: Zarr of every dialect, NCZarr, reference sets, netCDF, HDF5 and others."""

    description: ClassVar[str] = "Every Zarr, NCZarr, reference sets, netCDF, HDF5, GRIB, TIFF and FITS by Omnizarr"
    supports_groups: ClassVar[bool] = True
    open_dataset_parameters: ClassVar[tuple[str, ...] | None] = None

    def guess_can_open(self, filename_or_obj: object) -> bool:
        """Whether the engine is likely to open something: told by its name or its first bytes, never by the network."""
        return looks_openable(filename_or_obj)

    def open_dataset(
        self,
        filename_or_obj: Any,  # noqa: ANN401 - whatever omnizarr.open takes
        *,
        mask_and_scale: bool = True,
        decode_times: Any = True,  # noqa: ANN401 - a boolean, or one of xarray's coders; as all below
        concat_characters: bool = True,
        decode_coords: Any = True,  # noqa: ANN401
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,  # noqa: ANN401
        group: str | None = None,
        format: str | None = None,  # noqa: A002 - the word of the documents
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        allow: Sequence[str] = (),
        cache_bytes: int = 0,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> XarrayDataset:
        """Open a group as a dataset.

        Args:
            filename_or_obj: Whatever `omnizarr.open` takes, a group of Omnizarr, or an `omnizarr.Dataset`.
            mask_and_scale: As for `xarray.open_dataset`, like all arguments that are not said otherwise.
            decode_times: As there.
            concat_characters: As there.
            decode_coords: As there.
            drop_variables: As there.
            use_cftime: As there.
            decode_timedelta: As there.
            group: Path of the group within the place.
            format: As for `omnizarr.open`, like the next four.
            consolidated: As there.
            storage_options: As there.
            allow: As there.
            cache_bytes: As there.
            zarr_format: 2 or 3; the word of the engine `zarr` for `format`.
            use_zarr_fill_value_as_mask: Whether fill values of arrays stand for missing values; in general so before
                v3, and by the attribute `_FillValue` alone in v3.
        """
        place = asked(
            group=group,
            format=format,
            consolidated=consolidated,
            storage_options=storage_options,
            allow=allow,
            cache_bytes=cache_bytes,
            zarr_format=zarr_format,
            use_zarr_fill_value_as_mask=use_zarr_fill_value_as_mask,
        )
        view, closing = open_view(filename_or_obj, place)
        decoding = {
            "mask_and_scale": mask_and_scale,
            "decode_times": decode_times,
            "concat_characters": concat_characters,
            "decode_coords": decode_coords,
            "use_cftime": use_cftime,
            "decode_timedelta": decode_timedelta,
        }
        return _decoded(view, closing, drop_variables, decoding)

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,  # noqa: ANN401 - as for open_dataset
        *,
        drop_variables: str | Iterable[str] | None = None,
        **options: Any,  # noqa: ANN401 - as for open_dataset
    ) -> dict[str, XarrayDataset]:
        """Open a group and all below it, each a dataset, by their paths; arguments are as for `open_dataset`."""
        place = {name: options.pop(name) for name in PLACE if name in options}
        top, closing = open_view(filename_or_obj, asked(**place))
        found: dict[str, XarrayDataset] = {}
        waiting: list[tuple[PurePosixPath, View]] = [(PurePosixPath("/"), top)]
        for path, view in waiting:
            found[str(path)] = _decoded(view, closing, drop_variables, options)
            waiting += [(path / name, one) for name, one in view.groups().items()]
        return found

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:  # noqa: ANN401 - as for open_dataset
        """Open a group and all below it as a tree; arguments are as for `open_dataset`."""
        found = self.open_groups_as_dict(filename_or_obj, **options)
        tree = DataTree.from_dict(found)
        for path, dataset in found.items():
            tree[path].set_close(dataset._close)  # noqa: SLF001 - as xarray's own engines do
        return tree


# xarray finds them out for engines that are called by name alone.
OmnizarrBackend.open_dataset_parameters = ("filename_or_obj", *(OmnizarrBackend.open_dataset.__kwdefaults__ or ()))


def _decoded(
    view: View, closing: Closing, drop_variables: str | Iterable[str] | None, decoding: Mapping[str, Any]
) -> XarrayDataset:
    """Return a group as a dataset, decoded by xarray as CF says."""
    dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
    try:
        dataset = StoreBackendEntrypoint().open_dataset(
            _Loaded(view, dropped, closing), drop_variables=dropped, **decoding
        )
    except BaseException:
        closing()
        raise
    dataset.set_close(closing)
    return dataset
