"""Methods of NumPy's arrays that whoever is handed an array calls without asking: each reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt


class Methods:
    """What xarray and zarr-python call to write an array that is not yet read."""

    __slots__ = ()

    def read(self) -> npt.NDArray[Any]:
        """Read all values."""
        raise NotImplementedError

    def astype(self, dtype: npt.DTypeLike, **options: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - those of NumPy
        """Read the values as another type; options are those of NumPy."""
        return self.read().astype(dtype, **options)

    def ravel(self, **options: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - as above
        """Read the values along one dimension."""
        return self.read().ravel(**options)

    def reshape(self, *shape: Any, **options: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - as above
        """Read the values in another shape."""
        return self.read().reshape(*shape, **options)

    def copy(self, **options: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - as above
        """Read the values."""
        return self.read().copy(**options)

    def tolist(self) -> Any:  # noqa: ANN401 - lists of lists, or one element
        """Read the values as lists."""
        return self.read().tolist()
