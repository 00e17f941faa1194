//! Reference sets as JSON: read, filled in by Python where templates are, and handed on as columns or as a store.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use omnizarr_core::error::{Error, Result};
use omnizarr_core::keys::Keys;
use omnizarr_core::refs::{self, ArrayRefs, Bounds, ByKey, Formula, Grid, Placed, WrittenRows};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::errors::raise;
use crate::refs::{Parts, References, Template};
use crate::refs_formula::{Dimensions, Tree};

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Columns<'py> =
    (Option<Column<'py, u64>>, Column<'py, u32>, Column<'py, u64>, Column<'py, u64>, Bound<'py, PyBytes>);

/// An offset and a length, or neither.
type Part = Option<(u64, u64)>;

struct State {
    set: refs::JsonSet,
    formulas: Vec<Formula>,
    placed: Option<Placed>,
    grids: Vec<Grid>,
}

/// A set in JSON that is being read.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct JsonSet(Mutex<State>);

impl JsonSet {
    fn of(set: refs::JsonSet) -> Self {
        Self(Mutex::new(State { set, formulas: Vec::new(), placed: None, grids: Vec::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unplaced() -> PyErr {
    PyValueError::new_err("the references have no places yet")
}

#[pymethods]
impl JsonSet {
    #[new]
    fn new() -> Self {
        Self::of(refs::JsonSet::default())
    }

    /// Read the text of a set.
    #[staticmethod]
    #[pyo3(signature = (data, target=None))]
    fn read(py: Python<'_>, data: &[u8], target: Option<&str>) -> PyResult<Self> {
        let read = py.detach(|| refs::JsonSet::read(data, target));
        Ok(Self::of(read.map_err(|error| raise(py, error, None))?))
    }

    fn __len__(&self) -> usize {
        self.lock().set.len()
    }

    fn push_inline(&self, key: &str, data: &[u8]) {
        self.lock().set.push_inline(key, data);
    }

    #[pyo3(signature = (key, url, part=None))]
    fn push_part(&self, py: Python<'_>, key: &str, url: &str, part: Part) -> PyResult<()> {
        self.lock().set.push_part(key, url, part).map_err(|error| raise(py, error, None))
    }

    /// Members besides the references, as they stand.
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, text) in &self.lock().set.members {
            dict.set_item(name, PyBytes::new(py, text))?;
        }
        Ok(dict)
    }

    /// Names of members that mean nothing.
    fn strange(&self) -> Vec<String> {
        self.lock().set.strange.clone()
    }

    /// Values that are in the set itself, of keys whose last part is one of these names.
    #[allow(clippy::needless_pass_by_value, reason = "sets cannot be borrowed")]
    fn texts<'py>(&self, py: Python<'py>, names: HashSet<String>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (key, data) in self.lock().set.texts() {
            if names.contains(key.rsplit('/').next().unwrap_or_default()) {
                dict.set_item(key, PyBytes::new(py, data))?;
            }
        }
        Ok(dict)
    }

    /// URLs that may be templates, by number.
    fn templated(&self) -> Vec<(u32, String)> {
        self.lock().set.templated().into_iter().map(|(number, url)| (number, url.to_string())).collect()
    }

    fn key_of(&self, url: u32) -> String {
        self.lock().set.key_of(url)
    }

    #[allow(clippy::needless_pass_by_value, reason = "dictionaries cannot be borrowed")]
    fn replace_urls(&self, py: Python<'_>, by: HashMap<u32, String>) -> PyResult<()> {
        self.lock().set.replace_urls(&by).map_err(|error| raise(py, error, None))
    }

    /// Add references by formula; those that are added later count more.
    #[pyo3(signature = (dimensions, key, url, part=None))]
    #[allow(clippy::needless_pass_by_value, reason = "lists cannot be borrowed")]
    fn add_formula(
        &self,
        py: Python<'_>,
        dimensions: Dimensions,
        key: Tree,
        url: Tree,
        part: Option<(Tree, Tree)>,
    ) -> PyResult<()> {
        let dimensions = dimensions.made().map_err(|error| raise(py, error, None))?;
        let mut state = self.lock();
        let part = part.map(|(offset, length)| (offset.0, length.0));
        let made = Formula::new(dimensions, key.0, url.0, part, state.set.urls(), Bounds::default());
        state.formulas.push(made);
        Ok(())
    }

    /// Turn the formulas into references, if they are no more than `most`.
    fn expand(&self, py: Python<'_>, most: u64) -> PyResult<()> {
        let (mut set, formulas) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.set), std::mem::take(&mut state.formulas))
        };
        let done = py.detach(|| -> Result<()> {
            let mut left = most;
            for formula in &formulas {
                left = left.saturating_sub(formula.expand_into(&mut set, left)?);
            }
            Ok(())
        });
        self.lock().set = set;
        done.map_err(|error| raise(py, error, None))
    }

    /// Give the references to the arrays whose chunks they are.
    fn place(&self, py: Python<'_>, grids: Vec<(String, Template, Vec<u64>)>) -> PyResult<()> {
        let set = std::mem::take(&mut self.lock().set);
        let grids: Vec<Grid> =
            grids.into_iter().map(|(path, keys, counts)| Grid { keys: keys_of(&path, keys), counts }).collect();
        let placed = py.detach(|| set.place(&grids)).map_err(|error| raise(py, error, None))?;
        let mut state = self.lock();
        state.placed = Some(placed);
        state.grids = grids;
        Ok(())
    }

    /// The set as what a store is made of; nothing is left here.
    fn references(&self, py: Python<'_>) -> PyResult<References> {
        let (placed, grids, formulas) = {
            let mut state = self.lock();
            (state.placed.take(), std::mem::take(&mut state.grids), std::mem::take(&mut state.formulas))
        };
        let mut placed = placed.ok_or_else(unplaced)?;
        let made = py.detach(|| -> Result<References> {
            let mut parts = Parts::default();
            for (i, Grid { keys, counts }) in grids.into_iter().enumerate() {
                let rows = Box::new(placed.take_columns(i)?);
                parts.arrays.push((keys.path.clone(), ArrayRefs { keys, counts, rows }));
            }
            // What a formula says counts more than what stands under the same key.
            for (key, data) in std::mem::take(&mut placed.documents) {
                let found =
                    formulas.iter().try_fold(false, |found, one| Ok::<_, Error>(found || one.find(&key)?.is_some()))?;
                if !found {
                    parts.documents.push((key, data));
                }
            }
            parts.others.extend(formulas.into_iter().rev().map(|one| Box::new(one) as Box<dyn ByKey>));
            if !placed.loose.is_empty() {
                parts.others.push(Box::new(placed.loose));
            }
            Ok(References::of(placed.urls, parts))
        });
        made.map_err(|error| raise(py, error, None))
    }

    /// The columns of an array, by the place of its grid; they are gone from here then.
    fn columns<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Columns<'py>> {
        let mut state = self.lock();
        let placed = state.placed.as_mut().ok_or_else(unplaced)?;
        let mut array = placed.arrays.get_mut(i).map(std::mem::take).unwrap_or_default();
        let inline = own_inline(&array.urls, &mut array.offsets, &array.lengths, &placed.inline);
        Ok((
            array.numbers.map(|numbers| numbers.into_pyarray(py)),
            array.urls.into_pyarray(py),
            array.offsets.into_pyarray(py),
            array.lengths.into_pyarray(py),
            PyBytes::new(py, &inline),
        ))
    }

    /// What is in the set itself and is no chunk.
    fn documents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.lock();
        let dict = PyDict::new(py);
        for (key, data) in &state.placed.as_ref().ok_or_else(unplaced)?.documents {
            dict.set_item(key, PyBytes::new(py, data))?;
        }
        Ok(dict)
    }

    /// References that are no chunks: key, number of the URL, and a part of it.
    fn others(&self) -> PyResult<Vec<(String, u32, Part)>> {
        let state = self.lock();
        let placed = state.placed.as_ref().ok_or_else(unplaced)?;
        Ok(placed.loose.iter().map(|(key, url, part)| (key.to_owned(), url, part)).collect())
    }

    fn urls(&self) -> PyResult<Vec<String>> {
        let state = self.lock();
        let urls = &state.placed.as_ref().ok_or_else(unplaced)?.urls;
        let all = 0..u32::try_from(urls.len()).unwrap_or(u32::MAX);
        Ok(all.filter_map(|i| Some(urls.get(i)?.to_string())).collect())
    }
}

