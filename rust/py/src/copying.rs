//! Copying and comparing values between stores.

use omnizarr_core::copying::{self, Side, Task};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::kernel::{Stopped, interruptible, native_store};

/// Numbers of values done, of their bytes, of values kept; places of keys that are missing, and of those that differ.
type Counts = (u64, u64, u64, Vec<usize>, Vec<usize>);

/// Copy, go on copying, compare or measure the values under the keys, which follow the prefix of each store.
#[pyfunction]
#[pyo3(signature = (source, target, keys, task, renamed=None))]
pub fn copy_keys(
    py: Python<'_>,
    source: (Bound<'_, PyAny>, String),
    target: (Bound<'_, PyAny>, String),
    keys: Vec<String>,
    task: &str,
    renamed: Option<Vec<String>>,
) -> PyResult<Counts> {
    let renamed = renamed.unwrap_or_default();
    if !renamed.is_empty() && renamed.len() != keys.len() {
        return Err(PyValueError::new_err("there must be one new name for each key"));
    }
    let task = match task {
        "copy" => Task::Copy,
        "resume" => Task::Resume,
        "compare" => Task::Compare,
        "measure" => Task::Measure,
        _ => return Err(PyValueError::new_err(format!("{task:?} is not a task"))),
    };
    let ((source, from), (target, to)) = (source, target);
    let (one, other) = (native_store(&source), native_store(&target));
    let found = interruptible(py, |ask| {
        let (source, target) = (Side { store: &*one, prefix: &from }, Side { store: &*other, prefix: &to });
        copying::copy_keys(source, target, &keys, &renamed, task, ask)
    });
    match found {
        Ok(one) => Ok((one.done, one.bytes, one.kept, one.missing, one.different)),
        Err(Stopped::Raised(error)) => Err(error),
        Err(Stopped::Failed(error)) => Err(raise(py, error, None)),
    }
}
