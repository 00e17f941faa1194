//! Arrays of Python strings and bytes as records and arenas, and back.

#![allow(unsafe_code)]

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use omnizarr_core::vlen::{Arenas, RECORD, Record, VALUES, text};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

/// Addresses of all elements in C order.
fn places(array: &Bound<'_, PyUntypedArray>) -> Vec<*mut *mut ffi::PyObject> {
    // SAFETY: a live array.
    let base: *mut u8 = unsafe { (*array.as_array_ptr()).fields.data.cast() };
    let mut list = vec![base];
    for (&n, &stride) in array.shape().iter().zip(array.strides()) {
        let step = |i: usize| isize::try_from(i).unwrap_or(0).wrapping_mul(stride);
        list = list.iter().flat_map(|&p| (0..n).map(move |i| p.wrapping_offset(step(i)))).collect();
    }
    list.into_iter().map(<*mut u8>::cast).collect()
}

/// Put a Python string or bytes object for each record into an object array.
pub fn store_objects(
    array: &Bound<'_, PyUntypedArray>,
    records: &[u8],
    arenas: &Arenas,
    is_text: bool,
    path: &str,
) -> PyResult<()> {
    let py = array.py();
    let (records, _) = records.as_chunks::<RECORD>();
    // Neighbours are often equal (a fill value, a category): one object serves them all.
    let mut last: Option<(Record, Bound<'_, PyAny>)> = None;
    arenas.with(|arenas| {
        for (place, record) in places(array).into_iter().zip(records.iter().map(Record::from_bytes)) {
            let object = match &last {
                Some((same, object)) if *same == record => object.clone(),
                _ => {
                    let bytes = text(arenas, record);
                    let object = if is_text {
                        let valid = std::str::from_utf8(bytes).map_err(|error| invalid_text(py, error, path))?;
                        PyString::new(py, valid).into_any()
                    } else {
                        PyBytes::new(py, bytes).into_any()
                    };
                    last = Some((record, object.clone()));
                    object
                }
            };
            // SAFETY: an element of a live object array: it owns one reference, which is exchanged for ours.
            unsafe {
                let old = std::ptr::replace(place, object.into_ptr());
                ffi::Py_XDECREF(old);
            }
        }
        Ok(())
    })
}

fn invalid_text(py: Python<'_>, error: std::str::Utf8Error, path: &str) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("omnizarr.errors")?.getattr("CorruptError")?;
        let kwargs = PyDict::new(py);
        kwargs.set_item("path", path)?;
        kwargs.set_item("codec", "vlen-utf8")?;
        Ok(PyErr::from_value(class.call((format!("a stored string is not valid UTF-8: {error}"),), Some(&kwargs))?))
    };
    make().unwrap_or_else(|failure| failure)
}

/// Records and one arena for the elements of an object array.
pub fn load_objects(array: &Bound<'_, PyUntypedArray>, is_text: bool) -> PyResult<(Vec<u8>, Vec<u8>)> {
    let py = array.py();
    let (mut records, mut arena) = (Vec::new(), Vec::new());
    for place in places(array) {
        // SAFETY: an element of a live object array is a borrowed object, or null, which NumPy takes for None.
        let object = unsafe { Bound::from_borrowed_ptr_or_opt(py, *place) };
        let object = object.ok_or_else(|| PyTypeError::new_err("an element of the array is empty"))?;
        let offset = arena.len() as u64;
        if is_text {
            let Ok(string) = object.cast::<PyString>() else { return Err(wrong_type(&object, "str")) };
            arena.extend_from_slice(string.to_str()?.as_bytes());
        } else if let Ok(bytes) = object.cast::<PyBytes>() {
            arena.extend_from_slice(bytes.as_bytes());
        } else {
            return Err(wrong_type(&object, "bytes"));
        }
        let len = u32::try_from((arena.len() as u64).saturating_sub(offset));
        let len = len.map_err(|_| PyTypeError::new_err("an element has more than 4 GiB"))?;
        records.extend_from_slice(&Record { arena: VALUES, len, offset }.to_bytes());
    }
    Ok((records, arena))
}

fn wrong_type(object: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    PyTypeError::new_err(format!("an element is of type {}, not {wanted}", object.get_type()))
}
