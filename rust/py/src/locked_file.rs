//! Files and folders that are open for the sake of their locks.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use omnizarr_core::store;
use omnizarr_core::store::Lockable;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A file or folder that is open for the sake of its lock.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct LockedFile(Mutex<Option<Arc<store::LockedFile>>>);

impl LockedFile {
    /// What is held, unless it was let go.
    pub fn held(&self) -> Option<Arc<store::LockedFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[pymethods]
impl LockedFile {
    #[staticmethod]
    #[pyo3(signature = (place, what, wait=true))]
    fn hold(py: Python<'_>, place: PathBuf, what: &str, wait: bool) -> PyResult<Option<Self>> {
        let what = match what {
            "folder" => Lockable::Folder,
            "file" => Lockable::File,
            "own" => Lockable::Own,
            _ => return Err(PyValueError::new_err(format!("{what:?} is nothing that can be locked"))),
        };
        loop {
            match py.detach(|| store::LockedFile::hold(&place, what, wait)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => py.check_signals()?,
                done => return Ok(done?.map(|file| Self(Mutex::new(Some(Arc::new(file)))))),
            }
        }
    }

    #[getter]
    fn is_locked(&self) -> bool {
        self.held().is_some_and(|held| held.is_locked())
    }

    fn is_at(&self, place: PathBuf) -> bool {
        self.held().is_some_and(|held| held.is_at(&place))
    }

    fn let_go(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
