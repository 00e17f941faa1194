//! One writer at a time for each file among all processes, for those who change a part of it.
//!
//! The lock is on the file itself, so nothing is left behind and nothing has to be made. Since every put replaces the
//! file by another, whoever has waited for the lock looks whether the file is still the one under that name. A key
//! without a file has nothing to lock: its first writer is whoever gets the name first.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::time::Duration;

use super::Hold;
use super::file::absent;
use super::file_confined::{Access, Root};
use super::file_folder::Folder;
#[cfg(unix)]
use super::file_folder::Kind;
#[cfg(unix)]
use crate::ask;
#[cfg(unix)]
use crate::fork::Owned;

/// A file that is locked until this is dropped.
#[cfg(unix)]
struct Locked(Owned);

#[cfg(unix)]
impl Drop for Locked {
    fn drop(&mut self) {
        // A child that was made by other means than `fork` may share the lock, so closing the file would not be enough.
        let _ = rustix::fs::flock(self.0.file(), rustix::fs::FlockOperation::Unlock);
    }
}

/// How long to wait before the next look: longer each time, up to the longest.
#[cfg(unix)]
const SHORT: Duration = Duration::from_micros(200);
#[cfg(unix)]
const LONGEST: u32 = 25;

/// Wait until nobody else holds the file; `false` where the file system has no locks.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<bool> {
    use rustix::io::Errno;
    // Looked at again and again, since a call that waits could not be interrupted.
    for attempt in 1u32.. {
        match rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            // Some network file systems have none, or none for files that are open for reading.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL | Errno::BADF) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        if attempt.is_multiple_of(LONGEST) && ask::stop() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        std::thread::sleep(SHORT.saturating_mul(attempt.min(LONGEST)));
    }
    Ok(false)
}

/// The file under a key, open for writing where that is allowed: locks of network file systems need it.
#[cfg(unix)]
fn open(root: &Root, key: &str) -> io::Result<Option<File>> {
    let found = root.file(key, Access::Change).or_else(|error| match error {
        error if absent(&error) => Err(error),
        _ => root.file(key, Access::Read),
    });
    match found {
        Ok(file) => Ok(Some(file)),
        Err(error) if absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keep other processes from changing a file in part.
#[cfg(unix)]
pub(super) fn hold(root: &Root, key: &str) -> io::Result<Hold> {
    loop {
        let Some(file) = Owned::open(|| open(root, key))? else { return Ok(Hold::Absent) };
        if !lock(file.file())? {
            return Ok(Hold::Free);
        }
        let held = Locked(file);
        if root.is_at(key, held.0.file())? {
            return Ok(Hold::Kept(Box::new(held)));
        }
    }
}

/// Threads of this process are kept apart elsewhere; other processes are not.
#[cfg(not(unix))]
pub(super) fn hold(_: &Root, _: &str) -> io::Result<Hold> {
    Ok(Hold::Free)
}

/// Give a finished file its name if no file has it yet; `false` if one has.
#[cfg(unix)]
pub(super) fn rename_new(folder: &Folder, from: &str, to: &str) -> io::Result<bool> {
    match folder.rename_new(from, to) {
        Ok(()) => Ok(true),
        // A directory is no one else's chunk: putting the file over it says what is wrong.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.target(to) != Some(Kind::Folder) => {
            folder.unlink(from).map(|()| false)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => folder.rename(from, to).map(|()| true),
        // File systems without links: there the last one wins, as without this.
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) => {
            folder.rename(from, to).map(|()| true)
        }
        Err(error) => Err(error),
    }
}

/// As above, where the last one wins.
#[cfg(not(unix))]
pub(super) fn rename_new(folder: &Folder, from: &str, to: &str) -> io::Result<bool> {
    folder.rename(from, to).map(|()| true)
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use crate::buffer::Buffer;
    use crate::error::Result;
    use crate::store::{FileStore, Hold, Store};

    static COUNT: AtomicUsize = AtomicUsize::new(0);

    fn store() -> FileStore {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        FileStore::new(std::env::temp_dir().join(format!("omnizarr-lock-{}-{number}", std::process::id())), false)
    }

    #[test]
    fn the_first_writer_of_a_key_wins() -> Result<()> {
        let store = store();
        assert!(matches!(store.hold("c/0")?, Hold::Absent));
        assert!(store.put_new("c/0", &[b"one"])?);
        assert!(!store.put_new("c/0", &[b"two"])?);
        let mut found = Buffer::default();
        assert!(store.get("c/0", &mut found, 10)?);
        assert_eq!(found.as_slice(), b"one");
        assert_eq!(store.list_all("")?.1, Vec::<String>::new());
        store.erase_prefix("")
    }

    #[test]
    fn who_waits_gets_the_file_that_is_there_by_then() -> Result<()> {
        let store = store();
        store.put("a", &[b"old"])?;
        let held = store.hold("a")?;
        assert!(matches!(held, Hold::Kept(_)));
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Another store of the same folder stands for another process: locks belong to open files.
                let other = FileStore::new(store.path(), false);
                let kept = other.hold("a");
                let mut found = Buffer::default();
                let _ = other.get("a", &mut found, 10);
                let _ = sender.send((kept.is_ok_and(|one| matches!(one, Hold::Kept(_))), found.as_slice().to_vec()));
            });
            assert_eq!(receiver.recv_timeout(Duration::from_millis(100)), Err(RecvTimeoutError::Timeout));
            assert!(store.put("a", &[b"new"]).is_ok());
            drop(held);
            assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok((true, b"new".to_vec())));
        });
        store.erase_prefix("")
    }
}
