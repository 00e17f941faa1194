//! The mark of a folder that is being written to: whoever opens it next knows by it whether to look for what is left over.
//!
//! A put writes a file of another name beside its key, and one that is killed leaves it there. Only a look into every
//! folder would find it. So the root has an attribute while anything is written, which tells the process; one of a process
//! that is gone says that it was killed. Where the file system has no attributes of users, there is no mark.

use std::sync::atomic::{AtomicU64, Ordering};

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

/// Whether a temporary file is one of these processes, and not of one of the same number that runs.
#[cfg(unix)]
pub(super) fn is_left(name: &str, gone: &[u32]) -> bool {
    let parts = name.strip_prefix('.').and_then(|name| name.strip_suffix(".partial")).and_then(|s| s.split_once('-'));
    let Some((process, number)) = parts else { return false };
    let (Ok(process), Ok(number)) = (u32::from_str_radix(process, 16), u64::from_str_radix(number, 16)) else {
        return false;
    };
    let ours = process == std::process::id();
    gone.contains(&process) && (!ours || number.wrapping_sub(first()) >= TEMPORARY.load(Ordering::Relaxed))
}

#[cfg(unix)]
pub(super) use marking::{Left, Marks};

#[cfg(unix)]
mod marking {
    use std::fs::{self, File};
    use std::hash::{DefaultHasher, Hash, Hasher};
    use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

    use arc_swap::ArcSwapOption;
    use rustix::fs::{XattrFlags, flistxattr, flistxattr_query, fremovexattr, fsetxattr};
    use rustix::process::{Pid, test_kill_process};

    use super::super::file_confined::{Access, Root};

    /// How the name of the attribute begins; the machine and the process follow.
    const START: &str = "user.omnizarr.writing.";

    /// Numbers of processes mean something on one machine, until it starts anew, and there in one container.
    fn machine() -> u32 {
        static MACHINE: OnceLock<u32> = OnceLock::new();
        *MACHINE.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default().hash(&mut hasher);
            fs::read_link("/proc/self/ns/pid").unwrap_or_default().hash(&mut hasher);
            fs::read("/proc/sys/kernel/hostname").unwrap_or_default().hash(&mut hasher);
            u32::try_from(hasher.finish() >> 32).unwrap_or_default()
        })
    }

    fn name_of(process: u32) -> String {
        format!("{START}{:08x}.{process:x}", machine())
    }

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
        folder: Option<File>,
        /// Something could not be removed: the mark stays, and whoever opens the folder next tries again.
        left: bool,
    }

    impl Slot {
        fn users(&self) -> MutexGuard<'_, Users> {
            self.users.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// Someone who writes.
    pub(in super::super) struct Writing(Arc<Slot>);

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
        pub(in super::super) fn enter(root: &Root) -> Writing {
            let slot = root.marks.slot();
            let mut users = slot.users();
            if users.count == 0 {
                users.folder = users.folder.take().or_else(|| root.file(".", Access::Directory).ok());
                if let Some(folder) = &users.folder {
                    // Without a mark, what a killed writer leaves is found by a look into all folders only.
                    let _ = fsetxattr(folder, name_of(slot.process), &[], XattrFlags::empty());
                }
            }
            users.count = users.count.saturating_add(1);
            drop(users);
            Writing(slot)
        }

        /// Let the mark stay where it is when the writers of this process are done.
        pub(in super::super) fn keep(&self) {
            self.slot().users().left = true;
        }

        fn is_idle(&self) -> bool {
            self.slot().users().count == 0
        }
    }

    impl Drop for Writing {
        fn drop(&mut self) {
            let mut users = self.0.users();
            users.count = users.count.saturating_sub(1);
            if users.count > 0 || self.0.process != std::process::id() || std::mem::take(&mut users.left) {
                return;
            }
            if let Some(folder) = &users.folder {
                // One that cannot be removed costs the next who opens the folder a look, and no more.
                let _ = fremovexattr(folder, name_of(self.0.process));
            }
        }
    }

    /// A folder with marks of processes that are gone.
    pub(in super::super) struct Left {
        folder: File,
        /// Which those are.
        pub(in super::super) processes: Vec<u32>,
    }

    impl Left {
        /// Look at the folder of a prefix; `None` if it has no such mark.
        pub(in super::super) fn of(root: &Root, prefix: &str) -> Option<Self> {
            let at = if prefix.is_empty() { "." } else { prefix.trim_end_matches('/') };
            let folder = root.file(at, Access::Directory).ok()?;
            let start = format!("{START}{:08x}.", machine());
            let processes: Vec<u32> = attributes(&folder)?
                .split(|&byte| byte == 0)
                .filter_map(|name| std::str::from_utf8(name).ok()?.strip_prefix(&start))
                .filter_map(|process| u32::from_str_radix(process, 16).ok())
                .filter(|&process| is_gone(process) || (process == std::process::id() && root.marks.is_idle()))
                .collect();
            (!processes.is_empty()).then_some(Self { folder, processes })
        }

        /// Take the marks away.
        pub(in super::super) fn finish(self) {
            for process in self.processes {
                let _ = fremovexattr(&self.folder, name_of(process));
            }
        }
    }

    fn attributes(folder: &File) -> Option<Vec<u8>> {
        let size = flistxattr_query(folder).ok().filter(|&size| size > 0)?;
        let mut names = vec![0; size.saturating_add(1024)]; // others may add theirs meanwhile
        let size = flistxattr(folder, &mut names).ok()?;
        names.truncate(size);
        Some(names)
    }

    fn is_gone(process: u32) -> bool {
        let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return true };
        test_kill_process(process) == Err(rustix::io::Errno::SRCH)
    }
}
