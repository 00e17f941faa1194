//! Kernel errors as the exceptions that `omnizarr.errors` defines.

use omnizarr_core::error::{ArchiveFault, CodecError, Error, Fault};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Make the Python exception for an error of the array at `path` (`None` outside arrays).
pub fn raise(py: Python<'_>, error: Error, path: Option<&str>) -> PyErr {
    build(py, error, path).unwrap_or_else(|failure| failure)
}

/// Make the Python exception for an error of a codec outside any array.
pub fn raise_codec(py: Python<'_>, cause: CodecError) -> PyErr {
    raise(py, Error::Chunk { key: String::new(), cause }, None)
}

fn build(py: Python<'_>, error: Error, path: Option<&str>) -> PyResult<PyErr> {
    let kwargs = PyDict::new(py);
    kwargs.set_item("path", path)?;
    let mut cause = None;
    let mut errno = None;
    let (class, message) = match error {
        Error::Store { key, op, message, errno: number } => {
            kwargs.set_item("key", key)?;
            if path.is_some_and(|path| path.contains("://")) {
                kwargs.set_item("hint", hint_on_service(&message))?;
            }
            errno = number;
            ("StoreError", format!("{op} failed: {message}"))
        }
        Error::Conflict { key, message } => {
            kwargs.set_item("key", key)?;
            ("ConflictError", message)
        }
        Error::Gone { key } => {
            kwargs.set_item("key", key)?;
            kwargs.set_item(
                "hint",
                "Another program or handle has erased or moved it: open it again, or create it anew.",
            )?;
            ("NotFoundError", "the array is gone".into())
        }
        Error::Unsafe { key, message } => {
            kwargs.set_item("key", key)?;
            kwargs.set_item("hint", "Keys and links must stay inside the store.")?;
            ("UnsafeError", format!("key refused: {message}"))
        }
        Error::Metadata { key, message } => {
            kwargs.set_item("key", Some(key).filter(|key| !key.is_empty()))?;
            ("MetadataError", message)
        }
        Error::Refused { url, message, hint } => {
            kwargs.set_item("hint", Some(hint).filter(|hint| !hint.is_empty()))?;
            ("UnsafeError", format!("the reference to {url:?} is not followed: {message}"))
        }
        Error::Stale { key, url, message } => {
            kwargs.set_item("key", Some(key).filter(|key| !key.is_empty()))?;
            kwargs
                .set_item("hint", "Scan the source again; `oz refs validate` finds all sources that have changed.")?;
            ("StaleReferenceError", format!("{url:?} is not what the reference says: {message}"))
        }
        Error::Shard { key, message, .. } => {
            kwargs.set_item("key", key)?;
            ("CorruptShardError", format!("damaged shard: {message}"))
        }
        Error::Chunk { key, cause: codec } => {
            if !key.is_empty() {
                kwargs.set_item("key", key)?;
            }
            kwargs.set_item("codec", &codec.codec)?;
            cause = codec.source.and_then(|source| source.downcast::<PyErr>().ok());
            match codec.fault {
                Fault::Corrupt | Fault::TooLarge => {
                    ("CorruptError", format!("chunk does not decode: {}", codec.message))
                }
                Fault::Checksum => ("ChecksumError", format!("checksum mismatch: {}", codec.message)),
                Fault::Foreign if is_corruption(py, cause.as_deref())? => ("CorruptError", codec.message),
                Fault::Config | Fault::Foreign => ("CodecError", codec.message),
            }
        }
        Error::Archive { key, fault, message, hint } => {
            kwargs.set_item("key", Some(key).filter(|key| !key.is_empty()))?;
            kwargs.set_item("hint", Some(hint).filter(|hint| !hint.is_empty()))?;
            let class = match fault {
                ArchiveFault::Corrupt => "CorruptError",
                ArchiveFault::Checksum => "ChecksumError",
                ArchiveFault::Unsupported => "UnsupportedError",
                ArchiveFault::TooLarge => "LimitError",
                ArchiveFault::Conflict => "ConflictError",
            };
            (class, message)
        }
        Error::Invalid(message) => ("ShapeError", message),
        Error::Limit(message) => {
            kwargs.set_item("hint", "Pass larger omnizarr.limits.Limits if the data is to be trusted.")?;
            ("LimitError", message)
        }
        Error::Memory(message) => {
            kwargs.set_item("hint", "Read less at a time.")?;
            ("LimitError", message)
        }
        Error::Interrupted => return Ok(pyo3::exceptions::PyKeyboardInterrupt::new_err(())),
        Error::Foreign { key, source } => match source.downcast::<PyErr>() {
            // A store's own trouble with the system becomes ours, so that it names the key; all else passes as it is.
            Ok(error) if is_plain_os_error(py, &error)? => {
                kwargs.set_item("key", key)?;
                errno = error.value(py).getattr("errno")?.extract()?;
                let message = format!("the store failed: {error}");
                cause = Some(error);
                ("StoreError", message)
            }
            Ok(error) => return Ok(*error),
            Err(other) => ("StoreError", other.to_string()),
        },
    };
    let value = py.import("omnizarr.errors")?.getattr(class)?.call((message,), Some(&kwargs))?;
    if errno.is_some() {
        value.setattr("errno", errno)?;
    }
    let error = PyErr::from_value(value);
    if let Some(cause) = cause {
        error.set_cause(py, Some(*cause));
    }
    Ok(error)
}

/// Whether a codec in Python said itself that the bytes are damaged.
fn is_corruption(py: Python<'_>, cause: Option<&PyErr>) -> PyResult<bool> {
    let class = py.import("omnizarr.errors")?.getattr("CorruptError")?;
    Ok(cause.is_some_and(|error| error.is_instance(py, &class)))
}

fn is_plain_os_error(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    let ours = py.import("omnizarr.errors")?.getattr("OmnizarrError")?;
    Ok(error.is_instance_of::<PyOSError>(py) && !error.is_instance(py, &ours))
}

/// What to look at when a service does not do what it was asked for.
fn hint_on_service(message: &str) -> Option<&'static str> {
    if message.contains("refuses access") {
        return Some("`oz info --explain URL` says whose credentials are used; storage_options gives others.");
    }
    if message.contains("NoSuchBucket") {
        return Some("Look at the bucket's name, and at the endpoint: `oz info --explain URL` says which is asked.");
    }
    if message.contains("error sending request") {
        return Some(
            "Look at the address: `oz info --explain URL` says which is asked, endpoint_url in storage_options gives another.",
        );
    }
    None
}
