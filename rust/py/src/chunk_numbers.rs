//! Which chunks keys stand for, many at a time.

use numpy::{IntoPyArray, PyArray1};
use omnizarr_core::keys::Keys;
use pyo3::prelude::*;

use crate::refs::Template;

/// The number of the chunk that each key stands for, in C order of the grid; 2**64 - 1 for keys of no chunk.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "lists cannot be borrowed")]
pub fn chunk_numbers<'py>(
    py: Python<'py>,
    keys: Vec<String>,
    path: String,
    template: Template,
    counts: Vec<u64>,
) -> Bound<'py, PyArray1<u64>> {
    let (prefix, separator, suffix, scalar, reversed) = template;
    let template = Keys { path, prefix, separator, suffix, scalar, reversed };
    let number = |key: &String| -> Option<u64> {
        let index = template.parse(key, counts.len())?;
        index.iter().zip(&counts).try_fold(0u64, |number, (&i, &count)| {
            if i < count { number.checked_mul(count)?.checked_add(i) } else { None }
        })
    };
    let numbers: Vec<u64> = py.detach(|| keys.iter().map(|key| number(key).unwrap_or(u64::MAX)).collect());
    numbers.into_pyarray(py)
}
