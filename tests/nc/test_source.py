import numpy as np
import pytest

from omnizarr.errors import SelectionError
from omnizarr.nc.source import MemorySource, everything
from omnizarr.nc.tree import Attr
from omnizarr.nc.types import INT, STRING, Vlen


def test_a_new_variable_reads_as_its_fill_value():
    source = MemorySource()
    x = source.root.add_dim("x", 3)
    var = source.root.add_var("v", INT, (x,))
    assert source.read(var, everything(var)).tolist() == [-2147483647] * 3
    var.attrs["_FillValue"] = Attr.of_values("_FillValue", INT, 7)
    var.handle = None
    assert source.read(var, everything(var)).tolist() == [7, 7, 7]


def test_unlimited_dimensions_grow_and_others_refuse():
    source = MemorySource()
    t, x = source.root.add_dim("t", 0, unlimited=True), source.root.add_dim("x", 2)
    one, other = (source.root.add_var(name, INT, (t, x)) for name in ("one", "other"))
    source.write(one, [slice(2, 3, 1), slice(0, 2, 1)], np.array([[5, 6]], "i4"))
    assert t.size == 3
    assert source.read(one, everything(one))[2].tolist() == [5, 6]
    assert source.read(other, everything(other)).shape == (3, 2)
    with pytest.raises(SelectionError, match="dimension x of size 2"):
        source.write(one, [slice(0, 1, 1), slice(1, 3, 1)], np.zeros((1, 2), "i4"))


def test_sequences_and_strings_have_empty_elements():
    source = MemorySource()
    x = source.root.add_dim("x", 2)
    ragged = source.root.add_var("r", source.root.add_type(Vlen("ints", INT)), (x,))
    words = source.root.add_var("w", STRING, (x,))
    assert [len(one) for one in source.read(ragged, everything(ragged))] == [0, 0]
    assert source.read(words, everything(words)).tolist() == ["", ""]


def test_arrays_of_indices_select_from_their_own_dimension():
    source = MemorySource()
    dims = tuple(source.root.add_dim(name, 4) for name in "xy")
    var = source.root.add_var("v", INT, dims)
    values = np.arange(16, dtype="i4").reshape(4, 4)
    source.write(var, everything(var), values)
    found = source.read(var, [np.array([3, 0]), slice(1, 4, 2)])
    assert np.array_equal(found, values[[3, 0]][:, 1:4:2])
