//! A chain of codecs of bytes, run over one buffer: for codecs in Python that hold other codecs.

use omnizarr_core::buffer::Buffer;
use omnizarr_core::codec::{Series, Step, Want};
use omnizarr_core::error::CodecError;
use omnizarr_core::scratch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::chain;
use crate::errors::raise_codec;
use crate::foreign::owned_bytes;

/// Codecs of bytes, the first of which sees the decoded bytes; immutable, and safe to share between threads.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct Stream(Series);

#[pymethods]
impl Stream {
    #[new]
    fn new(steps: &Bound<'_, PyList>) -> PyResult<Self> {
        chain::series(steps.extract()?).map(Self)
    }

    /// Encode the bytes of any contiguous buffer.
    fn encode<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        run(py, data, |src, dst| scratch::with(|work| self.0.encode(src, dst, &mut work.cx)))
    }

    /// Decode to exactly `size` bytes, or where that is `None` to at most `max_size`.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        size: Option<usize>,
        max_size: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let want = size.map_or(Want::AtMost(max_size), Want::Exact);
        run(py, data, |src, dst| scratch::with(|work| self.0.decode(src, dst, want, &mut work.cx)))
    }
}

/// Run over a copy of the bytes (none is made of `bytes`, which never change) without the GIL.
fn run<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    f: impl Fn(&[u8], &mut Buffer) -> Result<(), CodecError> + Sync,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut made = Buffer::default();
    let done = match data.cast::<PyBytes>() {
        Ok(bytes) => {
            let src = bytes.as_bytes();
            py.detach(|| f(src, &mut made))
        }
        Err(_) => {
            let src = owned_bytes(data)?;
            py.detach(|| f(&src, &mut made))
        }
    };
    done.map_err(|error| raise_codec(py, error))?;
    Ok(PyBytes::new(py, made.as_slice()))
}
