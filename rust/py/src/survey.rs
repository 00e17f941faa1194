//! What is stored of an array, as Python sees it.

use std::sync::Mutex;

use omnizarr_core::engine::{Checked as Tally, Found, Look, Survey as Core};
use omnizarr_core::error::{Error, Result};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::kernel::Kernel;

/// Which chunks of an array were stored when it was made, and what else lay there.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct Survey {
    kernel: Py<Kernel>,
    core: Core,
}

/// What a look at some chunks has shown.
#[pyclass(frozen, get_all, module = "omnizarr._native")]
pub struct Checked {
    chunks: u64,
    gone: u64,
    nbytes: u64,
    cells: u64,
    cells_present: u64,
    filled: u64,
    faults: Vec<(String, String, String)>,
    nfaults: u64,
}

impl Survey {
    pub fn new(kernel: Py<Kernel>, core: Core) -> Self {
        Self { kernel, core }
    }
}

#[pymethods]
impl Survey {
    #[getter]
    fn present(&self) -> usize {
        self.core.present()
    }

    #[getter]
    fn total(&self) -> u64 {
        self.core.total
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.core.nbytes
    }

    #[getter]
    fn outside(&self) -> Vec<String> {
        self.core.outside.keys.clone()
    }

    #[getter]
    fn noutside(&self) -> u64 {
        self.core.outside.count
    }

    #[getter]
    fn stray(&self) -> Vec<String> {
        self.core.stray.keys.clone()
    }

    #[getter]
    fn nstray(&self) -> u64 {
        self.core.stray.count
    }

    #[getter]
    fn debris(&self) -> Vec<String> {
        self.core.debris.keys.clone()
    }

    #[getter]
    fn ndebris(&self) -> u64 {
        self.core.debris.count
    }

    /// Keys of the stored chunks from the `start`-th to before the `stop`-th, in C order of the grid.
    fn keys(&self, start: usize, stop: usize) -> Vec<String> {
        let engine = self.kernel.get().engine();
        self.core.part(start, stop).iter().map(|&(number, _)| engine.key_of_number(number)).collect()
    }

    /// Look at the stored chunks from the `start`-th to before the `stop`-th.
    #[pyo3(signature = (start, stop, decode=false))]
    fn check(&self, py: Python<'_>, start: usize, stop: usize, decode: bool) -> PyResult<Checked> {
        let kernel = self.kernel.get();
        let judge = |error: Error| judged(kernel, error);
        let look = Look { decode, text: kernel.is_text(), judge: &judge };
        let done: Mutex<Option<Tally>> = Mutex::new(None);
        kernel.run(py, &|ask| {
            let checked = kernel.engine().check(&self.core, start, stop, look, ask)?;
            *done.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(checked);
            Ok(())
        })?;
        let checked = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).unwrap_or_default();
        let faults = checked.faults.into_iter().map(|Found { key, kind, message }| (key, kind, message));
        Ok(Checked {
            chunks: checked.chunks,
            gone: checked.gone,
            nbytes: checked.nbytes,
            cells: checked.cells,
            cells_present: checked.cells_present,
            filled: checked.filled,
            faults: faults.collect(),
            nfaults: checked.nfaults,
        })
    }
}

/// The kind and the message of the exception that an error would be raised as, if it is one of ours.
fn judged(kernel: &Kernel, error: Error) -> Result<(String, String)> {
    Python::attach(|py| {
        let raised = raise(py, kernel.named(error), None);
        let value = raised.value(py);
        let text = |name: &str| value.getattr(name).and_then(|word| word.extract::<Option<String>>()).ok().flatten();
        match (text("kind"), text("message"), text("codec")) {
            (Some(kind), Some(message), Some(codec)) => Ok((kind, format!("{message} (codec {codec:?})"))),
            (Some(kind), Some(message), None) => Ok((kind, message)),
            _ => Err(Error::Foreign { key: String::new(), source: Box::new(raised) }),
        }
    })
}
