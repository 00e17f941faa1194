//! The kernel's stores as Python objects.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use omnizarr_core::buffer::Buffer;
use omnizarr_core::error::{Error, Result};
use omnizarr_core::refs::RefStore;
use omnizarr_core::store::{self, Store};
use omnizarr_core::{pool, scratch};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::raise;
use crate::fileobject::PythonFile;
use crate::locked_file::LockedFile;

/// From this many keys on, reading is spread over the threads.
const MANY: usize = 64;

fn get(py: Python<'_>, store: &dyn Store, key: &str) -> PyResult<Option<Py<PyBytes>>> {
    with_value(py, |dst| {
        store.begin()?;
        store.get(key, dst, usize::MAX)
    })
}

/// Keys that only begin others have no value, and in a folder they are folders; only the engine minds.
fn no_folder(found: Result<bool>) -> Result<bool> {
    match found {
        Err(error) if error.is_folder() => Ok(false),
        found => found,
    }
}

/// Run a read without the GIL and hand its bytes over.
fn with_value(py: Python<'_>, f: impl FnOnce(&mut Buffer) -> Result<bool> + Send) -> PyResult<Option<Py<PyBytes>>> {
    // The buffer is the thread's own, so a small document costs no allocation but the result's.
    scratch::with(|work| {
        let enc = &mut work.enc;
        let found = py.detach(|| no_folder(f(enc))).map_err(|error| raise(py, error, None))?;
        Ok(found.then(|| PyBytes::new(py, enc.as_slice()).unbind()))
    })
}

fn get_range(
    py: Python<'_>,
    store: &dyn Store,
    key: &str,
    start: i64,
    length: Option<u64>,
) -> PyResult<Option<Py<PyBytes>>> {
    with_value(py, |dst| {
        store.begin()?;
        let Some(object) = store.open(key)? else { return Ok(false) };
        let size = object.size();
        let from = match u64::try_from(start) {
            Ok(start) => start.min(size),
            Err(_) => size.saturating_sub(start.unsigned_abs()),
        };
        let n = length.unwrap_or(u64::MAX).min(size.saturating_sub(from));
        let n = usize::try_from(n).map_err(|_| Error::Limit(format!("a range of {n} bytes")))?;
        object.read_at(from, dst.space(n))?;
        Ok(true)
    })
}

/// Values of this size are read without a look at how large they are.
const SMALL: usize = 1 << 20;

/// Read a value that may have `most` bytes, without making room for more.
fn get_bounded(store: &dyn Store, key: &str, dst: &mut Buffer, most: usize) -> Result<bool> {
    if most == usize::MAX {
        return store.get(key, dst, most);
    }
    let there = store.get(key, dst, SMALL.min(most))?;
    if !there || dst.as_slice().len() <= SMALL.min(most) {
        return Ok(there);
    }
    let size = store.size(key)?.unwrap_or(0);
    if size > most as u64 {
        return Err(Error::Limit(format!("the document {key:?} has {size} bytes; at most {most} are read")));
    }
    store.get(key, dst, most)
}

fn get_many<'py>(
    py: Python<'py>,
    store: &dyn Store,
    keys: &[String],
    most: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let most = most.unwrap_or(usize::MAX);
    let values: Vec<std::sync::Mutex<Option<Vec<u8>>>> = keys.iter().map(|_| std::sync::Mutex::default()).collect();
    let read = |i: usize| -> Result<()> {
        let (Some(key), Some(slot)) = (keys.get(i), values.get(i)) else { return Ok(()) };
        scratch::with(|work| {
            if no_folder(get_bounded(store, key, &mut work.enc, most))? {
                *slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(work.enc.as_slice().to_vec());
            }
            Ok(())
        })
    };
    py.detach(|| {
        store.begin()?;
        pool::run(keys.len(), keys.len() >= MANY, &|| false, &read)
    })
    .map_err(|error| raise(py, error, None))?;
    let list = values.into_iter().map(|slot| {
        let value = slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        value.map(|bytes| PyBytes::new(py, &bytes))
    });
    PyList::new(py, list.collect::<Vec<_>>())
}

fn call<T: Send>(py: Python<'_>, store: &dyn Store, f: impl FnOnce(&dyn Store) -> Result<T> + Send) -> PyResult<T> {
    py.detach(|| {
        store.begin()?;
        f(store)
    })
    .map_err(|error| raise(py, error, None))
}

fn put(py: Python<'_>, store: &dyn Store, key: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        return call(py, store, |s| s.put(key, &[bytes]));
    }
    // Other buffers may change under us without the GIL, so they are copied.
    let bytes = PyBuffer::<u8>::get(data)?.to_vec(py)?;
    call(py, store, |s| s.put(key, &[&bytes]))
}

