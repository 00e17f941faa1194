//! The indexes of chunks in HDF5 files.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray1};
use omnizarr_core::hdf5::{ChunkIndex, Dataset, Source, chunk_index};
use omnizarr_core::store::zip::open_source;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::raise;
use crate::fileobject::PythonFile;

/// Bytes between two parts of an index that are read along: what a disk, and what a server, gives in the time of asking.
const NEAR: u64 = 1 << 12;
const FAR: u64 = 1 << 18;

/// Numbers, offsets, lengths and masks.
type Columns<'py> =
    (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);

/// Find the chunks of a dataset; `None` where its index is of no kind that is known.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "lists cannot be borrowed")]
pub fn hdf5_chunks<'py>(
    file: &Bound<'py, PyAny>,
    address: u64,
    base: u64,
    shape: Vec<u64>,
    chunks: Vec<u64>,
) -> PyResult<Option<Columns<'py>>> {
    let py = file.py();
    let local = file.is_instance_of::<PyString>();
    let source: Box<dyn Source> = if local {
        let path: PathBuf = file.extract()?;
        open_source(&path).map_err(|error| raise(py, error, None))?
    } else {
        Box::new(PythonFile::new(file))
    };
    let gap = if local { NEAR } else { FAR };
    let dataset = Dataset { address, base, shape: &shape, chunks: &chunks, gap };
    let found = py.detach(|| chunk_index(&*source, dataset)).map_err(|error| raise(py, error, None))?;
    Ok(found.map(|ChunkIndex { numbers, offsets, lengths, masks }| {
        (numbers.into_pyarray(py), offsets.into_pyarray(py), lengths.into_pyarray(py), masks.into_pyarray(py))
    }))
}
