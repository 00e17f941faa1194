//! Numbers out of CDL texts, as arrays.

use numpy::{Element, PyArray1};
use omnizarr_core::cdl_numbers::{Number, numbers};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

type Found<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<usize>, usize);

fn found<'py, T: Number + Element>(py: Python<'py>, text: &[u8], start: usize) -> Found<'py> {
    let run = py.detach(|| numbers::<T>(text, start));
    let fills = PyArray1::from_vec(py, run.fills).into_any();
    (PyArray1::from_vec(py, run.values).into_any(), fills, run.misfit, run.end)
}

/// Read plain numbers from a place in a CDL text on, as values of a type, until something else comes.
#[pyfunction]
pub fn cdl_numbers<'py>(py: Python<'py>, text: &[u8], start: usize, dtype: &str) -> PyResult<Found<'py>> {
    Ok(match dtype {
        "i1" => found::<i8>(py, text, start),
        "i2" => found::<i16>(py, text, start),
        "i4" => found::<i32>(py, text, start),
        "i8" => found::<i64>(py, text, start),
        "u1" => found::<u8>(py, text, start),
        "u2" => found::<u16>(py, text, start),
        "u4" => found::<u32>(py, text, start),
        "u8" => found::<u64>(py, text, start),
        "f4" => found::<f32>(py, text, start),
        "f8" => found::<f64>(py, text, start),
        _ => return Err(PyValueError::new_err(format!("no type of numbers: {dtype}"))),
    })
}
