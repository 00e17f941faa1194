//! Object stores as Python objects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use omnizarr_core::cloud::{self, Keep, Keys, Place, Renew, Settings};
use omnizarr_core::error::{Error, Result};
use omnizarr_core::net;
use omnizarr_core::pool::Interrupt;
use omnizarr_core::refs::{Connect, Guard, Source, Stamp, judging};
use omnizarr_core::store::Store;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use url::Url;

use crate::errors::raise;
use crate::kernel::{Stopped, interruptible};
use crate::net::{GivenHeaders, RemoteFile, headers as given_headers};

/// Keys of a bucket, or files of a web server, below a prefix.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct CloudStore(pub Arc<cloud::CloudStore>);

/// A value as `bytes`, or nothing.
type Value = Option<Py<PyBytes>>;

impl CloudStore {
    fn run<T: Send>(&self, py: Python<'_>, f: impl Fn(Interrupt<'_>) -> Result<T> + Sync) -> PyResult<T> {
        interruptible(py, f).map_err(|stopped| match stopped {
            Stopped::Raised(error) => error,
            Stopped::Failed(error) => raise(py, error, Some(self.0.uri())),
        })
    }
}

fn settings(given: &BTreeMap<String, f64>) -> PyResult<Settings> {
    let mut made = Settings::default();
    for (name, &value) in given {
        let seconds = || Duration::try_from_secs_f64(value).unwrap_or_default();
        match name.as_str() {
            "attempts" => made.net.attempts = value.max(1.0) as u32,
            "pause" => made.net.pause = seconds(),
            "stall" => made.net.stall = seconds(),
            "patience" => made.net.patience = seconds(),
            "budget" => made.budget = seconds(),
            "forbidden_is_missing" => made.forbidden_is_missing = value != 0.0,
            "conditional" => made.conditional = value != 0.0,
            other => return Err(pyo3::exceptions::PyTypeError::new_err(format!("there is no setting {other:?}"))),
        }
    }
    Ok(made)
}

/// A function of Python's that gives new keys: their values by name, and when they run out.
struct PythonRenewal(Py<PyAny>);

impl Renew for PythonRenewal {
    fn renew(&self) -> Result<Keys> {
        let fail = |error: &dyn std::fmt::Display| Error::Invalid(format!("credentials cannot be renewed: {error}"));
        Python::attach(|py| {
            let (mut values, until): (BTreeMap<String, String>, Option<f64>) =
                self.0.call0(py).and_then(|made| made.extract(py)).map_err(|error| fail(&error))?;
            let mut take = |name: &str| values.remove(name);
            Ok(Keys {
                id: take("aws_access_key_id").ok_or_else(|| fail(&"no access key came"))?,
                secret: take("aws_secret_access_key").ok_or_else(|| fail(&"no secret key came"))?,
                token: take("aws_session_token"),
                until: until
                    .and_then(|until| Duration::try_from_secs_f64(until).ok())
                    .and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since)),
            })
        })
    }
}

/// A function of Python's that finds the store, and the key in it, of a URL.
pub struct PythonConnect(pub Py<PyAny>);

impl Connect for PythonConnect {
    fn connect(&self, url: &Url, trusted: bool, stamp: Stamp) -> Result<Arc<dyn Source>> {
        let (store, key) = Python::attach(|py| {
            let fail = |error: PyErr| Error::Foreign { key: url.to_string(), source: Box::new(error) };
            let found = self.0.call1(py, (url.as_str(), trusted)).map_err(fail)?;
            let (store, key): (Py<CloudStore>, String) = found.extract(py).map_err(fail)?;
            Ok((Arc::clone(&store.get().0), key))
        })?;
        store.part_of(&key, stamp)
    }
}

fn value(py: Python<'_>, bytes: Option<Bytes>) -> Value {
    bytes.map(|bytes| PyBytes::new(py, &bytes).unbind())
}

/// A copy of what a buffer holds: it may change while it is sent.
fn copied(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(Bytes::copy_from_slice(bytes.as_bytes()));
    }
    Ok(Bytes::from(PyBuffer::<u8>::get(data)?.to_vec(py)?))
}

