//! `omnizarr._native`: the kernel as Python sees it. Arguments are taken apart here, the GIL is given back, and errors come
//! up as the exceptions of `omnizarr.errors`. Nothing is decided here.

mod arrays;
mod blocks;
mod chain;
mod codecs;
mod copying;
mod errors;
mod fileobject;
mod filters;
mod foreign;
mod kernel;
mod stores;
mod stream;
mod strings;
mod survey;
mod threads;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Split a JSON object into its members' raw texts without parsing them.
#[pyfunction]
fn split_object<'py>(py: Python<'py>, document: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let members = omnizarr_core::json::members(document)
        .map_err(|at| pyo3::exceptions::PyValueError::new_err(format!("no JSON object: error at byte {at}")))?;
    let loads = py.import("json")?.getattr("loads")?;
    let dict = PyDict::new(py);
    for (name, value) in members {
        let name = document.get(name).unwrap_or_default();
        let plain = name.get(1..name.len().saturating_sub(1)).filter(|n| !n.contains(&b'\\'));
        let name = match plain.and_then(|n| std::str::from_utf8(n).ok()) {
            Some(text) => text.into_pyobject(py)?.into_any(),
            None => loads.call1((PyBytes::new(py, name),))?,
        };
        if dict.contains(&name)? {
            return Err(pyo3::exceptions::PyValueError::new_err(format!("key {name} appears twice")));
        }
        dict.set_item(name, PyBytes::new(py, document.get(value).unwrap_or_default()))?;
    }
    Ok(dict)
}

/// Return a JSON text without the white space between its tokens.
#[pyfunction]
fn squeeze<'py>(py: Python<'py>, document: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &omnizarr_core::json::squeezed(document))
}

/// The kernel.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    threads::prepare(module.py());
    module.add_class::<blocks::Block>()?;
    module.add_class::<stores::FileStore>()?;
    module.add_class::<stores::MemoryStore>()?;
    module.add_class::<stores::ZipStore>()?;
    module.add_class::<kernel::Kernel>()?;
    module.add_class::<survey::Survey>()?;
    module.add_class::<survey::Checked>()?;
    module.add_class::<stream::Stream>()?;
    module.add_function(wrap_pyfunction!(squeeze, module)?)?;
    module.add_function(wrap_pyfunction!(copying::copy_keys, module)?)?;
    module.add_function(wrap_pyfunction!(split_object, module)?)
}
