//! Memory for large results as a Python object with a buffer, over which NumPy lays an array.

#![allow(unsafe_code)]

use std::ffi::c_int;

use omnizarr_core::mem;
use pyo3::exceptions::{PyBufferError, PyMemoryError};
use pyo3::ffi;
use pyo3::prelude::*;

/// Memory for one result, used again once nothing refers to it any more.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct Block {
    block: mem::Block,
    size: isize,
}

#[pymethods]
impl Block {
    #[new]
    fn new(size: usize) -> PyResult<Self> {
        let short = || PyMemoryError::new_err(format!("no memory for a result of {size} bytes"));
        let block = mem::Block::new(size).ok_or_else(short)?;
        Ok(Self { block, size: isize::try_from(size).map_err(|_| short())? })
    }

    /// Whether all bytes were zero when the block was made.
    #[getter]
    fn fresh(&self) -> bool {
        self.block.is_fresh()
    }

    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let (ptr, size) = (slf.get().block.ptr(), slf.get().size);
        // SAFETY: Python gives a view to fill in; it takes its own reference to the block, which outlives it.
        match unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), ptr.cast(), size, 0, flags) } {
            0 => Ok(()),
            _ => Err(PyErr::take(slf.py()).unwrap_or_else(|| PyBufferError::new_err("no view of a block"))),
        }
    }
}
