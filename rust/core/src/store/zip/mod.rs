//! The zip store: the entries of one archive under their names.
//!
//! Reading takes the archive's own bytes: a part of an entry that is not compressed is read alone. Changes go to a file
//! beside the archive ([`partial`]), and [`ZipStore::commit`] makes it the archive, so that whoever looks sees the last
//! closed state, also after the writer was killed.

mod commit;
mod directory;
mod entry;
mod partial;
mod record;
mod source;
#[cfg(test)]
mod tests;

pub use source::{FileObject, Source, open_source};

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use arc_swap::ArcSwap;

use self::directory::{Directory, Other};
use self::entry::{Entry, Opened, Place};
use self::partial::Partial;
use self::source::FileSource;
use super::{Listing, Object, Store, Token, check_key, check_prefix, place_of};
use crate::buffer::Buffer;
use crate::codec::crc32_after;
use crate::error::{Error, Result};
use crate::fork;

/// Documents up to this size wait in memory, as they are changed more often than anything else.
const SMALL_DOCUMENT: usize = 1 << 20;
/// The most bytes of documents that wait there.
const DOCUMENTS: usize = 64 << 20;

/// Where the archive is.
enum Home {
    Path(PathBuf),
    Object(Arc<dyn FileObject>),
}

#[derive(Default)]
struct State {
    /// Counts the times that the directory was read.
    reads: u64,
    /// Which state of the archive was read; `None` if there was none.
    token: Option<Token>,
    map: BTreeMap<String, Arc<Entry>>,
    others: Arc<Vec<Other>>,
    comment: Arc<Vec<u8>>,
    partial: Option<Arc<Partial>>,
    changed: bool,
    /// Bytes of the documents that wait in memory.
    waiting: usize,
}

/// What keeps the threads of one process apart; a forked child has its own.
struct Threads {
    process: u32,
    /// Shared by those who change entries; alone has it who writes the archive.
    changing: RwLock<()>,
    starting: Mutex<()>,
}

impl Threads {
    fn new() -> Self {
        Self { process: std::process::id(), changing: RwLock::default(), starting: Mutex::default() }
    }
}

/// The entries of a zip archive.
pub struct ZipStore {
    home: Home,
    durable: AtomicBool,
    closed: AtomicBool,
    /// The most bytes that a compressed entry may decompress to.
    limit: AtomicU64,
    state: RwLock<State>,
    threads: ArcSwap<Threads>,
}

/// Whether a value is a document of Zarr, which is worth compressing; chunks are compressed already.
fn is_document(key: &str) -> bool {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    name.ends_with(".json") || name.starts_with(".z")
}

fn flags_of(key: &str) -> u16 {
    if key.is_ascii() { 0 } else { record::UTF8 }
}

impl ZipStore {
    fn new(home: Home, durable: bool, limit: u64) -> Self {
        Self {
            home,
            durable: AtomicBool::new(durable),
            closed: AtomicBool::new(false),
            limit: AtomicU64::new(limit),
            state: RwLock::default(),
            threads: ArcSwap::from_pointee(Threads::new()),
        }
    }

    /// The archive at a path without links, which need not exist yet.
    ///
    /// With `durable`, a finished commit also survives the loss of power. No compressed entry of more than `limit` bytes
    /// is read.
    pub fn at(path: impl Into<PathBuf>, durable: bool, limit: u64) -> Self {
        Self::new(Home::Path(path.into()), durable, limit)
    }

    /// The archive in an object, which may be empty.
    pub fn within(object: Arc<dyn FileObject>, limit: u64) -> Self {
        Self::new(Home::Object(object), false, limit)
    }

    /// The archive's path, where it has one.
    pub fn path(&self) -> Option<&Path> {
        match &self.home {
            Home::Path(path) => Some(path),
            Home::Object(_) => None,
        }
    }

    /// From now on, allow compressed entries of this size, too: of all who share the archive one trusts it so far.
    pub fn raise_limit(&self, limit: u64) {
        self.limit.fetch_max(limit, Ordering::Relaxed);
    }

    /// From now on, wait for the disk.
    pub fn make_durable(&self) {
        self.durable.store(true, Ordering::Relaxed);
    }

    /// Names of entries that are no keys, and why not.
    pub fn ignored(&self) -> Result<Vec<(String, String)>> {
        self.begin()?;
        let others = self.look(|state| Arc::clone(&state.others));
        Ok(others.iter().map(|o| (String::from_utf8_lossy(&o.name).into_owned(), o.reason.clone())).collect())
    }

