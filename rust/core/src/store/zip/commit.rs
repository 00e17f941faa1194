//! Making the changed state of an archive the archive.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::super::file_token::token;
use super::directory::Other;
use super::entry::{Entry, Place, fault};
use super::partial::Partial;
use super::record::{DEFLATED, central_header, end};
use super::source::{Source, broken, state_at};
use super::{Home, State, ZipStore, flags_of, is_document};
use crate::codec::deflate_raw;
use crate::error::{ArchiveFault, Error, Result};
use crate::scratch;

type Map = BTreeMap<String, Arc<Entry>>;

/// How much is copied at a time.
const BLOCK: usize = 1 << 20;

/// Room that may be left unused rather than copying the archive once more: this, and one part in sixteen.
const WASTE: u64 = 64 << 10;

impl ZipStore {
    /// Write the changes: afterwards the archive has all of them, and after a failure none.
    ///
    /// The archive is replaced in one step where it is at a path. In an object it is overwritten, and is whole only if
    /// nothing gets in the way.
    pub fn commit(&self) -> Result<()> {
        let threads = self.threads();
        let _alone = threads.changing.write().unwrap_or_else(PoisonError::into_inner);
        self.commit_alone()
    }

    /// Write the changes, and let nobody use the store any more.
    pub fn close(&self) -> Result<()> {
        let threads = self.threads();
        let _alone = threads.changing.write().unwrap_or_else(PoisonError::into_inner);
        self.commit_alone()?;
        self.closed.store(true, Ordering::Relaxed);
        // The files are closed once the last reader is done.
        let _old = self.change(std::mem::take);
        Ok(())
    }

    /// Remove what a writer that was killed has left beside the archive; returns how many there were.
    pub fn sweep(&self) -> Result<u64> {
        match &self.home {
            Home::Path(path) => Partial::sweep(path),
            Home::Object(_) => Ok(0),
        }
    }

    /// Forget all changes that are not written yet.
    pub fn discard(&self) {
        let threads = self.threads();
        let _alone = threads.changing.write().unwrap_or_else(PoisonError::into_inner);
        // Read anew by whoever asks next.
        let old = self.change(std::mem::take);
        if let Some(partial) = old.partial {
            partial.discard();
        }
    }

    fn commit_alone(&self) -> Result<()> {
        let Some(partial) = self.look(|state| state.partial.clone()) else { return Ok(()) };
        if !self.is_changed() {
            let _none = self.change(|state| state.partial.take());
            partial.discard();
            return Ok(());
        }
        partial.check_process()?;
        let (map, others, comment, known) =
            self.look(|state| (state.map.clone(), Arc::clone(&state.others), Arc::clone(&state.comment), state.token));
        if let Home::Path(path) = &self.home
            && state_at(path)? != known
        {
            let message = format!("{} was changed or removed by someone else since it was opened", path.display());
            let hint = "Open it again and repeat the changes: what the other wrote has been kept.";
            return Err(fault("", ArchiveFault::Conflict, message, hint));
        }
        let target = if wasteful(&partial, &map) { self.second()? } else { Arc::clone(&partial) };
        let made = assemble(&target, &map, &others, &comment).and_then(|made| {
            self.publish(&target)?;
            Ok(made)
        });
        if !Arc::ptr_eq(&target, &partial) && made.is_err() {
            target.discard();
        }
        let (map, others) = made?;
        if !Arc::ptr_eq(&target, &partial) {
            partial.discard();
        }
        self.installed(&target, map, others)
    }

    fn second(&self) -> Result<Arc<Partial>> {
        match &self.home {
            Home::Path(path) => Partial::second(path),
            Home::Object(_) => Partial::nameless(),
        }
        .map(Arc::new)
    }

    fn publish(&self, target: &Partial) -> Result<()> {
        match &self.home {
            Home::Path(path) => {
                target.publish(path, self.durable.load(Ordering::Relaxed)).map_err(|error| broken("put", &error))
            }
            Home::Object(object) => {
                let mut block = vec![0; BLOCK];
                let (mut at, size) = (0u64, target.len());
                while at < size {
                    let n = usize::try_from(size.saturating_sub(at)).unwrap_or(BLOCK).min(BLOCK);
                    let part = block.get_mut(..n).unwrap_or_default();
                    target.file.read_at(at, part)?;
                    object.write_at(at, part)?;
                    at = at.saturating_add(n as u64);
                }
                object.finish(size)
            }
        }
    }