#[pymethods]
impl CloudStore {
    #[new]
    #[pyo3(signature = (kind, config, prefix, uri, *, options=None, renew=None, allow=None, cache=None, trusted=true,
        headers=None))]
    #[allow(clippy::too_many_arguments, reason = "a place has a kind, settings, a prefix and a name")]
    fn new(
        py: Python<'_>,
        kind: &str,
        config: BTreeMap<String, String>,
        prefix: &str,
        uri: String,
        options: Option<BTreeMap<String, f64>>,
        renew: Option<Py<PyAny>>,
        allow: Option<Vec<String>>,
        cache: Option<(std::path::PathBuf, u64)>,
        trusted: bool,
        headers: Option<GivenHeaders>,
    ) -> PyResult<Self> {
        let fail = |error| raise(py, error, None);
        let renew = renew.map(|function| Arc::new(PythonRenewal(function)) as Arc<dyn Renew>);
        let keep = cache.map(|(folder, bytes)| Keep { folder, bytes });
        let headers = given_headers(py, headers)?;
        let place = Place { kind: kind.parse().map_err(fail)?, config, uri, trusted, renew, keep, headers };
        let guard = Guard { allow: allow.unwrap_or_default(), ..Guard::default() };
        let settings = settings(&options.unwrap_or_default())?;
        let made = cloud::CloudStore::new(place, prefix, settings, judging(Arc::new(guard)));
        Ok(Self(Arc::new(made.map_err(fail)?)))
    }

    fn get(&self, py: Python<'_>, key: &str) -> PyResult<Value> {
        let keys = [key.to_owned()];
        let found = self.run(py, |_| self.0.get_many(&keys, u64::MAX))?;
        Ok(value(py, found.into_iter().next().flatten()))
    }

    #[pyo3(signature = (key, start, length=None))]
    fn get_range(&self, py: Python<'_>, key: &str, start: i64, length: Option<u64>) -> PyResult<Value> {
        let found = self.run(py, |_| self.0.get_range(key, start, length))?;
        Ok(value(py, found))
    }

    #[pyo3(signature = (keys, most=None))]
    fn get_many<'py>(&self, py: Python<'py>, keys: Vec<String>, most: Option<u64>) -> PyResult<Bound<'py, PyList>> {
        let found = self.run(py, |_| self.0.get_many(&keys, most.unwrap_or(u64::MAX)))?;
        PyList::new(py, found.into_iter().map(|one| value(py, one)).collect::<Vec<_>>())
    }

    /// As `get_many`, in parts of so many values, each as soon as it is there.
    fn get_parts(&self, py: Python<'_>, keys: Vec<String>, most: u64, part: usize) -> PyResult<Parts> {
        let many = self.run(py, |_| self.0.start_many(&keys, most, part))?;
        Ok(Parts { store: Self(Arc::clone(&self.0)), many, next: AtomicUsize::new(0) })
    }

    /// A value and its tag.
    fn get_tagged(&self, py: Python<'_>, key: &str) -> PyResult<Option<(Py<PyBytes>, String)>> {
        let found = self.run(py, |_| self.0.get_tagged(key, u64::MAX >> 1))?;
        Ok(found.map(|(bytes, tag)| (PyBytes::new(py, &bytes).unbind(), tag)))
    }

    fn put(&self, py: Python<'_>, key: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = copied(py, data)?;
        self.run(py, |_| self.0.put(key, &[&bytes]))
    }

    /// Put a value if what is there has this tag, or if nothing is there; the new tag, or nothing if that is not so.
    #[pyo3(signature = (key, data, tag))]
    fn put_if(
        &self,
        py: Python<'_>,
        key: &str,
        data: &Bound<'_, PyAny>,
        tag: Option<String>,
    ) -> PyResult<Option<String>> {
        let bytes = copied(py, data)?;
        self.run(py, |_| self.0.put_if(key, bytes.clone(), tag.clone()))
    }

    fn erase(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        self.run(py, |_| self.0.erase(key))
    }

    fn erase_prefix(&self, py: Python<'_>, prefix: &str) -> PyResult<()> {
        self.run(py, |_| self.0.erase_prefix(prefix))
    }

    fn list_prefix(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<String>> {
        self.run(py, |_| self.0.list_prefix(prefix))
    }

    fn list_dir(&self, py: Python<'_>, prefix: &str) -> PyResult<(Vec<String>, Vec<String>)> {
        self.run(py, |_| self.0.list_dir(prefix))
    }

    /// Ask for what is right below a prefix now, as somebody will want to know it in a moment.
    fn list_ahead(&self, py: Python<'_>, prefix: &str) -> PyResult<()> {
        self.run(py, |_| self.0.list_ahead(prefix))
    }

    fn size(&self, py: Python<'_>, key: &str) -> PyResult<Option<u64>> {
        self.run(py, |_| self.0.size(key))
    }

    fn exists(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        self.run(py, |_| self.0.size(key)).map(|size| size.is_some())
    }

    /// What is under a key as a file.
    #[pyo3(signature = (key, *, head=64 << 10))]
    fn file(&self, py: Python<'_>, key: &str, head: u64) -> PyResult<RemoteFile> {
        Ok(RemoteFile(self.0.file(key, head).map_err(|error| raise(py, error, None))?))
    }

    /// Why what was read cannot be kept on disk, if it was to be.
    #[getter]
    fn cache_trouble(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.0.keeping_trouble())
    }

    /// Whether values can be put on condition of what is there.
    #[getter]
    fn conditional(&self) -> bool {
        self.0.is_conditional()
    }
}

/// Values that come in parts.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct Parts {
    store: CloudStore,
    many: cloud::Many,
    next: AtomicUsize,
}

#[pymethods]
impl Parts {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(found) = self.store.run(py, |_| self.many.take(part))? else { return Ok(None) };
        PyList::new(py, found.into_iter().map(|one| value(py, one)).collect::<Vec<_>>()).map(Some)
    }
}

/// A request: when, how long, method, URL, range, status, bytes sent and received, which attempt.
type Line = (f64, f64, String, String, String, u16, u64, u64, u32);

/// Begin to keep a list of all requests, or stop.
#[pyfunction]
pub fn trace_requests(on: bool) {
    net::trace(on);
}

/// Take out the requests that were kept.
#[pyfunction]
pub fn traced_requests() -> Vec<Line> {
    let lines = net::traced().into_iter().map(|one| {
        let net::Request { at, took, method, url, range, status, sent, received, attempt } = one;
        (at.as_secs_f64(), took.as_secs_f64(), method, url, range, status, sent, received, attempt)
    });
    lines.collect()
}