    /// Whether there are changes that [`ZipStore::commit`] has not written yet.
    pub fn is_changed(&self) -> bool {
        self.look(|state| state.changed)
    }

    fn look<T>(&self, f: impl FnOnce(&State) -> T) -> T {
        let _fork = fork::guard();
        f(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        let _fork = fork::guard();
        f(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// This process's locks: a child cannot know who held its parent's.
    fn threads(&self) -> Arc<Threads> {
        loop {
            let threads = self.threads.load_full();
            if threads.process == std::process::id() {
                return threads;
            }
            self.threads.compare_and_swap(&threads, Arc::new(Threads::new()));
        }
    }

    /// Read the directory, unless another thread has meanwhile.
    fn load(&self) -> Result<()> {
        let reads = self.look(|state| state.reads);
        let (source, token): (Option<Arc<dyn Source>>, _) = match &self.home {
            Home::Path(path) => match source::open(path)? {
                Some((file, token)) => (Some(Arc::new(FileSource(file))), token),
                None => (None, None),
            },
            Home::Object(object) => (Some(Arc::clone(object) as Arc<dyn Source>), None),
        };
        let Directory { entries, others, comment } =
            source.map(|source| directory::read(&source)).transpose()?.unwrap_or_default();
        let (others, comment) = (Arc::new(others), Arc::new(comment));
        let _old = self.change(|state| {
            if state.reads != reads || state.changed {
                return BTreeMap::new();
            }
            state.reads = reads.saturating_add(1);
            (state.token, state.others, state.comment) = (token, others, comment);
            std::mem::replace(&mut state.map, entries)
        });
        Ok(())
    }

    fn entry(&self, key: &str) -> Result<Option<Arc<Entry>>> {
        check_key(key)?;
        Ok(self.look(|state| state.map.get(key).map(Arc::clone)))
    }

    fn check_open(&self) -> Result<()> {
        if !self.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let message = "the archive has been closed".into();
        Err(Error::Store { key: String::new(), op: "access", message, errno: None })
    }

    fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// The file for changes, made by the first of them.
    fn partial(&self, threads: &Threads) -> Result<Arc<Partial>> {
        let found = self.look(|state| state.partial.as_ref().map(|p| (Arc::clone(p), state.changed)));
        match found {
            Some((partial, true)) => return partial.check_process().map(|()| partial),
            Some((partial, false)) if partial.check_process().is_ok() => return Ok(partial),
            _ => {}
        }
        let _one = threads.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(partial) = self.look(|state| state.partial.clone()).filter(|p| p.check_process().is_ok()) {
            return Ok(partial);
        }
        let partial = Arc::new(match &self.home {
            Home::Path(path) => Partial::begin(path)?,
            Home::Object(_) => Partial::nameless()?,
        });
        // Another process may have closed the archive just before this one got the lock.
        if let Err(error) = self.begin() {
            partial.discard();
            return Err(error);
        }
        self.change(|state| state.partial = Some(Arc::clone(&partial)));
        Ok(partial)
    }

    /// Take part in changing entries.
    fn changing<'a>(&self, threads: &'a Threads) -> Result<(RwLockReadGuard<'a, ()>, Arc<Partial>)> {
        let guard = threads.changing.read().unwrap_or_else(PoisonError::into_inner);
        self.check_open()?;
        let partial = self.partial(threads)?;
        Ok((guard, partial))
    }

    fn set(&self, key: &str, entry: Option<Entry>) -> bool {
        let waits = |entry: &Entry| matches!(entry.place, Place::Memory(_)).then_some(entry.size).unwrap_or(0) as usize;
        let added = entry.as_ref().map_or(0, waits);
        let old = self.change(|state| {
            let old = match entry {
                Some(entry) => state.map.insert(key.into(), Arc::new(entry)),
                None => state.map.remove(key),
            };
            let removed = old.as_deref().map_or(0, waits);
            state.waiting = state.waiting.saturating_add(added).saturating_sub(removed);
            state.changed = true;
            old
        });
        old.is_some()
    }
}

/// The first key of a map at or after a place.
fn next<'a>(map: &'a BTreeMap<String, Arc<Entry>>, from: &str, prefix: &str) -> Option<&'a String> {
    let range = (Bound::Included(from), Bound::Unbounded);
    map.range::<str, _>(range).next().map(|(key, _)| key).filter(|key| key.starts_with(prefix))
}

