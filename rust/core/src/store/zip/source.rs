//! Where an archive's bytes come from: a file, or whatever else can be read at a place.

use std::fs::File;
use std::path::Path;

use super::super::Token;
use super::super::file::{absent, failure, read_exact_at};
use super::super::file_token::token;
use crate::error::{Error, Result};

/// Bytes that can be read at any place, from several threads at once.
pub trait Source: Send + Sync {
    /// How many there are.
    fn size(&self) -> Result<u64>;

    /// Fill `dst` from `offset` on; ending early is an error.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()>;
}

/// An archive in something else than a file of this system, such as an object of Python.
pub trait FileObject: Source {
    /// Overwrite from `offset` on.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Cut to a size, and see that all is written.
    fn finish(&self, size: u64) -> Result<()>;
}

/// A file that is open.
pub(super) struct FileSource(pub(super) File);

/// An error of the whole archive.
pub(super) fn broken(op: &'static str, error: &std::io::Error) -> Error {
    failure("", op, error)
}

impl Source for FileSource {
    fn size(&self) -> Result<u64> {
        self.0.metadata().map(|meta| meta.len()).map_err(|error| broken("open", &error))
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        read_exact_at(&self.0, dst, offset).map_err(|error| broken("get", &error))
    }
}

impl FileSource {
    /// Write all parts, one after the other, from `offset` on.
    pub(super) fn write_at(&self, mut offset: u64, parts: &[&[u8]]) -> std::io::Result<()> {
        for part in parts {
            write_all_at(&self.0, part, offset)?;
            offset = offset.saturating_add(part.len() as u64);
        }
        Ok(())
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset)? {
            0 => return Err(std::io::ErrorKind::WriteZero.into()),
            n => {
                bytes = bytes.get(n..).unwrap_or_default();
                offset = offset.saturating_add(n as u64);
            }
        }
    }
    Ok(())
}

/// Which file lies at a path, and in which state; `None` if there is none.
pub(super) fn state_at(path: &Path) -> Result<Option<Token>> {
    match std::fs::metadata(path) {
        Ok(meta) => Ok(token(&meta)),
        Err(error) if absent(&error) => Ok(None),
        Err(error) => Err(broken("open", &error)),
    }
}

/// Open the file at a path for reading.
pub fn open_source(path: &Path) -> Result<Box<dyn Source>> {
    match open(path)? {
        Some((file, _)) => Ok(Box::new(FileSource(file))),
        None => Err(broken("open", &std::io::ErrorKind::NotFound.into())),
    }
}

/// Open the file at a path, and tell its state; `None` if there is none.
pub(super) fn open(path: &Path) -> Result<Option<(File, Option<Token>)>> {
    let fail = |error: std::io::Error| if absent(&error) { Ok(None) } else { Err(broken("open", &error)) };
    // Asked first, since opening a pipe would wait for its other end.
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => {
            let message = format!("{} is not a file", path.display());
            return Err(Error::Store { key: String::new(), op: "open", message, errno: None });
        }
        Err(error) => return fail(error),
    }
    match File::open(path) {
        Ok(file) => {
            let meta = file.metadata().map_err(|error| broken("open", &error))?;
            Ok(Some((file, token(&meta))))
        }
        Err(error) => fail(error),
    }
}
