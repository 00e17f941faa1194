//! Files below one directory, never outside it: neither by `..` nor through a link.
//!
//! On Linux the system itself resolves each path "beneath" the root. Elsewhere, and where that call is not to be had, the
//! real path of the parent directory is compared with the root's.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[cfg(target_os = "linux")]
use rustix::fs::{Mode, OFlags, ResolveFlags};

use super::Token;
#[cfg(unix)]
use super::file_mark::Marks;
#[cfg(target_os = "linux")]
use super::file_nameless::Nameless;
use super::file_sync::Settled;

/// A directory that is held open, so that a chunk costs no walk from the top of the file system.
pub struct Root {
    path: PathBuf,
    // Only the ways that compare paths need it, and finding it takes a system call for each part of the path.
    real: OnceLock<PathBuf>,
    identity: (u64, u64),
    /// Who in this process writes.
    #[cfg(unix)]
    pub(super) marks: Marks,
    /// Folders that a loss of power leaves in their place.
    pub(super) settled: Settled,
    /// Whether new files can do without a name until they are whole.
    #[cfg(target_os = "linux")]
    pub(super) nameless: Nameless,
    #[cfg(target_os = "linux")]
    handle: File,
}

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// An existing file, for reading.
    Read,
    /// An existing file, for reading and writing.
    Change,
    /// A directory.
    Directory,
    /// A directory, for the names in it alone.
    Passage,
}

#[cfg(unix)]
fn numbers(meta: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (meta.dev(), meta.ino())
}

#[cfg(not(unix))]
fn numbers(_meta: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}

/// Tell one directory from another that was later put in its place.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|meta| numbers(&meta))
}

const NOWHERE: &str = "its file is a link that leads nowhere; fetch what it should lead to, or remove the link";