fn keys_of(path: &str, keys: Template) -> Keys {
    let (prefix, separator, suffix, scalar, reversed) = keys;
    let path = if path.is_empty() { String::new() } else { format!("{path}/") };
    Keys { path, prefix, separator, suffix, scalar, reversed }
}

/// The inline bytes of one array, with the offsets made to fit.
fn own_inline(urls: &[u32], offsets: &mut [u64], lengths: &[u64], all: &Bytes) -> Vec<u8> {
    let mut own = Vec::new();
    for ((&url, offset), &length) in urls.iter().zip(offsets).zip(lengths) {
        if url == refs::INLINE {
            let place = usize::try_from(*offset).ok().zip(usize::try_from(length).ok());
            let part = place.and_then(|(start, n)| all.get(start..start.checked_add(n)?));
            *offset = own.len() as u64;
            own.extend_from_slice(part.unwrap_or_default());
        }
    }
    own
}

/// Writes the references of one set as JSON.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct JsonWriter(Mutex<refs::Writer>);

#[pymethods]
impl JsonWriter {
    #[new]
    #[allow(clippy::needless_pass_by_value, reason = "lists cannot be borrowed")]
    fn new(urls: Vec<String>) -> Self {
        Self(Mutex::new(refs::Writer::new(urls.iter().map(String::as_str))))
    }

