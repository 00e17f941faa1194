//! The array kernel as a Python object.

use std::sync::{Arc, Mutex};

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use omnizarr_core::ask;
use omnizarr_core::engine::{Engine, Spec, Watch};
use omnizarr_core::error::{Error, Result};
use omnizarr_core::grid::Axis;
use omnizarr_core::keys::Keys;
use omnizarr_core::mem::View;
use omnizarr_core::plan::Select;
use omnizarr_core::pool::Interrupt;
use omnizarr_core::store::Store;
use omnizarr_core::vlen::{Arenas, RECORD};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::cloud::CloudStore;
use crate::errors::raise;
use crate::foreign::PythonStore;
use crate::stores::{FileStore, MemoryStore, ReferenceStore, ZipStore};
use crate::survey::Survey;
use crate::{arrays, chain, strings};

/// One array, ready to be read and written; cheap to make, immutable.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct Kernel {
    engine: Engine,
    path: String,
    item: usize,
    /// `Some(true)` for strings, `Some(false)` for bytes, `None` for items of a fixed size.
    text: Option<bool>,
}

/// What to do with the caller's memory.
type Move<'a> = &'a (dyn Fn(&View, Option<&Arenas>, Interrupt<'_>) -> Result<()> + Sync);

/// Why a call ended early.
pub enum Stopped {
    /// A signal's handler raised this.
    Raised(PyErr),
    /// The kernel failed.
    Failed(Error),
}

/// Run without the GIL; look for signals now and then, and let a raised one stop the call.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    f: impl Fn(Interrupt<'_>) -> Result<T> + Sync,
) -> std::result::Result<T, Stopped> {
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let ask = || {
        let failed = Python::attach(|py| py.check_signals().err());
        let stop = failed.is_some();
        if let (Some(error), Ok(mut slot)) = (failed, raised.lock()) {
            *slot = Some(error);
        }
        stop
    };
    let done = py.detach(|| ask::with(&ask, || f(&ask)));
    match (done, raised.into_inner().ok().flatten()) {
        (Ok(value), None) => Ok(value),
        (_, Some(error)) => Err(Stopped::Raised(error)),
        (Err(error), None) => Err(Stopped::Failed(error)),
    }
}

impl Kernel {
    /// Run without the GIL, as above.
    pub fn run(&self, py: Python<'_>, f: &(dyn Fn(Interrupt<'_>) -> Result<()> + Sync)) -> PyResult<()> {
        interruptible(py, f).map_err(|error| match error {
            Stopped::Raised(error) => error,
            Stopped::Failed(error) => raise(py, self.named(error), Some(&self.path)),
        })
    }

    /// Call the codec of variable-length items by the name that users know it by.
    pub fn named(&self, mut error: Error) -> Error {
        if let (Error::Chunk { cause, .. }, Some(text)) = (&mut error, self.text)
            && cause.codec == "vlen"
        {
            cause.codec = if text { "vlen-utf8" } else { "vlen-bytes" }.into();
        }
        error
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether elements are strings.
    pub fn is_text(&self) -> bool {
        self.text == Some(true)
    }

    /// Read into an array; whether nothing was found for some of it, and the array's document is not there either.
    fn read_into(&self, out: &Bound<'_, PyUntypedArray>, shape: &[usize], f: Move<'_>) -> PyResult<bool> {
        let py = out.py();
        let before = self.engine.misses();
        if let Some(text) = self.text {
            check_objects(out, shape)?;
            let mut records = room(shape).ok_or_else(|| {
                let message = format!("a result of shape {shape:?} does not fit into memory");
                raise(py, Error::Memory(message), Some(&self.path))
            })?;
            let arenas = Arenas::new(self.engine.fill(), Vec::new());
            let view = record_view(&mut records, shape);
            self.run(py, &|ask| f(&view, Some(&arenas), ask))?;
            strings::store_objects(out, &records, &arenas, text, &self.path)?;
        } else {
            let view = arrays::view(out, shape, self.item, true)?;
            self.run(py, &|ask| f(&view, None, ask))?;
        }
        if self.engine.misses() == before {
            return Ok(false);
        }
        py.detach(|| self.engine.is_gone()).map_err(|error| raise(py, error, Some(&self.path)))
    }

    fn write_from(&self, values: &Bound<'_, PyUntypedArray>, shape: &[usize], f: Move<'_>) -> PyResult<()> {
        let py = values.py();
        let Some(text) = self.text else {
            let view = arrays::view(values, shape, self.item, false)?;
            return self.run(py, &|ask| f(&view, None, ask));
        };
        check_objects(values, shape)?;
        let (mut records, bytes) = strings::load_objects(values, text)?;
        let arenas = Arenas::new(self.engine.fill(), bytes);
        let view = record_view(&mut records, shape);
        self.run(py, &|ask| f(&view, Some(&arenas), ask))
    }
}

