//! What references lead to: bytes at a URL, read in ranges.

use std::collections::HashMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use crate::error::{Error, Result};

/// What tells whether a source is still what it was: whatever of it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Its size in bytes.
    pub size: Option<u64>,
    /// When it was changed last, in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// The server's word for its state.
    pub etag: Option<String>,
}

impl Stamp {
    /// What of this contradicts the other; `None` if nothing that both know.
    pub fn contradiction(&self, other: &Self) -> Option<String> {
        if let (Some(then), Some(now)) = (self.size, other.size)
            && then != now
        {
            return Some(format!("it had {then} bytes and has {now}"));
        }
        if let (Some(then), Some(now)) = (&self.etag, &other.etag)
            && then != now
        {
            return Some(format!("its ETag was {then} and is {now}"));
        }
        match (self.modified, other.modified) {
            (Some(then), Some(now)) if then != now => Some("it was changed".into()),
            _ => None,
        }
    }
}

/// Bytes at a URL.
pub trait Source: Send + Sync {
    /// What is known of its state now.
    fn stamp(&self) -> Result<Stamp>;

    /// Fill `dst` from `offset` on; ending early is an error.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()>;

    /// The widest gap between two ranges that is cheaper to read over than to skip.
    fn gap(&self) -> u64 {
        4 << 10
    }
}

/// From a URL to its source. Whoever opens one has asked the [`Guard`] before.
pub trait Open: Send + Sync {
    /// Open what the URL names.
    fn open(&self, url: &str) -> Result<Arc<dyn Source>>;
}

/// Which URLs a set may reach, and where relative ones start.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Where the set itself is, up to and with the last `/`: what relative URLs are relative to.
    pub base: String,
    /// What URLs may begin with, each ending at a `/`; `*` allows everything.
    pub allow: Vec<String>,
    /// The states in which the sources were scanned, by URL as the set spells it.
    pub stamps: HashMap<String, Stamp>,
}

/// A file of this machine.
pub struct FileSource {
    file: File,
    name: String,
}

impl FileSource {
    /// Open a file.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let fail = |error: std::io::Error| failed(&name, &error);
        let file = File::open(path).map_err(fail)?;
        if !file.metadata().map_err(fail)?.is_file() {
            return Err(Error::Store { key: name, op: "get", message: "this is no file".into(), errno: None });
        }
        Ok(Self { file, name })
    }
}

fn failed(name: &str, error: &std::io::Error) -> Error {
    let message = match error.kind() {
        ErrorKind::NotFound => "the referenced file is not there".into(),
        _ => error.to_string(),
    };
    Error::Store { key: name.into(), op: "get", message, errno: error.raw_os_error() }
}

impl Source for FileSource {
    fn stamp(&self) -> Result<Stamp> {
        let meta = self.file.metadata().map_err(|error| failed(&self.name, &error))?;
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.and_then(|time| i64::try_from(time.as_nanos()).ok());
        Ok(Stamp { size: Some(meta.len()), modified, etag: None })
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        use std::os::unix::fs::FileExt;
        self.file.read_exact_at(dst, offset).map_err(|error| failed(&self.name, &error))
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        use std::os::windows::fs::FileExt;
        let mut done = 0usize;
        while let Some(rest) = dst.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let n = self.file.seek_read(rest, offset.saturating_add(done as u64));
            let n = n.map_err(|error| failed(&self.name, &error))?;
            if n == 0 {
                return Err(failed(&self.name, &ErrorKind::UnexpectedEof.into()));
            }
            done = done.saturating_add(n);
        }
        Ok(())
    }
}
