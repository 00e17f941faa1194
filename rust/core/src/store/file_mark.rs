//! The mark of a folder that is being written to: whoever opens it next knows by it whether to look for what is left over.
//!
//! A put over a value writes a file of another name beside its key, and one that is killed leaves it there. Only a look
//! into every folder would find it. So the root has an attribute while there may be such files, which tells the process;
//! one of a process that is gone says that it was killed. Where the file system has no attributes of users, there is no
//! mark.

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
    format!(".{:x}-{number:x}.partial", crate::fork::process())
}

/// Whether a temporary file is one of these processes, and not of one of the same number that runs.
#[cfg(unix)]
pub(super) fn is_left(name: &str, gone: &[u32]) -> bool {
    let parts = name.strip_prefix('.').and_then(|name| name.strip_suffix(".partial")).and_then(|s| s.split_once('-'));
    let Some((process, number)) = parts else { return false };
    let (Ok(process), Ok(number)) = (u32::from_str_radix(process, 16), u64::from_str_radix(number, 16)) else {
        return false;
    };
    let ours = process == crate::fork::process();
    gone.contains(&process) && (!ours || number.wrapping_sub(first()) >= TEMPORARY.load(Ordering::Relaxed))
}

#[cfg(unix)]
pub(super) use marking::{Left, Marks};

#[cfg(unix)]
mod marking {
    use std::collections::HashMap;
    use std::fs::{self, File};
    use std::hash::{DefaultHasher, Hash, Hasher};
    use std::os::unix::fs::MetadataExt;
    use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

    use arc_swap::{ArcSwap, ArcSwapOption};
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

    /// The writers of this process: the first that makes a file which must not stay sets the mark, the last of all takes
    /// it away.
    #[derive(Default)]
    pub struct Marks(ArcSwapOption<Slot>);

    struct Slot {
        /// A forked child has a slot of its own: the writers that it inherits do not run in it.
        process: u32,
        users: Mutex<Users>,
    }

    /// By process and folder.
    type Slots = HashMap<(u32, (u64, u64)), Weak<Slot>>;

    /// Those in use: several stores may lead to one folder, which has one mark. Not behind a lock, which a forked child
    /// might inherit closed.
    static SLOTS: LazyLock<ArcSwap<Slots>> = LazyLock::new(ArcSwap::default);

    #[derive(Default)]
    struct Users {
        count: usize,
        marked: bool,
        folder: Option<File>,
        /// Something could not be removed: the mark stays, and whoever opens the folder after this process tries again.
        left: bool,
    }

    impl Slot {
        fn users(&self) -> MutexGuard<'_, Users> {
            self.users.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// Someone who writes.
    pub(in super::super) struct Writing(Arc<Slot>);

    /// The slot of a folder that others in this process use, or a new one.
    fn shared(process: u32, folder: (u64, u64)) -> Arc<Slot> {
        let new = Arc::new(Slot { process, users: Mutex::default() });
        let found = |slots: &Slots| slots.get(&(process, folder)).and_then(Weak::upgrade);
        let mut one = None;
        SLOTS.rcu(|slots| {
            one = found(slots);
            if one.is_some() {
                Arc::clone(slots)
            } else {
                let used = slots.iter().filter(|(_, slot)| slot.strong_count() > 0);
                let used = used.map(|(place, slot)| (*place, Weak::clone(slot)));
                Arc::new(used.chain([((process, folder), Arc::downgrade(&new))]).collect())
            }
        });
        one.unwrap_or(new)
    }

    impl Marks {
        fn slot(&self, folder: (u64, u64)) -> Arc<Slot> {
            let process = crate::fork::process();
            loop {
                let now = self.0.load();
                if let Some(slot) = now.as_ref()
                    && slot.process == process
                {
                    return Arc::clone(slot);
                }
                let _old = self.0.compare_and_swap(&*now, Some(shared(process, folder)));
            }
        }

        /// Begin to write, for as long as what this returns is there.
        pub(in super::super) fn enter(root: &Root) -> Writing {
            let slot = root.marks.slot(root.identity());
            let mut users = slot.users();
            users.count = users.count.saturating_add(1);
            drop(users);
            Writing(slot)
        }

        /// The same before a file is made that must not stay: set the mark, if nobody in this process has.
        pub(in super::super) fn mark(root: &Root) -> Writing {
            let writing = Self::enter(root);
            let mut users = writing.0.users();
            if !users.marked {
                users.folder = users.folder.take().or_else(|| root.file(".", Access::Directory).ok());
                if let Some(folder) = &users.folder {
                    // Without a mark, what a killed writer leaves is found by a look into all folders only.
                    let _ = fsetxattr(folder, name_of(writing.0.process), &[], XattrFlags::empty());
                }
                users.marked = true;
            }
            drop(users);
            writing
        }

        /// Let the mark stay where it is when the writers of this process are done.
        pub(in super::super) fn keep(root: &Root) {
            root.marks.slot(root.identity()).users().left = true;
        }
    }

    impl Drop for Writing {
        fn drop(&mut self) {
            let mut users = self.0.users();
            users.count = users.count.saturating_sub(1);
            let done = users.count == 0 && !users.left && self.0.process == crate::fork::process();
            if !done || !std::mem::take(&mut users.marked) {
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
                .filter(|&process| is_gone(process) || (process == crate::fork::process() && !is_ours(&folder)))
                .collect();
            (!processes.is_empty()).then_some(Self { folder, processes })
        }

        /// Take the marks away.
        pub(in super::super) fn finish(self) {
            for process in self.processes {
                if process != crate::fork::process() || !is_ours(&self.folder) {
                    let _ = fremovexattr(&self.folder, name_of(process));
                }
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

    /// Whether this process has set the mark that bears its number, and not an earlier one.
    fn is_ours(folder: &File) -> bool {
        let Ok(meta) = folder.metadata() else { return true };
        shared(crate::fork::process(), (meta.dev(), meta.ino())).users().marked
    }

    fn is_gone(process: u32) -> bool {
        let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return true };
        test_kill_process(process) == Err(rustix::io::Errno::SRCH)
    }
}
