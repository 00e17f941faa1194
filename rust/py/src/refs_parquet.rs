//! Record files of reference sets: read when they are needed, gathered into columns, and written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use omnizarr_core::error::Error;
use omnizarr_core::refs::{self, Piece, Stamp, Urls};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raise;
use crate::kernel::{Stopped, interruptible, native_store};
use crate::refs::{References, StampParts, Template};

/// Numbers, URLs, offsets, lengths and inline bytes.
type Columns<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyBytes>,
);

fn folder(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}/") }
}

fn stopped(py: Python<'_>, why: Stopped, path: &str) -> PyErr {
    match why {
        Stopped::Raised(error) => error,
        Stopped::Failed(error) => raise(py, error, Some(path)),
    }
}

/// The record files of one set.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct ParquetSet {
    set: Arc<refs::ParquetSet>,
    urls: Arc<Urls>,
}

#[pymethods]
impl ParquetSet {
    #[new]
    fn new(store: &Bound<'_, PyAny>, prefix: String, record_size: u64, most: usize) -> PyResult<Self> {
        let urls: Arc<Urls> = Arc::default();
        let set = refs::ParquetSet::new(native_store(store), prefix, record_size, most, Arc::clone(&urls));
        let set = set.map_err(|error| raise(store.py(), error, None))?;
        Ok(Self { set: Arc::new(set), urls })
    }

    /// A set to be put together whose URLs have the numbers of these.
    fn references(&self) -> References {
        References::with_urls(Arc::clone(&self.urls), Arc::new(self.set.stamps()))
    }

    /// Add an array to a set that `references` has made; its rows are read when they are needed.
    fn add_to(&self, references: &References, path: &str, keys: Template, counts: Vec<u64>) -> PyResult<()> {
        if !Arc::ptr_eq(references.urls(), &self.urls) {
            return Err(pyo3::exceptions::PyValueError::new_err("these are two sets with URLs of their own"));
        }
        let count = counts.iter().try_fold(1u64, |product, &count| product.checked_mul(count)).unwrap_or(u64::MAX);
        let rows = self.set.rows(&folder(path), count);
        references.add(path, keys, counts, Box::new(rows));
        Ok(())
    }

    /// The references of an array with `count` chunks, as far as they are in the records from one up to another.
    fn gather<'py>(&self, py: Python<'py>, path: &str, count: u64, first: u64, last: u64) -> PyResult<Columns<'py>> {
        let rows = self.set.rows(&folder(path), count);
        let found = interruptible(py, |ask| rows.gather(first, last, ask));
        let found = found.map_err(|error| stopped(py, error, path))?;
        Ok((
            found.numbers.into_pyarray(py),
            found.urls.into_pyarray(py),
            found.offsets.into_pyarray(py),
            found.lengths.into_pyarray(py),
            PyBytes::new(py, &found.inline),
        ))
    }

    /// The URLs that are known so far, by their numbers.
    fn urls(&self) -> Vec<String> {
        let texts = (0..self.urls.len()).map_while(|i| self.urls.get(u32::try_from(i).ok()?));
        texts.map(|text| text.to_string()).collect()
    }

    /// The states in which the sources were scanned: size, time of the last change and ETag, by URL.
    fn stamps(&self, py: Python<'_>) -> PyResult<HashMap<String, StampParts>> {
        let stamps = py.detach(|| self.set.stamps().all()).map_err(|error| raise(py, error, None))?;
        let parts = stamps.into_iter().map(|(url, stamp)| (url, (stamp.size, stamp.modified, stamp.etag)));
        Ok(parts.collect())
    }

    /// How many bytes of files and rows are kept.
    fn kept(&self) -> usize {
        self.set.bytes()
    }
}

/// Writes the record files of a set.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct ParquetWriter(Arc<refs::ParquetWriter>);

#[pymethods]
impl ParquetWriter {
    #[new]
    fn new(store: &Bound<'_, PyAny>, prefix: String, record_size: u64, threshold: f64) -> PyResult<Self> {
        let made = refs::ParquetWriter::new(native_store(store), prefix, record_size, threshold);
        Ok(Self(Arc::new(made.map_err(|error| raise(store.py(), error, None))?)))
    }

    /// The numbers of URLs in what is written; new ones are added.
    fn numbers<'py>(&self, py: Python<'py>, urls: Vec<String>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let numbers: Result<Vec<u32>, _> = urls.iter().map(|url| self.0.urls.number(url)).collect();
        Ok(numbers.map_err(|error| raise(py, error, None))?.into_pyarray(py))
    }

    /// Write the states in which the sources were scanned, in place of those that are there.
    fn stamps(&self, py: Python<'_>, stamps: HashMap<String, StampParts>) -> PyResult<()> {
        let stamps = stamps.into_iter().map(|(url, (size, modified, etag))| (url, Stamp { size, modified, etag }));
        let stamps = stamps.collect();
        py.detach(|| self.0.stamps().write(stamps)).map_err(|error| raise(py, error, None))
    }

    /// Begin an array at the first chunk of a record.
    fn array(&self, path: String, record: u64) -> ParquetArray {
        let array = self.0.array(&folder(&path), record);
        ParquetArray { writer: Arc::clone(&self.0), path, array: Mutex::new(Some(array)) }
    }
}

/// An array whose record files are being written.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct ParquetArray {
    writer: Arc<refs::ParquetWriter>,
    path: String,
    array: Mutex<Option<refs::ArrayWriter>>,
}

#[pymethods]
impl ParquetArray {
    /// Add the references of the chunks that follow; `count` chunks, of which those in `numbers` have one.
    #[pyo3(signature = (count, numbers, urls, offsets, lengths, inline))]
    #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "one for each column")]
    fn append(
        &self,
        py: Python<'_>,
        count: u64,
        numbers: Option<PyReadonlyArray1<'_, u64>>,
        urls: PyReadonlyArray1<'_, u32>,
        offsets: PyReadonlyArray1<'_, u64>,
        lengths: PyReadonlyArray1<'_, u64>,
        inline: &[u8],
    ) -> PyResult<()> {
        let numbers = numbers.as_ref().map(|numbers| numbers.as_slice()).transpose()?;
        let (urls, offsets, lengths) = (urls.as_slice()?, offsets.as_slice()?, lengths.as_slice()?);
        let piece = Piece { count, numbers, urls, offsets, lengths, inline };
        // The lock is taken without the GIL: whoever holds it may ask for signals.
        let done = interruptible(py, |ask| match &mut *self.array.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(array) => self.writer.append(array, piece, ask),
            None => Err(Error::Invalid("the array is written already".into())),
        });
        done.map_err(|error| stopped(py, error, &self.path))
    }

    /// Write what is left; the number of chunks that the array has now.
    fn finish(&self, py: Python<'_>) -> PyResult<u64> {
        let done = interruptible(py, |ask| match self.array.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(array) => self.writer.finish(array, ask),
            None => Err(Error::Invalid("the array is written already".into())),
        });
        done.map_err(|error| stopped(py, error, &self.path))
    }
}