fn check_objects(array: &Bound<'_, PyUntypedArray>, shape: &[usize]) -> PyResult<()> {
    if !arrays::holds_objects(array) || array.shape() != shape {
        return Err(PyValueError::new_err(format!("an array of objects of shape {shape:?} is expected")));
    }
    Ok(())
}

/// Records for elements of a shape, cleared; `None` if they do not fit into memory.
fn room(shape: &[usize]) -> Option<Vec<u8>> {
    let size = shape.iter().try_fold(RECORD, |size, &n| size.checked_mul(n))?;
    let mut records = Vec::new();
    records.try_reserve_exact(size).ok()?;
    records.resize(size, 0);
    Some(records)
}

#[allow(unsafe_code)]
fn record_view(records: &mut [u8], shape: &[usize]) -> View {
    // SAFETY: the records are dense, one for each element of the shape, and outlive the call.
    unsafe { View::new(records.as_mut_ptr(), &omnizarr_core::cell::strides(shape, RECORD)) }
}

fn counts(selection: &[Select]) -> Vec<usize> {
    selection.iter().map(Select::count).collect()
}

fn slices(lists: &[Vec<i64>]) -> Vec<&[i64]> {
    lists.iter().map(Vec::as_slice).collect()
}

/// One dimension of a grid: a length for all chunks, or runs of lengths and counts, or of these and lengths as stored.
#[derive(FromPyObject)]
enum Lengths {
    Even(usize),
    Runs(Vec<(usize, usize)>),
    Padded(Vec<(usize, usize, usize)>),
}

impl Lengths {
    fn axis(self, clipped: bool) -> Axis {
        match self {
            Self::Even(len) if clipped => Axis::Clipped(len),
            Self::Even(len) => Axis::Even(len),
            Self::Runs(runs) => Axis::Runs(runs),
            Self::Padded(runs) => Axis::Padded(runs),
        }
    }
}

/// The kernel's own store behind a Python object, or one that calls it.
pub fn native_store(store: &Bound<'_, PyAny>) -> Arc<dyn Store> {
    if let Ok(file) = store.cast::<FileStore>() {
        Arc::clone(&file.get().0) as Arc<dyn Store>
    } else if let Ok(memory) = store.cast::<MemoryStore>() {
        Arc::clone(&memory.get().0) as Arc<dyn Store>
    } else if let Ok(zip) = store.cast::<ZipStore>() {
        Arc::clone(&zip.get().0) as Arc<dyn Store>
    } else if let Ok(cloud) = store.cast::<CloudStore>() {
        cloud.get().0.clone()
    } else if let Ok(references) = store.cast::<ReferenceStore>() {
        Arc::clone(&references.get().0) as Arc<dyn Store>
    } else {
        Arc::new(PythonStore::new(store))
    }
}

