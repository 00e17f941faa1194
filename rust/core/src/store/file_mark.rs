//! The mark of a folder that is being written to: whoever opens it next knows by it whether to look for what is left over.
//!
//! A put writes a file of another name beside its key, and one that is killed leaves it there. Only a look into every
//! folder would find it. So there is a file of a fixed name in the root while anything is written, which everyone who
//! writes has locked together with the others. Who gets the lock alone knows that all of them are gone: if the file is
//! there nevertheless, they were killed. Where the file system has no locks, there is no mark.

#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(unix)]
use super::file_confined::Root;

/// The mark's name, which is never a key.
pub(super) const MARK: &str = ".writing.partial";

/// Numbers of temporary files: they begin anywhere, so that those of an earlier process of the same number differ.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);
static FIRST: std::sync::OnceLock<u64> = std::sync::OnceLock::new();

fn first() -> u64 {
    *FIRST.get_or_init(|| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(0u8) >> 16
    })
}

/// A name for a temporary file that no other has.
pub(super) fn temporary() -> String {
    let number = first().wrapping_add(TEMPORARY.fetch_add(1, Ordering::Relaxed));
    format!(".{:x}-{number:x}.partial", std::process::id())
}

/// Whether a temporary file is one of a process that is gone.
#[cfg(unix)]
pub(super) fn is_left(name: &str) -> bool {
    let parts = name.strip_prefix('.').and_then(|name| name.strip_suffix(".partial")).and_then(|s| s.split_once('-'));
    let Some((process, number)) = parts else { return false };
    let (Ok(process), Ok(number)) = (i32::from_str_radix(process, 16), u64::from_str_radix(number, 16)) else {
        return false;
    };
    if u32::try_from(process) == Ok(std::process::id()) {
        return number.wrapping_sub(first()) >= TEMPORARY.load(Ordering::Relaxed);
    }
    let Some(process) = rustix::process::Pid::from_raw(process) else { return false };
    rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH)
}

#[cfg(unix)]
pub(super) use marking::{Marks, claim};

#[cfg(unix)]
mod marking {
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;
    use std::sync::{Mutex, PoisonError};
    use std::time::Duration;

    use arc_swap::ArcSwapOption;
    use rustix::fs::FlockOperation::{NonBlockingLockExclusive, NonBlockingLockShared};
    use rustix::fs::flock;
    use rustix::io::Errno;

    use super::super::file_confined::Access;
    use super::{Arc, MARK, Root, io};

    /// How long to wait while another process sweeps, or takes the mark away.
    const PAUSE: Duration = Duration::from_micros(200);

    /// The writers of this process, of which the first sets the mark and the last takes it away.
    #[derive(Default)]
    pub struct Marks(ArcSwapOption<Slot>);

    struct Slot {
        /// A forked child has a slot of its own: the writers that it inherits do not run in it.
        process: u32,
        users: Mutex<Users>,
    }

    #[derive(Default)]
    struct Users {
        count: usize,
        mark: Option<File>,
        /// Something could not be removed: the mark stays, and whoever opens the folder next tries again.
        left: bool,
    }

    /// Someone who writes.
    pub(in super::super) struct Writing {
        root: Arc<Root>,
        slot: Arc<Slot>,
    }

    impl Marks {
        fn slot(&self) -> Arc<Slot> {
            let process = std::process::id();
            loop {
                let now = self.0.load();
                if let Some(slot) = now.as_ref()
                    && slot.process == process
                {
                    return Arc::clone(slot);
                }
                let new = Some(Arc::new(Slot { process, users: Mutex::default() }));
                let _old = self.0.compare_and_swap(&*now, new);
            }
        }

        /// Set the mark, if nobody in this process has.
        pub(in super::super) fn enter(root: &Arc<Root>) -> io::Result<Writing> {
            let slot = root.marks.slot();
            let mut users = slot.users.lock().unwrap_or_else(PoisonError::into_inner);
            if users.count == 0 {
                users.mark = set(root)?;
            }
            users.count = users.count.saturating_add(1);
            drop(users);
            Ok(Writing { root: Arc::clone(root), slot })
        }
    }

    impl Marks {
        /// Let the mark stay where it is when the writers of this process are done.
        pub(in super::super) fn keep(&self) {
            self.slot().users.lock().unwrap_or_else(PoisonError::into_inner).left = true;
        }
    }

    impl Drop for Writing {
        fn drop(&mut self) {
            let mut users = self.slot.users.lock().unwrap_or_else(PoisonError::into_inner);
            users.count = users.count.saturating_sub(1);
            if users.count > 0 || self.slot.process != std::process::id() {
                return;
            }
            // Alone with the mark: no other process writes. Of several that leave at once, the last one gets it.
            let left = std::mem::take(&mut users.left);
            if let Some(mark) = users.mark.take()
                && !left
                && flock(&mark, NonBlockingLockExclusive).is_ok()
            {
                // One that cannot be removed costs the next who opens the folder a look, and no more.
                let _ = self.root.unlink(MARK);
            }
        }
    }

    fn no_locks(error: Errno) -> bool {
        matches!(error, Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL | Errno::BADF)
    }

    fn set(root: &Root) -> io::Result<Option<File>> {
        loop {
            let mark = match root.file(MARK, Access::Make) {
                Ok(mark) => mark,
                // Whoever may not write to the root may write below it.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
                Err(error) => return Err(error),
            };
            match flock(&mark, NonBlockingLockShared) {
                Ok(()) if mark.metadata()?.nlink() > 0 => return Ok(Some(mark)),
                // Another process took it away before it was locked.
                Ok(()) | Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
                Err(error) => {
                    let _ = root.unlink(MARK);
                    return if no_locks(error) { Ok(None) } else { Err(error.into()) };
                }
            }
        }
    }

    /// What keeps others from writing while what was left over is removed.
    pub(in super::super) struct Swept(File);

    /// Take over the mark at a key if all who set it are gone; `Err` if some are not.
    pub(in super::super) fn claim(root: &Root, key: &str) -> io::Result<Option<Result<Swept, ()>>> {
        let mark = match root.file(key, Access::Change) {
            Ok(mark) => mark,
            Err(error) if super::super::file::absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        match flock(&mark, NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Ok(Swept(mark)))),
            Err(_) => Ok(Some(Err(()))),
        }
    }

    impl Swept {
        /// Take the mark away, if it is still there.
        pub(in super::super) fn finish(self, root: &Root, key: &str) -> io::Result<()> {
            if self.0.metadata()?.nlink() > 0 { root.unlink(key) } else { Ok(()) }
        }
    }
}