macro_rules! store_class {
    ($name:ident, $doc:literal, { $($own:item)* }) => {
        store_class!($name, store::$name, $doc, { $($own)* });
    };
    ($name:ident, $kind:ty, $doc:literal, { $($own:item)* }) => {
        #[doc = $doc]
        #[pyclass(frozen, module = "omnizarr._native")]
        pub struct $name(pub Arc<$kind>);

        #[pymethods]
        impl $name {
            $($own)*

            fn get(&self, py: Python<'_>, key: &str) -> PyResult<Option<Py<PyBytes>>> {
                get(py, &*self.0, key)
            }

            #[pyo3(signature = (key, start, length=None))]
            fn get_range(&self, py: Python<'_>, key: &str, start: i64, length: Option<u64>) -> PyResult<Option<Py<PyBytes>>> {
                get_range(py, &*self.0, key, start, length)
            }

            #[pyo3(signature = (keys, most=None))]
            fn get_many<'py>(
                &self,
                py: Python<'py>,
                keys: Vec<String>,
                most: Option<usize>,
            ) -> PyResult<Bound<'py, PyList>> {
                get_many(py, &*self.0, &keys, most)
            }

            fn put(&self, py: Python<'_>, key: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
                put(py, &*self.0, key, data)
            }

            fn erase(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
                call(py, &*self.0, |s| s.erase(key))
            }

            fn erase_prefix(&self, py: Python<'_>, prefix: &str) -> PyResult<()> {
                call(py, &*self.0, |s| s.erase_prefix(prefix))
            }

            fn list_prefix(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
                call(py, &*self.0, |s| s.list_prefix(prefix))
            }

            fn list_dir(&self, py: Python<'_>, prefix: &str) -> PyResult<(Vec<String>, Vec<String>)> {
                call(py, &*self.0, |s| s.list_dir(prefix))
            }

            fn size(&self, py: Python<'_>, key: &str) -> PyResult<Option<u64>> {
                call(py, &*self.0, |s| s.size(key))
            }

            fn exists(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
                call(py, &*self.0, |s| s.size(key)).map(|size| size.is_some())
            }
        }
    };
}

store_class!(FileStore, "Files below a directory.", {
    #[new]
    #[pyo3(signature = (root, durable=false))]
    fn new(root: PathBuf, durable: bool) -> Self {
        Self(Arc::new(store::FileStore::new(root, durable)))
    }

    fn has_folder(&self, prefix: &str) -> bool {
        // By the name of the root: another folder may have taken its place.
        std::fs::exists(self.0.path().join(prefix)).unwrap_or(false)
    }

    fn put_new(&self, py: Python<'_>, key: &str, data: &[u8]) -> PyResult<Option<u64>> {
        call(py, &*self.0, |_| self.0.put_first(key, data))
    }

    fn put_in(&self, py: Python<'_>, folder: &LockedFile, key: &str, data: &[u8]) -> PyResult<bool> {
        let Some(folder) = folder.held() else { return Ok(false) };
        call(py, &*self.0, |_| self.0.put_in(&folder, key, data))
    }

    #[getter]
    fn root(&self) -> &Path {
        self.0.path()
    }

    fn sweep(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.0.sweep()).map_err(|error| raise(py, error, None))
    }
});
store_class!(MemoryStore, "Values in memory.", {
    #[new]
    fn new() -> Self {
        Self(Arc::new(store::MemoryStore::default()))
    }
});
store_class!(ZipStore, "Entries of a zip archive.", {
    #[new]
    #[pyo3(signature = (place, durable=false, limit=1 << 30))]
    fn new(place: &Bound<'_, PyAny>, durable: bool, limit: u64) -> Self {
        Self(Arc::new(match place.extract::<PathBuf>() {
            Ok(path) => store::ZipStore::at(path, durable, limit),
            Err(_) => store::ZipStore::within(Arc::new(PythonFile::new(place)), limit),
        }))
    }

    fn raise_limit(&self, limit: u64) {
        self.0.raise_limit(limit);
    }

    fn make_durable(&self) {
        self.0.make_durable();
    }

    #[getter]
    fn changed(&self) -> bool {
        self.0.is_changed()
    }

    fn ignored(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        py.detach(|| self.0.ignored()).map_err(|error| raise(py, error, None))
    }

    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.commit()).map_err(|error| self.raise(py, error))
    }

    fn sweep(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.0.sweep()).map_err(|error| self.raise(py, error))
    }

    fn discard(&self, py: Python<'_>) {
        py.detach(|| self.0.discard());
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.close()).map_err(|error| self.raise(py, error))
    }
});

impl ZipStore {
    /// An error about the whole archive, which names it.
    fn raise(&self, py: Python<'_>, error: Error) -> PyErr {
        raise(py, error, self.0.path().and_then(|path| path.to_str()))
    }
}

store_class!(ReferenceStore, RefStore, "Byte ranges of other files, by reference.", {});
