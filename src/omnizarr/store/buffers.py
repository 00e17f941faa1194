"""Values in whatever form they come, as plain bytes."""

from __future__ import annotations

from omnizarr.errors import StoreError


def byte_view(key: str, value: object) -> memoryview:
    """Show anything with a buffer (bytes, bytearray, a NumPy array) as its bytes, in memory order.

    Args:
        key: The value's key, for the error.
        value: The value.

    Raises:
        StoreError: The value has no buffer, or holds Python objects.
    """
    try:
        view = memoryview(value)  # type: ignore[arg-type]  # what has no buffer is what the except is for
    except TypeError:
        pass
    else:
        if not view.nbytes:
            return memoryview(b"")
        if "O" not in view.format:  # Else the bytes would be addresses.
            return view.cast("B") if view.c_contiguous else memoryview(view.tobytes(order="A"))
    raise StoreError(f"a value of type {type(value).__name__} is not bytes", key=key)
