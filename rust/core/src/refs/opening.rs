//! From the URL in a reference to its source, if the guard allows it.

use std::path::Path;
use std::sync::Arc;

use super::{FileSource, Guard, Open, Source};
use crate::error::{Error, Result};

/// Opens what the guard allows.
pub struct Opener {
    guard: Guard,
}

impl Opener {
    /// An opener for one set.
    pub fn new(guard: Guard) -> Self {
        Self { guard }
    }

    fn refuse(url: &str, message: &str) -> Error {
        Error::Unsafe { key: url.into(), message: message.into() }
    }
}

impl Open for Opener {
    fn open(&self, url: &str) -> Result<Arc<dyn Source>> {
        let path = url.strip_prefix("file://").unwrap_or(url);
        let full = if path.starts_with('/') { path.to_owned() } else { format!("{}{path}", self.guard.base) };
        if full.split('/').any(|part| part == "..") {
            return Err(Self::refuse(url, "a reference must not climb out of its folder"));
        }
        if !self.guard.allow.iter().any(|start| start == "*" || full.starts_with(start.as_str())) {
            return Err(Self::refuse(url, "the set may not reach this place"));
        }
        Ok(Arc::new(FileSource::open(Path::new(&full))?))
    }
}
