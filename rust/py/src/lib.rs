//! `omnizarr._native`: the kernel as Python sees it. Arguments are taken apart here, the GIL is given back, and errors come
//! up as the exceptions of `omnizarr.errors`. Nothing is decided here.

mod arrays;
mod blocks;
mod cdl;
mod cdl_numbers;
mod chain;
mod chunk_numbers;
mod cloud;
mod codecs;
mod copying;
mod errors;
mod fileobject;
mod filters;
mod foreign;
mod hdf5;
mod hdf5_codecs;
mod kernel;
mod locked_file;
mod net;
mod refs;
mod refs_formula;
mod refs_json;
mod refs_parquet;
mod stores;
mod stream;
mod strings;
mod survey;
mod threads;

use omnizarr_core::json::Member;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

type Parts<'py> = Bound<'py, PyDict>;

fn malformed(at: usize) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(format!("no JSON object: error at byte {at}"))
}

/// Members of an object as a dictionary of their raw texts.
fn texts<'py>(py: Python<'py>, document: &[u8], members: Vec<Member>) -> PyResult<Parts<'py>> {
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

/// Split a JSON object into its members' raw texts without parsing them.
#[pyfunction]
fn split_object<'py>(py: Python<'py>, document: &[u8]) -> PyResult<Parts<'py>> {
    texts(py, document, omnizarr_core::json::members(document).map_err(malformed)?)
}

/// Split an object inside others as `split_object` does, and the one right around it without that one.
#[pyfunction]
fn split_inside<'py>(
    py: Python<'py>,
    document: &[u8],
    path: Vec<String>,
) -> PyResult<Option<(Parts<'py>, Parts<'py>)>> {
    let quoted: Vec<Vec<u8>> = path.iter().map(|name| format!("\"{name}\"").into_bytes()).collect();
    let quoted: Vec<&[u8]> = quoted.iter().map(Vec::as_slice).collect();
    let found = omnizarr_core::json::members_inside(document, &quoted).map_err(malformed)?;
    found.map(|(inner, around)| Ok((texts(py, document, inner)?, texts(py, document, around)?))).transpose()
}

/// Say of each pair of JSON texts whether they are the same but for white space.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "lists of buffers cannot be borrowed")]
fn same_texts(documents: Vec<PyBackedBytes>, others: Vec<PyBackedBytes>) -> Vec<bool> {
    documents.iter().zip(&others).map(|(one, other)| omnizarr_core::json::same(one, other)).collect()
}

/// Cut a member out of a JSON object: what is left of the text, and the member's raw text.
#[pyfunction]
fn cut_member<'py>(
    py: Python<'py>,
    document: &[u8],
    name: &str,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let members = omnizarr_core::json::members(document).map_err(malformed)?;
    let quoted = format!("\"{name}\"");
    let mut found = members.into_iter().filter(|(key, _)| document.get(key.clone()) == Some(quoted.as_bytes()));
    let (Some((_, value)), None) = (found.next(), found.next()) else {
        return Ok((PyBytes::new(py, document), PyBytes::new(py, b"")));
    };
    let (head, tail) = (document.get(..value.start), document.get(value.end..));
    let rest = [head.unwrap_or_default(), tail.unwrap_or_default()].concat();
    Ok((PyBytes::new(py, &rest), PyBytes::new(py, document.get(value).unwrap_or_default())))
}

/// The kernel.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    threads::prepare(module.py());
    module.add_class::<blocks::Block>()?;
    module.add_class::<cdl::CdlRows>()?;
    module.add_class::<cloud::CloudStore>()?;
    module.add_class::<stores::FileStore>()?;
    module.add_class::<stores::MemoryStore>()?;
    module.add_class::<stores::ZipStore>()?;
    module.add_class::<locked_file::LockedFile>()?;
    module.add_class::<net::RemoteFile>()?;
    module.add_class::<refs::References>()?;
    module.add_class::<refs_json::JsonSet>()?;
    module.add_class::<refs_json::JsonWriter>()?;
    module.add_class::<refs_parquet::ParquetSet>()?;
    module.add_class::<refs_parquet::ParquetWriter>()?;
    module.add_class::<refs_parquet::ParquetArray>()?;
    module.add_class::<stores::ReferenceStore>()?;
    module.add_class::<kernel::Kernel>()?;
    module.add_class::<survey::Survey>()?;
    module.add_class::<survey::Checked>()?;
    module.add_class::<stream::Stream>()?;
    module.add_function(wrap_pyfunction!(chunk_numbers::chunk_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(copying::copy_keys, module)?)?;
    module.add_function(wrap_pyfunction!(cut_member, module)?)?;
    module.add_function(wrap_pyfunction!(cdl_numbers::cdl_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(hdf5::hdf5_chunks, module)?)?;
    module.add_function(wrap_pyfunction!(refs_json::packed, module)?)?;
    module.add_function(wrap_pyfunction!(refs_formula::render_text, module)?)?;
    module.add_function(wrap_pyfunction!(refs_json::unpacked, module)?)?;
    module.add_function(wrap_pyfunction!(same_texts, module)?)?;
    module.add_function(wrap_pyfunction!(split_inside, module)?)?;
    module.add_function(wrap_pyfunction!(cloud::trace_requests, module)?)?;
    module.add_function(wrap_pyfunction!(cloud::traced_requests, module)?)?;
    module.add_function(wrap_pyfunction!(split_object, module)?)
}
