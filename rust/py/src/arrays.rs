//! NumPy arrays and selections as the kernel takes them.

#![allow(unsafe_code)]

use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use omnizarr_core::mem::View;
use omnizarr_core::plan::Select;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// A NumPy array's memory, checked against the shape that the selection gives it.
pub fn view(array: &Bound<'_, PyUntypedArray>, shape: &[usize], item: usize, writable: bool) -> PyResult<View> {
    if array.shape() != shape {
        return Err(PyValueError::new_err(format!("array of shape {:?} where {shape:?} is expected", array.shape())));
    }
    if array.dtype().itemsize() != item {
        let got = array.dtype().itemsize();
        return Err(PyValueError::new_err(format!("array with items of {got} bytes where {item} are expected")));
    }
    // SAFETY: the object is a live array; its fields are read while the GIL is held.
    let (data, flags) = unsafe { ((*array.as_array_ptr()).fields.data, (*array.as_array_ptr()).fields.flags) };
    if writable && flags & numpy::npyffi::NPY_ARRAY_WRITEABLE == 0 {
        return Err(PyValueError::new_err("the array is read-only"));
    }
    // SAFETY: NumPy vouches for every element of the shape at these strides; the caller holds a reference to the array
    // until the kernel is done.
    Ok(unsafe { View::new(data.cast(), array.strides()) })
}

/// Whether the array holds Python objects.
pub fn holds_objects(array: &Bound<'_, PyUntypedArray>) -> bool {
    array.dtype().kind() == b'O'
}

/// One selection per dimension.
pub fn selection(list: &Bound<'_, PyList>) -> PyResult<Vec<Select>> {
    list.iter().map(|axis| select(&axis)).collect()
}

fn select(axis: &Bound<'_, PyAny>) -> PyResult<Select> {
    if let Ok(range) = axis.cast::<PyTuple>() {
        let (start, step, count) = range.extract()?;
        return Ok(Select::Range(start, step, count));
    }
    let indices: PyReadonlyArray1<'_, i64> = axis.extract()?;
    Select::list(indices.as_slice()?).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Coordinates of points, dimension by dimension.
pub fn coordinates(list: &Bound<'_, PyList>) -> PyResult<Vec<Vec<i64>>> {
    let copy = |axis: Bound<'_, PyAny>| -> PyResult<Vec<i64>> {
        Ok(axis.extract::<PyReadonlyArray1<'_, i64>>()?.as_slice()?.to_vec())
    };
    list.iter().map(copy).collect()
}

/// The coordinates of a mask's true elements.
pub fn mask_coordinates(mask: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<Vec<i64>>> {
    if mask.dtype().kind() != b'b' || !mask.is_c_contiguous() {
        return Err(PyTypeError::new_err("a mask is a boolean array in C order"));
    }
    // SAFETY: a live, C-contiguous array of one-byte items.
    let bytes = unsafe { std::slice::from_raw_parts((*mask.as_array_ptr()).fields.data.cast::<u8>(), mask.len()) };
    Ok(omnizarr_core::engine::coordinates(bytes, mask.shape()))
}
