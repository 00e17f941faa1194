//! Values as the text of CDL.

#![allow(unsafe_code)]

use std::sync::{Mutex, PoisonError};

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use omnizarr_core::cdl::numbers::{Kind, tokens};
use omnizarr_core::cdl::rows::{Layout, Notes, Order, Rows};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::raise;
use crate::kernel::{Stopped, interruptible};

/// The lines of one variable's values, from the first to the last.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct CdlRows {
    rows: Mutex<Rows>,
}

#[pymethods]
impl CdlRows {
    #[new]
    #[pyo3(signature = (shape, unlimited, *, part, width, indent, line, name, notes, whole_rows))]
    #[allow(clippy::too_many_arguments, reason = "named in Python")]
    fn new(
        shape: Vec<u64>,
        unlimited: Vec<bool>,
        part: Vec<(u64, u64)>,
        width: usize,
        indent: usize,
        line: usize,
        name: &[u8],
        notes: &str,
        whole_rows: bool,
    ) -> PyResult<Self> {
        let notes = match notes {
            "" => Notes::None,
            "rows c" => Notes::Rows(Order::C),
            "rows f" => Notes::Rows(Order::Fortran),
            "values c" => Notes::Values(Order::C),
            "values f" => Notes::Values(Order::Fortran),
            _ => return Err(PyValueError::new_err(format!("{notes:?} is no kind of notes"))),
        };
        let layout = Layout { shape, unlimited, part, width, indent, name: name.to_vec(), notes, whole_rows };
        Ok(Self { rows: Mutex::new(Rows::new(layout, line)) })
    }

    /// Characters in the line so far.
    #[getter]
    fn line(&self) -> usize {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).line()
    }

    /// The text of the next numbers.
    fn numbers<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyUntypedArray>,
        fill: Option<&[u8]>,
        digits: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let dtype = values.dtype();
        let kind = Kind::of(dtype.kind(), dtype.itemsize());
        let Some(kind) = kind.filter(|_| values.is_c_contiguous() && dtype.is_native_byteorder() != Some(false)) else {
            return Err(PyTypeError::new_err("numbers are a contiguous array in the machine's byte order"));
        };
        // SAFETY: a live, C-contiguous array; the caller holds a reference to it until this returns.
        let bytes = unsafe {
            let data = (*values.as_array_ptr()).fields.data.cast::<u8>();
            std::slice::from_raw_parts(data, values.len().saturating_mul(kind.size()))
        };
        let done = interruptible(py, |ask| {
            let pieces = tokens(bytes, kind, fill, digits, ask)?;
            let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            let size = pieces.iter().map(|piece| piece.text.len()).fold(0, usize::saturating_add);
            let mut out = Vec::with_capacity(size.saturating_add(size / 8));
            pieces.into_iter().for_each(|piece| rows.numbers(&piece, &mut out));
            Ok(out)
        });
        match done {
            Ok(out) => Ok(PyBytes::new(py, &out)),
            Err(Stopped::Raised(error)) => Err(error),
            Err(Stopped::Failed(error)) => Err(raise(py, error, None)),
        }
    }

    /// The text of the next values, of which each is given as text.
    #[allow(clippy::needless_pass_by_value, reason = "lists of buffers cannot be borrowed")]
    fn tokens<'py>(&self, py: Python<'py>, texts: Vec<PyBackedBytes>) -> Bound<'py, PyBytes> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = Vec::new();
        texts.iter().for_each(|text| rows.token(text, &mut out));
        PyBytes::new(py, &out)
    }
}