    /// Read from the new archive from now on.
    fn installed(&self, target: &Partial, map: Map, others: Vec<Other>) -> Result<()> {
        let meta = target.file.0.metadata().map_err(|error| broken("put", &error))?;
        let known = self.path().and_then(|_| token(&meta));
        let _old = self.change(|state| {
            let new = State {
                reads: state.reads.saturating_add(1),
                token: known,
                map,
                others: Arc::new(others),
                comment: Arc::clone(&state.comment),
                ..State::default()
            };
            std::mem::replace(state, new)
        });
        Ok(())
    }
}

/// Whether so much of the file was overwritten that it is better copied without.
fn wasteful(partial: &Partial, map: &Map) -> bool {
    let used = map.iter().filter_map(|(key, entry)| partial.holds(key.as_bytes(), entry));
    let used = used.fold(0u64, |sum, (_, size)| sum.saturating_add(size));
    partial.len().saturating_sub(used) > WASTE.saturating_add(used >> 4)
}

/// Bring all entries into the file, then the directory; returns the entries as they are there.
fn assemble(target: &Partial, map: &Map, others: &[Other], comment: &[u8]) -> Result<(Map, Vec<Other>)> {
    let mut block = vec![0; BLOCK];
    let mut moved = Map::new();
    let waits = |entry: &Entry| matches!(entry.place, Place::Memory(_));
    // Documents come last, next to the directory: who opens the archive reads its end.
    let (documents, chunks): (Vec<_>, Vec<_>) = map.iter().partition(|(key, entry)| waits(entry) || is_document(key));
    for (key, entry) in chunks.into_iter().chain(documents) {
        let there = match &entry.place {
            _ if target.holds(key.as_bytes(), entry).is_some() => Arc::clone(entry),
            Place::Memory(bytes) => Arc::new(pack(target, key, entry, bytes)?),
            _ => {
                let flags = entry.flags | flags_of(key);
                Arc::new(target.copy(key, key.as_bytes(), entry, flags, &mut block)?)
            }
        };
        moved.insert(key.clone(), there);
    }
    let kept = others.iter().map(|other| {
        let entry = Arc::new(target.copy("", &other.name, &other.entry, other.entry.flags, &mut block)?);
        Ok(Other { name: other.name.clone(), reason: other.reason.clone(), entry })
    });
    let kept = kept.collect::<Result<Vec<_>>>()?;
    let mut directory = Vec::new();
    let named = moved.iter().map(|(key, entry)| (key.as_bytes(), entry));
    for (name, entry) in named.chain(kept.iter().map(|other| (other.name.as_slice(), &other.entry))) {
        let Some((at, _)) = target.holds(name, entry) else {
            return Err(Error::Invalid("an entry was not written".into()));
        };
        central_header(name, entry, at, &mut directory);
    }
    let count = (moved.len() as u64).saturating_add(kept.len() as u64);
    let fail = |error: std::io::Error| broken("put", &error);
    let at = target.append(&[&directory]).map_err(fail)?;
    target.append(&[&end(count, directory.len() as u64, at, comment)]).map_err(fail)?;
    Ok((moved, kept))
}

/// Write a document that waited in memory, compressed if that makes it smaller.
fn pack(target: &Partial, key: &str, entry: &Entry, bytes: &[u8]) -> Result<Entry> {
    let fail = |error: std::io::Error| Error::Store {
        key: key.into(),
        op: "put",
        message: error.to_string(),
        errno: error.raw_os_error(),
    };
    scratch::with(|work| {
        let packed = deflate_raw(bytes, &mut work.dec, &mut work.cx);
        let packed = packed.map_err(|cause| Error::Chunk { key: key.into(), cause })?;
        let mut new = Entry::like(entry);
        let data = if packed.len() < bytes.len() {
            (new.method, new.packed) = (DEFLATED, packed.len() as u64);
            packed
        } else {
            bytes
        };
        target.add(key.as_bytes(), new, &[data]).map_err(fail)
    })
}
