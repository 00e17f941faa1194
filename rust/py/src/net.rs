//! Files on servers, for those who read them from Python.

use std::sync::Arc;
use std::time::Duration;

use omnizarr_core::error::{Error, Result};
use omnizarr_core::net::{Blocks, Headers, HttpSource, Settings};
use omnizarr_core::pool::Interrupt;
use omnizarr_core::refs::{Guard, Reach, Stamp, judging};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raise;
use crate::kernel::{Stopped, interruptible};

/// Size, time of the last change and ETag.
type StampParts = (Option<u64>, Option<i64>, Option<String>);

/// Headers by name, and URLs of the servers that they are for.
pub type GivenHeaders = (Vec<(String, String)>, Vec<String>);

/// The headers that Python gives, which it has checked.
pub fn headers(py: Python<'_>, given: Option<GivenHeaders>) -> PyResult<Headers> {
    let (pairs, servers) = given.unwrap_or_default();
    let pairs = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Headers::new(pairs, &servers).map_err(|error| raise(py, error, None))
}

/// A file on a server, blocks of which stay in memory.
#[pyclass(frozen, module = "omnizarr._native")]
pub struct RemoteFile(pub Blocks);

fn run<T: Send>(py: Python<'_>, f: impl Fn(Interrupt<'_>) -> Result<T> + Sync) -> PyResult<T> {
    interruptible(py, f).map_err(|stopped| match stopped {
        Stopped::Raised(error) => error,
        Stopped::Failed(error) => raise(py, error, None),
    })
}

fn seconds(value: Option<f64>, default: Duration) -> Duration {
    value.and_then(|value| Duration::try_from_secs_f64(value).ok()).unwrap_or(default)
}

#[pymethods]
impl RemoteFile {
    #[new]
    #[pyo3(signature = (url, allow, *, head=64 << 10, stall=None, patience=None, attempts=None, pause=None, pages=false,
        headers=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords, most of them for tests")]
    fn new(
        py: Python<'_>,
        url: &str,
        allow: Vec<String>,
        head: u64,
        stall: Option<f64>,
        patience: Option<f64>,
        attempts: Option<u32>,
        pause: Option<f64>,
        pages: bool,
        headers: Option<GivenHeaders>,
    ) -> PyResult<Self> {
        let usual = Settings::default();
        let settings = Settings {
            stall: seconds(stall, usual.stall),
            patience: seconds(patience, usual.patience),
            pause: seconds(pause, usual.pause),
            attempts: attempts.unwrap_or(usual.attempts),
            head,
            pages,
        };
        let guard = Arc::new(Guard { allow, ..Guard::default() });
        let given = self::headers(py, headers)?;
        match guard.reach(url).map_err(|error| raise(py, error, None))? {
            Reach::Web { url, private } if matches!(url.scheme(), "http" | "https") => {
                let source = HttpSource::new(url, private, Stamp::default(), given, judging(guard), settings);
                Ok(Self(Blocks::new(source)))
            }
            _ => Err(raise(py, Error::Invalid(format!("{url:?} is no URL of http: or https:")), None)),
        }
    }

    /// Size, time of the last change and ETag; the first call brings the file's beginning.
    fn stamp(&self, py: Python<'_>) -> PyResult<StampParts> {
        let stamp = run(py, |ask| self.0.stamp(ask))?;
        Ok((stamp.size, stamp.modified, stamp.etag))
    }

    /// How many bytes there are.
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(run(py, |ask| self.0.stamp(ask))?.size.unwrap_or_default())
    }

    /// Return the bytes from `offset` on, as far as the file goes.
    fn read_at(&self, py: Python<'_>, offset: u64, length: u64) -> PyResult<Py<PyBytes>> {
        let data = run(py, |ask| {
            let size = self.0.stamp(ask)?.size.unwrap_or_default();
            let length = usize::try_from(length.min(size.saturating_sub(offset)));
            let length = length.map_err(|_| Error::Limit("a range larger than memory".into()))?;
            let mut data = vec![0; length];
            let n = self.0.read(offset, &mut data, ask)?;
            data.truncate(n);
            Ok(data)
        })?;
        Ok(PyBytes::new(py, &data).unbind())
    }

    /// Return everything in one request, unless it is more than `limit` bytes.
    fn document(&self, py: Python<'_>, limit: u64) -> PyResult<Py<PyBytes>> {
        let data = run(py, |ask| self.0.source().document(limit, ask))?;
        Ok(PyBytes::new(py, &data).unbind())
    }

    /// The number of requests so far, and of bytes that came as answers.
    fn counts(&self) -> (u64, u64) {
        self.0.source().counts()
    }
}