impl Root {
    /// Open the directory; it must exist.
    #[cfg(target_os = "linux")]
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let identity = numbers(&handle.metadata()?);
        let (real, marks, settled) = (OnceLock::new(), Marks::default(), Settled::default());
        Ok(Self { path: path.into(), real, identity, marks, settled, nameless: Nameless::default(), handle })
    }

    /// Open the directory; it must exist.
    #[cfg(not(target_os = "linux"))]
    pub fn open(path: &Path) -> io::Result<Self> {
        let (identity, real) = (identity(path)?, OnceLock::new());
        Ok(Self {
            path: path.into(),
            real,
            identity,
            #[cfg(unix)]
            marks: Marks::default(),
            settled: Settled::default(),
        })
    }

    /// The directory's path without links.
    pub fn real(&self) -> io::Result<&Path> {
        if self.real.get().is_none() {
            let _ = self.real.set(fs::canonicalize(&self.path)?);
        }
        Ok(self.real.get().unwrap_or(&self.path))
    }

    /// Something could not be removed, which whoever opens the folder next shall know.
    pub(super) fn keep_mark(&self) {
        #[cfg(unix)]
        Marks::keep(self);
    }

    /// Device and inode.
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Whether an open file is the one under a key. Where that is, nothing is said about: it was opened already.
    #[cfg(unix)]
    pub fn is_at(&self, key: &str, file: &File) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        let there = rustix::fs::statat(&self.handle, key, rustix::fs::AtFlags::empty())
            .map(|meta| (meta.st_dev, meta.st_ino))
            .map_err(io::Error::from);
        #[cfg(not(target_os = "linux"))]
        let there = identity(&self.path(key));
        match there {
            Ok(there) => Ok(there == numbers(&file.metadata()?)),
            Err(error) if super::file::absent(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What differs from one file under a key to the next.
    #[allow(clippy::unnecessary_cast, reason = "numbers have other types on other machines")]
    pub fn token(&self, key: &str) -> io::Result<Option<Token>> {
        #[cfg(target_os = "linux")]
        let found = rustix::fs::statat(&self.handle, key, rustix::fs::AtFlags::empty())
            .map(|meta| {
                let time = (meta.st_mtime as u64).wrapping_mul(1_000_000_000).wrapping_add(meta.st_mtime_nsec as u64);
                Some(Token([meta.st_dev as u64, meta.st_ino as u64, meta.st_size as u64, time]))
            })
            .map_err(io::Error::from);
        #[cfg(not(target_os = "linux"))]
        let found = fs::metadata(self.path(key)).map(|meta| super::file_token::token(&meta));
        found.or_else(|error| if super::file::absent(&error) { Ok(None) } else { Err(error) })
    }

    /// Whether there is a file under a key, or a link in its place.
    pub fn has(&self, key: &str) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        let found = rustix::fs::statat(&self.handle, key, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
            .map(drop)
            .map_err(io::Error::from);
        #[cfg(not(target_os = "linux"))]
        let found = fs::symlink_metadata(self.path(key)).map(drop);
        match found {
            Ok(()) => Ok(true),
            Err(error) if super::file::absent(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Raise where nothing was found under a key because a link on the way leads nowhere: it tells of a value that is
    /// kept elsewhere, and is not there. Archives under version control have such links for all that was not fetched.
    fn check_links(&self, key: &str) -> io::Result<()> {
        let mut path = self.path.clone();
        for part in key.split('/') {
            path.push(part);
            if path.is_symlink() && !path.exists() {
                return Err(io::Error::other(NOWHERE));
            }
        }
        Ok(())
    }

    /// Open a file below the root.
    #[cfg(target_os = "linux")]
    pub fn file(&self, key: &str, access: Access) -> io::Result<File> {
        // NONBLOCK: opening a pipe must not wait for its other end.
        let flags = OFlags::CLOEXEC
            | match access {
                Access::Read => OFlags::RDONLY | OFlags::NONBLOCK,
                Access::Change => OFlags::RDWR | OFlags::NONBLOCK,
                Access::Directory => OFlags::RDONLY | OFlags::DIRECTORY,
                Access::Passage => OFlags::PATH | OFlags::DIRECTORY,
            };
        // Most keys have no link on the way, so that nothing found is nothing there; behind a link it takes a look.
        let inside = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut resolve = inside | ResolveFlags::NO_SYMLINKS;
        let mut tries = 0u8;
        loop {
            match rustix::fs::openat2(&self.handle, key, flags, Mode::empty(), resolve) {
                Ok(file) => return Ok(File::from(file)),
                Err(rustix::io::Errno::LOOP) if resolve != inside => resolve = inside,
                Err(rustix::io::Errno::NOENT) if resolve == inside => {
                    return self.check_links(key).and(Err(rustix::io::Errno::NOENT.into()));
                }
                // A directory on the way was renamed meanwhile, or a signal came: the system asks to try again.
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) if tries < 100 => {
                    tries = tries.saturating_add(1)
                }
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => return self.file_by_path(key, access),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Open a file below the root.
    #[cfg(not(target_os = "linux"))]
    pub fn file(&self, key: &str, access: Access) -> io::Result<File> {
        self.file_by_path(key, access)
    }

    fn file_by_path(&self, key: &str, access: Access) -> io::Result<File> {
        let mut how = OpenOptions::new();
        how.read(true).write(access == Access::Change);
        let opened = self.resolved(key).and_then(|path| how.open(path));
        match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.check_links(key).and(Err(error)),
            opened => opened,
        }
    }

    /// Where a key's file or directory really is, links followed.
    pub fn resolved(&self, key: &str) -> io::Result<PathBuf> {
        let real = fs::canonicalize(self.path(key))?;
        if real.starts_with(self.real()?) { Ok(real) } else { Err(escape()) }
    }

    /// Where a key's file would be, links not looked at.
    pub fn path(&self, key: &str) -> PathBuf {
        let mut path = self.path.clone();
        path.extend(key.split('/').filter(|part| !part.is_empty()));
        path
    }

    /// Make the directories that lead to a key.
    pub fn make_parents(&self, key: &str) -> io::Result<()> {
        let Some((parent, _)) = key.rsplit_once('/') else { return Ok(()) };
        match self.make_directory(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_parents(parent)?;
                self.make_directory(parent)
            }
            done => done,
        }
    }

    /// Make one directory in one that exists, unless it is there already.
    fn make_directory(&self, key: &str) -> io::Result<()> {
        match self.folder_of(key).and_then(|(folder, name)| folder.make(name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    /// Remove a file or a link.
    pub fn unlink(&self, key: &str) -> io::Result<()> {
        self.folder_of(key).and_then(|(folder, name)| folder.unlink(name))
    }
}

fn escape() -> io::Error {
    io::Error::new(io::ErrorKind::CrossesDevices, "a link leads out of the store")
}
