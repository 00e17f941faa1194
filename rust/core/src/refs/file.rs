//! Files of this machine as sources.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{Source, Stamp};
use crate::error::{Error, Result};
use crate::store::{Token, is_young, read_exact_at, token};

/// A file of this machine.
pub struct FileSource {
    file: File,
    path: PathBuf,
    url: String,
    size: u64,
    token: Option<Token>,
}

impl FileSource {
    /// Open a file, which must be as it was when the stamp was taken.
    pub fn open(url: &str, path: &Path, stamp: &Stamp) -> Result<Self> {
        let fail = |error: io::Error| failed(url, &error);
        let file = open(path).map_err(fail)?;
        let meta = file.metadata().map_err(fail)?;
        if !meta.is_file() {
            return Err(Error::Store { key: url.into(), op: "get", message: "this is no file".into(), errno: None });
        }
        if let Some(message) = stamp.contradiction(&stamp_of(&meta)) {
            return Err(Error::stale(url, message));
        }
        Ok(Self { file, path: path.into(), url: url.into(), size: meta.len(), token: token(&meta) })
    }

    fn check(&self, offset: u64, length: usize) -> Result<()> {
        if offset.checked_add(length as u64).is_some_and(|end| end <= self.size) {
            return Ok(());
        }
        let message = format!("{length} bytes from {offset} on lie past its end, at {}", self.size);
        Err(Error::stale(&self.url, message))
    }
}

/// Open without waiting for whoever writes to a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

pub(super) fn failed(url: &str, error: &io::Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => Error::stale(url, "there is no such file"),
        ErrorKind::UnexpectedEof => Error::stale(url, "it ends before the bytes that a reference names"),
        _ => Error::Store { key: url.into(), op: "get", message: error.to_string(), errno: error.raw_os_error() },
    }
}

fn stamp_of(meta: &Metadata) -> Stamp {
    let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|time| i64::try_from(time.as_nanos()).ok());
    Stamp { size: Some(meta.len()), modified, etag: None }
}

impl Source for FileSource {
    fn stamp(&self) -> Result<Stamp> {
        self.file.metadata().map(|meta| stamp_of(&meta)).map_err(|error| failed(&self.url, &error))
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        self.check(offset, dst.len())?;
        read_exact_at(&self.file, dst, offset).map_err(|error| failed(&self.url, &error))
    }

    fn is_current(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|meta| token(&meta) == self.token)
    }

    fn token(&self) -> Option<Token> {
        self.token.filter(|token| !is_young(token))
    }
}
