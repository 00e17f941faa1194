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
    use rustix::io::Errno;

    use super::{Lockable, Path, io};
    use crate::fork::{Owned, process};

    /// An open file or folder with a lock, which ends when this is dropped.
    pub struct LockedFile {
        file: Option<Owned>,
        /// Device and inode; none where they could not be told.
        identity: Option<(u64, u64)>,
        /// A child that was forked since has closed it, and the number may be of another file there.
        process: u32,
        is_locked: bool,
    }

    fn open(place: &Path, flags: OFlags) -> io::Result<LockedFile> {
        let flags = flags | OFlags::CLOEXEC;
        let file = Owned::open(|| rustix::fs::open(place, flags, Mode::empty()).map(|file| Some(File::from(file))))?;
        let identity = file.as_ref().and_then(|file| file.file().metadata().ok()).map(|meta| (meta.dev(), meta.ino()));
        Ok(LockedFile { file, identity, process: process(), is_locked: false })
    }

    fn open_as(place: &Path, what: Lockable) -> io::Result<LockedFile> {
        match what {
            Lockable::Folder => open(place, OFlags::RDONLY | OFlags::DIRECTORY),
            Lockable::Own => open(place, OFlags::RDWR | OFlags::NOFOLLOW),
            // NONBLOCK: opening a pipe must not wait for its other end.
            Lockable::File => open(place, OFlags::RDWR | OFlags::NONBLOCK).or_else(|error| {
                if is_nothing(&error) { Err(error) } else { open(place, OFlags::RDONLY | OFlags::NONBLOCK) }
            }),
        }
    }

    fn is_nothing(error: &io::Error) -> bool {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
        matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
    }

    /// The system cannot open a file that may well be there.
    fn is_trouble(error: &io::Error) -> bool {
        let errno = Errno::from_io_error(error);
        matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::IO | Errno::STALE | Errno::TIMEDOUT))
    }

    impl LockedFile {
        /// Lock what is at a place, again if it is another by then; `None` where there is nothing.
        ///
        /// Whoever may not even read a file will not change it, so that counts as nothing, too. With `wait` this ends when
        /// nobody else holds it, or when a signal comes.
        pub fn hold(place: &Path, what: Lockable, wait: bool) -> io::Result<Option<Self>> {
            loop {
                let mut held = match open_as(place, what) {
                    Err(error) if is_nothing(&error) => return Ok(None),
                    Err(error) if what == Lockable::File && !is_trouble(&error) => return Ok(None),
                    opened => opened?,
                };
                held.is_locked = (what != Lockable::Folder || held.has_folder_locks()) && held.lock(wait)?;
                if !held.is_locked || held.is_at(place) {
                    return Ok(Some(held));
                }
            }
        }

        /// Lock it; false where the file system has no locks, or none for folders, as some on servers.
        fn lock(&self, wait: bool) -> io::Result<bool> {
            let Some(file) = &self.file else { return Ok(false) };
            let how = if wait { FlockOperation::LockExclusive } else { FlockOperation::NonBlockingLockExclusive };
            match rustix::fs::flock(file.file(), how) {
                Err(Errno::BADF | Errno::INVAL | Errno::NOLCK | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
                done => Ok(done.map(|()| true)?),
            }
        }

        /// Locks of folders on servers' file systems are known to this machine alone; those of files are not.
        #[cfg(target_os = "linux")]
        fn has_folder_locks(&self) -> bool {
            const SERVERS: [u32; 4] = [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997]; // NFS, CIFS, SMB, 9P
            let kind = self.file.as_ref().and_then(|file| rustix::fs::fstatfs(file.file()).ok());
            !kind.is_some_and(|kind| SERVERS.contains(&(kind.f_type as u32)))
        }

        #[cfg(not(target_os = "linux"))]
        fn has_folder_locks(&self) -> bool {
            true
        }

        /// The folder, unless another process has forked this one since.
        pub(in super::super) fn folder(&self) -> Option<&File> {
            self.file.as_ref().filter(|_| self.process == process()).map(Owned::file)
        }

        /// Whether there is a lock.
        pub fn is_locked(&self) -> bool {
            self.is_locked
        }

        /// Whether it is what has a name by now.
        pub fn is_at(&self, place: &Path) -> bool {
            let there = std::fs::metadata(place).map(|meta| (meta.dev(), meta.ino())).ok();
            there.is_some() && there == self.identity && self.process == process()
        }
    }

    impl Drop for LockedFile {
        fn drop(&mut self) {
            let Some(file) = self.file.take() else { return };
            if self.process != process() {
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
        pub fn hold(_: &Path, _: Lockable, _: bool) -> io::Result<Option<Self>> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Whether there is a lock.
        pub fn is_locked(&self) -> bool {
            false
        }

        /// Whether it is what has a name by now.
        pub fn is_at(&self, _: &Path) -> bool {
            false
        }
    }
}

pub use held::LockedFile;
