//! A file object of Python as the place of an archive.

use omnizarr_core::error::{Error, Result};
use omnizarr_core::store::zip::{FileObject, Source};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// An object with `size()`, `read_at(offset, n)`, `write_at(offset, bytes)` and `finish(size)`.
pub struct PythonFile(Py<PyAny>);

impl PythonFile {
    pub fn new(object: &Bound<'_, PyAny>) -> Self {
        Self(object.clone().unbind())
    }

    fn call<T>(&self, f: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        let foreign = |error: PyErr| Error::Foreign { key: String::new(), source: Box::new(error) };
        Python::attach(|py| f(self.0.bind(py))).map_err(foreign)
    }
}

impl Source for PythonFile {
    fn size(&self) -> Result<u64> {
        self.call(|object| object.call_method0("size")?.extract())
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let (got, wanted) = self.call(|object| {
            let part = object.call_method1("read_at", (offset, dst.len()))?;
            let part = part.cast::<PyBytes>()?.as_bytes();
            if part.len() == dst.len() {
                dst.copy_from_slice(part);
            }
            Ok((part.len(), dst.len()))
        })?;
        if got == wanted {
            return Ok(());
        }
        let message = format!("the file gave {got} bytes where {wanted} were asked for");
        Err(Error::Store { key: String::new(), op: "get", message, errno: None })
    }
}

impl FileObject for PythonFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.call(|object| object.call_method1("write_at", (offset, PyBytes::new(object.py(), bytes))).map(drop))
    }

    fn finish(&self, size: u64) -> Result<()> {
        self.call(|object| object.call_method1("finish", (size,)).map(drop))
    }
}
