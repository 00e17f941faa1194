//! The sources of a set that are open: as many as are good for it, those that were used last.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Source;
use crate::error::Result;
use crate::fork;

/// Files of this machine that stay open; each takes one of the few descriptors that a process has.
const MOST_FILES: usize = 256;

/// Sources of other kinds that are remembered.
const MOST: usize = 1 << 14;

/// Open sources by the numbers of their URLs.
#[derive(Default)]
pub(super) struct Sources {
    open: Mutex<Open>,
    /// Counts the calls; what an earlier one has seen is looked at again.
    call: AtomicU64,
}

#[derive(Default)]
struct Open {
    entries: HashMap<u32, Entry>,
    files: usize,
    clock: u64,
}

struct Entry {
    source: Arc<dyn Source>,
    used: u64,
    seen: u64,
}

impl Sources {
    /// From now on, look again whether each URL still leads to what is open.
    pub fn doubt(&self) {
        self.call.fetch_add(1, Ordering::Relaxed);
    }

    /// The source of a URL, which `open` opens if it is not, or was replaced.
    pub fn get(&self, url: u32, open: impl FnOnce() -> Result<Arc<dyn Source>>) -> Result<Arc<dyn Source>> {
        let call = self.call.load(Ordering::Relaxed);
        let known = self.with(|open| {
            let entry = open.use_of(url)?;
            Some((Arc::clone(&entry.source), entry.seen == call))
        });
        match known {
            Some((source, true)) => return Ok(source),
            Some((source, false)) if source.is_current() => {
                self.with(|open| open.use_of(url).map(|entry| entry.seen = call));
                return Ok(source);
            }
            _ => {}
        }
        let source = open()?;
        self.with(|open| open.add(url, Arc::clone(&source), call));
        Ok(source)
    }

    fn with<T>(&self, f: impl FnOnce(&mut Open) -> T) -> T {
        // What is dropped here is closed, which takes no time for files that are only read.
        let _fork = fork::guard();
        let mut open: MutexGuard<'_, Open> = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        f(&mut open)
    }
}

impl Open {
    fn use_of(&mut self, url: u32) -> Option<&mut Entry> {
        self.clock = self.clock.saturating_add(1);
        let entry = self.entries.get_mut(&url)?;
        entry.used = self.clock;
        Some(entry)
    }

    fn add(&mut self, url: u32, source: Arc<dyn Source>, seen: u64) {
        self.clock = self.clock.saturating_add(1);
        let remote = source.remote();
        let entry = Entry { source, used: self.clock, seen };
        if let Some(old) = self.entries.insert(url, entry) {
            self.files = self.files.saturating_sub(usize::from(!old.source.remote()));
        }
        self.files = self.files.saturating_add(usize::from(!remote));
        if self.files > MOST_FILES {
            self.forget(false, MOST_FILES / 2);
            self.files = MOST_FILES / 2;
        }
        if self.entries.len().saturating_sub(self.files) > MOST {
            self.forget(true, MOST / 2);
        }
    }

    /// Keep so many of a kind, those that were used last.
    fn forget(&mut self, remote: bool, keep: usize) {
        let of_kind = self.entries.values().filter(|entry| entry.source.remote() == remote);
        let mut times: Vec<u64> = of_kind.map(|entry| entry.used).collect();
        times.sort_unstable_by(|a, b| b.cmp(a));
        let Some(&newest_lost) = times.get(keep) else { return };
        self.entries.retain(|_, entry| entry.source.remote() != remote || entry.used > newest_lost);
    }
}