    /// The members for chunks of an array, each followed by a comma.
    #[pyo3(signature = (path, keys, counts, numbers, first, urls, offsets, lengths, inline))]
    #[allow(clippy::too_many_arguments, reason = "one for each column")]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        keys: Template,
        counts: Vec<u64>,
        numbers: Option<PyReadonlyArray1<'_, u64>>,
        first: u64,
        urls: PyReadonlyArray1<'_, u32>,
        offsets: PyReadonlyArray1<'_, u64>,
        lengths: PyReadonlyArray1<'_, u64>,
        inline: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rows = WrittenRows {
            counts: &counts,
            numbers: numbers.as_ref().map(|numbers| numbers.as_slice()).transpose()?,
            first,
            urls: urls.as_slice()?,
            offsets: offsets.as_slice()?,
            lengths: lengths.as_slice()?,
            inline,
        };
        let keys = keys_of(path, keys);
        let text = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).rows(&keys, &rows));
        Ok(PyBytes::new(py, text.map_err(|error| raise(py, error, Some(path)))?.as_bytes()))
    }

    /// Bytes as the text that stands for them, with quotes.
    fn data<'py>(&self, py: Python<'py>, data: &[u8]) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.lock().unwrap_or_else(PoisonError::into_inner).bytes(data))
    }
}

/// Undo gzip or zstd, if the bytes begin as those do; `None` if not.
#[pyfunction]
pub fn unpacked<'py>(py: Python<'py>, data: &[u8], most: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let done = py.detach(|| refs::unpacked(data, most)).map_err(|error| raise(py, error, None))?;
    Ok(done.map(|bytes| PyBytes::new(py, &bytes)))
}

/// Pack bytes by "gzip" or "zstd".
#[pyfunction]
pub fn packed<'py>(py: Python<'py>, data: &[u8], how: &str) -> PyResult<Bound<'py, PyBytes>> {
    let done = py.detach(|| refs::packed(data, how)).map_err(|error| raise(py, error, None))?;
    Ok(PyBytes::new(py, &done))
}
