//! Files below one directory, never outside it: neither by `..` nor through a link.
//!
//! On Linux the system itself resolves each path "beneath" the root. Elsewhere, and where that call is not to be had, the
//! real path of the parent directory is compared with the root's.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use rustix::fs::{Mode, OFlags, ResolveFlags};

/// A directory that is held open, so that a chunk costs no walk from the top of the file system.
pub struct Root {
    real: PathBuf,
    identity: (u64, u64),
    #[cfg(target_os = "linux")]
    handle: Option<File>,
}

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// An existing file, for reading.
    Read,
    /// A file that must not exist yet, for writing.
    Create,
    /// A directory.
    Directory,
}

/// Tell one directory from another that was later put in its place.
#[cfg(unix)]
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map(|m| (m.dev(), m.ino()))
}

#[cfg(not(unix))]
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|_| (0, 0))
}

impl Root {
    /// Open the directory; it must exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        let real = fs::canonicalize(path)?;
        #[cfg(target_os = "linux")]
        let handle = Some(File::open(&real)?);
        Ok(Self {
            identity: identity(&real)?,
            real,
            #[cfg(target_os = "linux")]
            handle,
        })
    }

    /// Device and inode.
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Open a file below the root.
    #[cfg(target_os = "linux")]
    pub fn file(&self, key: &str, access: Access) -> io::Result<File> {
        let Some(handle) = &self.handle else { return self.file_by_path(key, access) };
        // NONBLOCK: opening a pipe must not wait for its other end.
        let flags = OFlags::CLOEXEC
            | match access {
                Access::Read => OFlags::RDONLY | OFlags::NONBLOCK,
                Access::Create => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
                Access::Directory => OFlags::RDONLY | OFlags::DIRECTORY,
            };
        let mode = if access == Access::Create { Mode::from_raw_mode(0o666) } else { Mode::empty() };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut tries = 0u8;
        loop {
            match rustix::fs::openat2(handle, key, flags, mode, resolve) {
                Ok(file) => return Ok(File::from(file)),
                // A directory on the way was renamed meanwhile: the system asks to try again.
                Err(rustix::io::Errno::AGAIN) if tries < 100 => tries = tries.saturating_add(1),
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
        match access {
            Access::Read | Access::Directory => File::open(self.resolved(key)?),
            Access::Create => OpenOptions::new().write(true).create_new(true).open(self.confined(key)?),
        }
    }

    /// Where a key's file or directory really is, links followed.
    pub fn resolved(&self, key: &str) -> io::Result<PathBuf> {
        let real = fs::canonicalize(self.path(key))?;
        if real.starts_with(&self.real) { Ok(real) } else { Err(escape()) }
    }

    /// The path of a key, after a look at where its parent directory really is.
    pub fn confined(&self, key: &str) -> io::Result<PathBuf> {
        let path = self.path(key);
        let parent = path.parent().unwrap_or(&self.real);
        if parent != self.real && !fs::canonicalize(parent)?.starts_with(&self.real) {
            return Err(escape());
        }
        Ok(path)
    }

    /// Where a key's file would be, links not looked at.
    pub fn path(&self, key: &str) -> PathBuf {
        let mut path = self.real.clone();
        path.extend(key.split('/').filter(|part| !part.is_empty()));
        path
    }

    /// Make the directories that lead to a key.
    pub fn make_parents(&self, key: &str) -> io::Result<()> {
        let Some((parent, _)) = key.rsplit_once('/') else { return Ok(()) };
        let mut at = 0;
        while at <= parent.len() {
            let end = parent.get(at..).and_then(|rest| rest.find('/')).map_or(parent.len(), |i| at.saturating_add(i));
            let directory = parent.get(..end).unwrap_or(parent);
            match fs::create_dir(self.confined(directory)?) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => at = end.saturating_add(1),
            }
        }
        // A link in the place of the last directory is followed by nobody until it is known to stay inside.
        self.file(parent, Access::Directory).map(drop)
    }

    /// Put a finished file in the place of another in the same directory.
    ///
    /// Both names are resolved through the same directory, and the first was made through [`Root::file`], so a link that
    /// leads out makes this fail rather than write outside.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle {
            return rustix::fs::renameat(handle, from, handle, to).map_err(io::Error::from);
        }
        fs::rename(self.path(from), self.path(to))
    }

    /// Remove a file or a link.
    pub fn unlink(&self, key: &str) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(handle) = &self.handle {
            let none = rustix::fs::AtFlags::empty();
            return match key.rsplit_once('/') {
                Some((parent, name)) => rustix::fs::unlinkat(self.file(parent, Access::Directory)?, name, none),
                None => rustix::fs::unlinkat(handle, key, none),
            }
            .map_err(io::Error::from);
        }
        fs::remove_file(self.confined(key)?)
    }
}

fn escape() -> io::Error {
    io::Error::new(io::ErrorKind::CrossesDevices, "a link leads out of the store")
}
