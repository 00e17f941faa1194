//! Files and folders that are open for the sake of their locks, which processes that are forked meanwhile do not keep.

use std::io;
use std::path::Path;

/// What is opened, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lockable {
    /// A folder.
    Folder,
    /// A file; for writing where that is allowed, which locks of network file systems need.
    File,
    /// A file that is no link.
    Own,
}

#[cfg(unix)]
mod held {
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{FlockOperation, Mode, OFlags};

    use super::{Lockable, Path, io};
    use crate::fork::Owned;

    /// An open file or folder that can be locked; the lock ends when this is dropped.
    pub struct LockedFile {
        file: Option<Owned>,
        /// Device and inode; none where they could not be told.
        identity: Option<(u64, u64)>,
        /// A child that was forked since has closed it, and the number may be of another file there.
        process: u32,
    }

    fn open(place: &Path, flags: OFlags) -> io::Result<LockedFile> {
        let flags = flags | OFlags::CLOEXEC;
        let file = Owned::open(|| rustix::fs::open(place, flags, Mode::empty()).map(|file| Some(File::from(file))))?;
        let identity = file.as_ref().and_then(|file| file.file().metadata().ok()).map(|meta| (meta.dev(), meta.ino()));
        Ok(LockedFile { file, identity, process: std::process::id() })
    }

    impl LockedFile {
        /// Open what is at a place.
        pub fn open(place: &Path, what: Lockable) -> io::Result<Self> {
            match what {
                Lockable::Folder => open(place, OFlags::RDONLY | OFlags::DIRECTORY),
                Lockable::Own => open(place, OFlags::RDWR | OFlags::NOFOLLOW),
                // NONBLOCK: opening a pipe must not wait for its other end.
                Lockable::File => open(place, OFlags::RDWR | OFlags::NONBLOCK).or_else(|error| match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => Err(error),
                    _ => open(place, OFlags::RDONLY | OFlags::NONBLOCK),
                }),
            }
        }

        fn file(&self) -> io::Result<&File> {
            let ours = self.file.as_ref().filter(|_| self.process == std::process::id());
            ours.map(Owned::file).ok_or_else(|| io::ErrorKind::NotFound.into())
        }

        /// Lock it; with `wait` until nobody else holds it, or until a signal comes.
        pub fn lock(&self, wait: bool) -> io::Result<()> {
            let how = if wait { FlockOperation::LockExclusive } else { FlockOperation::NonBlockingLockExclusive };
            Ok(rustix::fs::flock(self.file()?, how)?)
        }

        /// Whether it is what has a name by now.
        pub fn is_at(&self, place: &Path) -> bool {
            let there = std::fs::metadata(place).map(|meta| (meta.dev(), meta.ino())).ok();
            there.is_some() && there == self.identity && self.process == std::process::id()
        }

        /// Whether it has any name by now.
        pub fn has_name(&self) -> bool {
            self.file().and_then(File::metadata).is_ok_and(|meta| meta.nlink() > 0)
        }
    }

    impl Drop for LockedFile {
        fn drop(&mut self) {
            let Some(file) = self.file.take() else { return };
            if self.process != std::process::id() {
                return std::mem::forget(file);
            }
            // A child that was made by other means than `fork` may share the lock, so closing would not be enough.
            let _ = rustix::fs::flock(file.file(), FlockOperation::Unlock);
        }
    }
}

#[cfg(not(unix))]
mod held {
    use super::{Lockable, Path, io};

    /// Nothing: there are no such locks.
    pub struct LockedFile;

    impl LockedFile {
        /// Say so.
        pub fn open(_: &Path, _: Lockable) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// As above.
        pub fn lock(&self, _: bool) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Whether it is what has a name by now.
        pub fn is_at(&self, _: &Path) -> bool {
            false
        }

        /// Whether it has any name by now.
        pub fn has_name(&self) -> bool {
            false
        }
    }
}

pub use held::LockedFile;