fn below<'a>(map: &'a BTreeMap<String, Arc<Entry>>, prefix: &'a str) -> impl Iterator<Item = &'a String> {
    let range = (Bound::Included(prefix), Bound::Unbounded);
    map.range::<str, _>(range).map(|(key, _)| key).take_while(move |key| key.starts_with(prefix))
}

impl Store for ZipStore {
    /// Notice that the archive was replaced by another, and refuse to answer for one that is gone.
    fn begin(&self) -> Result<()> {
        self.check_open()?;
        let (read, changed, known) = self.look(|state| (state.reads > 0, state.changed, state.token));
        if changed {
            return Ok(());
        }
        let Home::Path(path) = &self.home else { return if read { Ok(()) } else { self.load() } };
        let now = source::state_at(path)?;
        if read && now == known {
            return Ok(());
        }
        if read && known.is_some() && now.is_none() {
            let message = format!("{} is gone", path.display());
            return Err(Error::Store { key: String::new(), op: "get", message, errno: Some(2) });
        }
        self.load()
    }

    fn place(&self, key: &str) -> u64 {
        match &self.home {
            Home::Path(path) => place_of(&[path.as_os_str().as_encoded_bytes(), b"/", key.as_bytes()]),
            Home::Object(_) => place_of(&[&std::ptr::from_ref(self).addr().to_ne_bytes(), key.as_bytes()]),
        }
    }

    fn get(&self, key: &str, dst: &mut Buffer, most: usize) -> Result<bool> {
        match self.entry(key)? {
            Some(entry) => entry.get(key, dst, most, self.limit()).map(|()| true),
            None => Ok(false),
        }
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        let Some(entry) = self.entry(key)? else { return Ok(None) };
        Ok(Some(Box::new(Opened::new(entry, key, self.limit())?)))
    }

    fn put(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        check_key(key)?;
        let fail = |message: String, errno| Error::Store { key: key.into(), op: "put", message, errno };
        if key.len() > usize::from(u16::MAX) {
            return Err(fail("a zip archive takes names of at most 65535 bytes".into(), None));
        }
        let threads = self.threads();
        let (_changing, partial) = self.changing(&threads)?;
        let crc = parts.iter().fold(0, |sum, part| crc32_after(sum, part));
        let size = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let waits = is_document(key) && size <= SMALL_DOCUMENT && self.look(|state| state.waiting) <= DOCUMENTS;
        let place = if waits { Place::Memory(parts.concat().into()) } else { Place::Nowhere };
        let mut entry = Entry::stored(place, crc, size as u64, flags_of(key));
        if !waits {
            let done = partial.add(key.as_bytes(), entry, parts);
            entry = done.map_err(|error| fail(error.to_string(), error.raw_os_error()))?;
        }
        self.set(key, Some(entry));
        Ok(())
    }

    fn erase(&self, key: &str) -> Result<bool> {
        if self.entry(key)?.is_none() {
            return Ok(false);
        }
        let threads = self.threads();
        let _changing = self.changing(&threads)?;
        Ok(self.set(key, None))
    }

    fn erase_prefix(&self, prefix: &str) -> Result<()> {
        if self.list_prefix(prefix)?.is_empty() {
            return Ok(());
        }
        let threads = self.threads();
        let _changing = self.changing(&threads)?;
        // Listed again: the first change may have found that the archive was replaced.
        for key in self.list_prefix(prefix)? {
            self.set(&key, None);
        }
        Ok(())
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        Ok(self.look(|state| below(&state.map, prefix).cloned().collect()))
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        Ok(self.look(|state| {
            let (mut keys, mut prefixes) = (Vec::new(), Vec::new());
            let mut from = prefix.to_owned();
            while let Some(key) = next(&state.map, &from, prefix) {
                match key.get(prefix.len()..).and_then(|rest| rest.split_once('/')) {
                    Some((name, _)) => {
                        prefixes.push(format!("{prefix}{name}/"));
                        // "0" comes right after "/", so this skips all that is below.
                        from = format!("{prefix}{name}0");
                    }
                    None => {
                        keys.push(key.clone());
                        from = format!("{key}\0");
                    }
                }
            }
            (keys, prefixes)
        }))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.entry(key)?.map(|entry| entry.size))
    }
}

impl Drop for ZipStore {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(partial) = &state.partial {
            partial.discard();
        }
    }
}
