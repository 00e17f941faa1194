//! Reference sets: put together from Python column by column, then a store of the kernel's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use numpy::PyReadonlyArray1;
use omnizarr_core::error::{Error, Result};
use omnizarr_core::keys::Keys;
use omnizarr_core::refs::{ArrayRefs, ByKey, Columns, Connect, Guard, Opener, RefStore, Rows, Stamp, Stamps, Urls};
use pyo3::prelude::*;

use crate::cloud::PythonConnect;
use crate::errors::raise;
use crate::net::{GivenHeaders, headers as given_headers};
use crate::stores::ReferenceStore;

/// The parts of a template of keys, as `Keys` in Python lists them.
pub type Template = (String, String, String, String, bool);

/// Size, time of the last change and ETag of a source.
pub type StampParts = (Option<u64>, Option<i64>, Option<String>);

/// What is known of a set so far.
#[derive(Default)]
pub struct Parts {
    /// Whole values by key.
    pub documents: Vec<(String, Bytes)>,
    /// Arrays by path.
    pub arrays: Vec<(String, ArrayRefs)>,
    /// What is asked before the arrays.
    pub others: Vec<Box<dyn ByKey>>,
}

/// A reference set that is being put together.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct References {
    urls: Arc<Urls>,
    parts: Mutex<Parts>,
    later: Option<Arc<dyn Stamps>>,
}

impl References {
    /// A set of which all is known.
    pub fn of(urls: Arc<Urls>, parts: Parts) -> Self {
        Self { urls, parts: Mutex::new(parts), later: None }
    }

    /// A set whose URLs have numbers already, and whose sources have states that are looked up when they are opened.
    pub fn with_urls(urls: Arc<Urls>, later: Arc<dyn Stamps>) -> Self {
        Self { urls, parts: Mutex::default(), later: Some(later) }
    }

    /// The table of its URLs.
    pub fn urls(&self) -> &Arc<Urls> {
        &self.urls
    }

    /// Add an array.
    pub fn add(&self, path: &str, keys: Template, counts: Vec<u64>, rows: Box<dyn Rows>) {
        let (prefix, separator, suffix, scalar, reversed) = keys;
        let path = if path.is_empty() { String::new() } else { format!("{path}/") };
        let keys = Keys { path: path.clone(), prefix, separator, suffix, scalar, reversed };
        self.lock().arrays.push((path, ArrayRefs { keys, counts, rows }));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn column<T: numpy::Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> PyResult<Vec<T>> {
    Ok(array.as_slice()?.to_vec())
}

#[pymethods]
impl References {
    #[new]
    fn new(urls: Vec<String>) -> PyResult<Self> {
        let table = Urls::default();
        for (i, url) in urls.iter().enumerate() {
            let number = table.number(url).map_err(|error| Python::attach(|py| raise(py, error, None)))?;
            if usize::try_from(number) != Ok(i) {
                return Err(pyo3::exceptions::PyValueError::new_err(format!("the URL {url:?} is there twice")));
            }
        }
        Ok(Self { urls: Arc::new(table), parts: Mutex::default(), later: None })
    }

    fn add_document(&self, key: String, data: Vec<u8>) {
        self.lock().documents.push((key, data.into()));
    }

    #[pyo3(signature = (path, keys, counts, numbers, urls, offsets, lengths, inline))]
    #[allow(clippy::too_many_arguments, reason = "one for each column")]
    fn add_columns(
        &self,
        py: Python<'_>,
        path: &str,
        keys: Template,
        counts: Vec<u64>,
        numbers: Option<PyReadonlyArray1<'_, u64>>,
        urls: PyReadonlyArray1<'_, u32>,
        offsets: PyReadonlyArray1<'_, u64>,
        lengths: PyReadonlyArray1<'_, u64>,
        inline: Vec<u8>,
    ) -> PyResult<()> {
        let numbers = numbers.as_ref().map(column).transpose()?;
        let (urls, offsets, lengths) = (column(&urls)?, column(&offsets)?, column(&lengths)?);
        let made: Result<Columns> = Columns::new(numbers, urls, offsets, lengths, inline.into(), self.urls.len());
        self.add(path, keys, counts, Box::new(made.map_err(|error| raise(py, error, Some(path)))?));
        Ok(())
    }

    /// Make the store; nothing can be added any more, and nothing is left here.
    ///
    /// `connect` finds the object store, and the key in it, of a URL; it is told whether credentials may be used.
    /// `headers` go to the servers that are named with them.
    #[pyo3(signature = (base, allow, stamps, identity, connect=None, headers=None))]
    #[allow(clippy::too_many_arguments, reason = "what a set may reach, and how")]
    fn store(
        &self,
        py: Python<'_>,
        base: String,
        allow: Vec<String>,
        stamps: HashMap<String, StampParts>,
        identity: u64,
        connect: Option<Py<PyAny>>,
        headers: Option<GivenHeaders>,
    ) -> PyResult<ReferenceStore> {
        let headers = given_headers(py, headers)?;
        let stamps = stamps.into_iter().map(|(url, (size, modified, etag))| (url, Stamp { size, modified, etag }));
        let connect = connect.map(|function| Arc::new(PythonConnect(function)) as Arc<dyn Connect>);
        let guard = Guard { base, allow, stamps: stamps.collect(), later: self.later.clone() };
        let opener = Arc::new(Opener::new(guard, connect, headers));
        let mut store = RefStore::new(Arc::clone(&self.urls), opener, identity);
        let parts = std::mem::take(&mut *self.lock());
        store.documents.extend(parts.documents);
        store.others = parts.others;
        for (path, array) in parts.arrays {
            if store.arrays.insert(path.clone(), array).is_some() {
                return Err(raise(py, Error::Invalid(format!("the array {path:?} is there twice")), None));
            }
        }
        Ok(ReferenceStore(Arc::new(store)))
    }
}