#[pymethods]
impl Kernel {
    #[new]
    #[pyo3(signature = (store, prefix, shape, chunks, keys, itemsize, fill, chain, *, name="", vlen="", write_empty=false,
        clipped=false, cache_bytes=0, max_chunk_bytes=1 << 32, max_variable_bytes=1 << 31, document=None))]
    #[allow(clippy::too_many_arguments, reason = "an array is made of this much")]
    fn new(
        store: &Bound<'_, PyAny>,
        prefix: String,
        shape: Vec<u64>,
        chunks: Vec<Lengths>,
        keys: (String, String, String, String, bool),
        itemsize: usize,
        fill: Option<Vec<u8>>,
        chain: &Bound<'_, PyList>,
        name: &str,
        vlen: &str,
        write_empty: bool,
        clipped: bool,
        cache_bytes: usize,
        max_chunk_bytes: usize,
        max_variable_bytes: usize,
        document: Option<String>,
    ) -> PyResult<Self> {
        let text = match vlen {
            "" => None,
            "string" => Some(true),
            "bytes" => Some(false),
            _ => return Err(PyValueError::new_err(format!("vlen {vlen:?} is not one of '', 'string', 'bytes'"))),
        };
        let path = if name.is_empty() { format!("/{}", prefix.trim_end_matches('/')) } else { name.to_owned() };
        let item = if text.is_some() { RECORD } else { itemsize };
        let (key_prefix, separator, suffix, scalar, reversed) = keys;
        let spec = Spec {
            shape,
            chunks: chunks.into_iter().map(|lengths| lengths.axis(clipped)).collect(),
            keys: Keys { path: prefix, prefix: key_prefix, separator, suffix, scalar, reversed },
            fill: if text.is_some() { Some(fill.unwrap_or_default()) } else { fill },
            chain: chain::build(chain, item, max_variable_bytes)?,
            write_empty,
            cache: cache_bytes,
            most_chunk: max_chunk_bytes,
            document,
        };
        let engine = Engine::new(native_store(store), spec).map_err(|error| raise(store.py(), error, Some(&path)))?;
        if engine.is_vlen() != text.is_some() {
            return Err(PyValueError::new_err("variable-length items need a vlen step, and the reverse"));
        }
        Ok(Self { engine, path, item, text })
    }

    #[pyo3(signature = (selection, out, zeroed=false))]
    fn read(&self, selection: &Bound<'_, PyList>, out: &Bound<'_, PyUntypedArray>, zeroed: bool) -> PyResult<bool> {
        let selection = arrays::selection(selection)?;
        let engine = &self.engine;
        self.read_into(out, &counts(&selection), &|view, arenas, ask| {
            engine.read(&selection, view, zeroed, arenas, ask)
        })
    }

    #[pyo3(signature = (selection, values, seen=None))]
    fn write(
        &self,
        selection: &Bound<'_, PyList>,
        values: &Bound<'_, PyUntypedArray>,
        seen: Option<u64>,
    ) -> PyResult<Option<u64>> {
        let selection = arrays::selection(selection)?;
        let (engine, watch) = (&self.engine, Watch::new(seen));
        self.write_from(values, &counts(&selection), &|view, arenas, ask| {
            engine.write(&selection, view, arenas, &watch, ask)
        })?;
        Ok(watch.found())
    }

    fn read_points(&self, coordinates: &Bound<'_, PyList>, out: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
        self.read_at(&arrays::coordinates(coordinates)?, out)
    }

    #[pyo3(signature = (coordinates, values, seen=None))]
    fn write_points(
        &self,
        coordinates: &Bound<'_, PyList>,
        values: &Bound<'_, PyUntypedArray>,
        seen: Option<u64>,
    ) -> PyResult<Option<u64>> {
        self.write_at(&arrays::coordinates(coordinates)?, values, seen)
    }

    fn read_mask(&self, mask: &Bound<'_, PyUntypedArray>, out: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
        self.read_at(&arrays::mask_coordinates(mask)?, out)
    }

    #[pyo3(signature = (mask, values, seen=None))]
    fn write_mask(
        &self,
        mask: &Bound<'_, PyUntypedArray>,
        values: &Bound<'_, PyUntypedArray>,
        seen: Option<u64>,
    ) -> PyResult<Option<u64>> {
        self.write_at(&arrays::mask_coordinates(mask)?, values, seen)
    }

    fn state(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        py.detach(|| self.engine.state()).map_err(|error| raise(py, error, Some(&self.path)))
    }

    /// Number of stored chunks (shards, where sharded) of the grid, and their bytes.
    fn stored(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.ask(py, Engine::stored)
    }

    /// List the array's keys once: which chunks are stored, and what else lies there.
    #[pyo3(signature = (documents=Vec::new(), most=1000))]
    fn survey(slf: &Bound<'_, Self>, documents: Vec<String>, most: usize) -> PyResult<Survey> {
        let kernel = slf.get();
        let made: Mutex<Option<omnizarr_core::engine::Survey>> = Mutex::new(None);
        kernel.run(slf.py(), &|ask| {
            let survey = kernel.engine.survey(&documents, most, ask)?;
            *made.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(survey);
            Ok(())
        })?;
        let survey = made.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).unwrap_or_default();
        Ok(Survey::new(slf.clone().unbind(), survey))
    }

    /// Erase chunks that lie outside the shape; returns how many.
    fn trim(&self, py: Python<'_>) -> PyResult<u64> {
        self.ask(py, Engine::trim)
    }
}

impl Kernel {
    fn read_at(&self, points: &[Vec<i64>], out: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
        let n = points.first().map_or(out.len(), Vec::len);
        let (engine, points) = (&self.engine, slices(points));
        self.read_into(out, &[n], &|view, arenas, ask| engine.read_points(&points, view, arenas, ask))
    }

    fn write_at(
        &self,
        points: &[Vec<i64>],
        values: &Bound<'_, PyUntypedArray>,
        seen: Option<u64>,
    ) -> PyResult<Option<u64>> {
        let n = points.first().map_or(values.len(), Vec::len);
        let (engine, points, watch) = (&self.engine, slices(points), Watch::new(seen));
        self.write_from(values, &[n], &|view, arenas, ask| engine.write_points(&points, view, arenas, &watch, ask))?;
        Ok(watch.found())
    }

    fn ask<T: Send>(&self, py: Python<'_>, f: fn(&Engine) -> std::result::Result<T, Error>) -> PyResult<T> {
        py.detach(|| f(&self.engine)).map_err(|error| raise(py, error, Some(&self.path)))
    }
}
