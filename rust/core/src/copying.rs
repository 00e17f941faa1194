//! Values from one store to another as they are: copied, or compared.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::error::Result;
use crate::pool::{self, Interrupt};
use crate::scratch::{self, Scratch};
use crate::store::{Object, Store};

/// Values are compared by pieces of this size.
const PIECE: usize = 1 << 20;

/// What is done with each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Put the source's value into the target.
    Copy,
    /// The same, unless the target has a value of that size that is no older.
    Resume,
    /// Compare the two values.
    Compare,
    /// Look how large the source's value is, and do nothing else.
    Measure,
}

/// A store, and what the keys in it begin with.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// Empty, or ending in `/`.
    pub prefix: &'a str,
}

impl Side<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How many values were copied, or found equal.
    pub done: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many were left as they were.
    pub kept: u64,
    /// The places in the list of the keys that the source does not have.
    pub missing: Vec<usize>,
    /// The places of those whose values differ, or that the target does not have.
    pub different: Vec<usize>,
}

#[derive(Default)]
struct Counts {
    done: AtomicU64,
    bytes: AtomicU64,
    kept: AtomicU64,
    missing: Mutex<Vec<usize>>,
    different: Mutex<Vec<usize>>,
}

enum Verdict {
    Done(u64),
    Kept,
    Missing,
    Different,
}

/// Copy or compare the values under the keys, on all threads. The first failure ends the work.
///
/// `names` are the keys in the source; `renamed` are those in the target, where they are others: one for each, or none.
pub fn copy_keys(
    source: Side<'_>,
    target: Side<'_>,
    names: &[String],
    renamed: &[String],
    task: Task,
    interrupt: Interrupt<'_>,
) -> Result<Outcome> {
    source.store.begin()?;
    target.store.begin()?;
    let _writing = match task {
        Task::Compare | Task::Measure => None,
        _ => target.store.writing()?,
    };
    let counts = Counts::default();
    let work = |i: usize| {
        let Some(name) = names.get(i) else { return Ok(()) };
        let (from, to) = (source.key(name), target.key(renamed.get(i).unwrap_or(name)));
        let verdict = match task {
            Task::Compare => compare(source.store, &from, target.store, &to)?,
            Task::Measure => source.store.size(&from)?.map_or(Verdict::Missing, Verdict::Done),
            Task::Resume if is_done(source.store, &from, target.store, &to)? => Verdict::Kept,
            _ => copy(source.store, &from, target.store, &to)?,
        };
        counts.add(i, &verdict);
        Ok(())
    };
    if source.store.is_far() || target.store.is_far() {
        pool::run_far(names.len(), interrupt, &work)?;
    } else {
        pool::run(names.len(), true, interrupt, &work)?;
    }
    Ok(counts.outcome())
}

impl Counts {
    fn add(&self, i: usize, verdict: &Verdict) {
        let note = |list: &Mutex<Vec<usize>>| list.lock().unwrap_or_else(PoisonError::into_inner).push(i);
        match verdict {
            Verdict::Done(bytes) => {
                self.done.fetch_add(1, Ordering::Relaxed);
                self.bytes.fetch_add(*bytes, Ordering::Relaxed);
            }
            Verdict::Kept => drop(self.kept.fetch_add(1, Ordering::Relaxed)),
            Verdict::Missing => note(&self.missing),
            Verdict::Different => note(&self.different),
        }
    }

    fn outcome(self) -> Outcome {
        let sorted = |list: Mutex<Vec<usize>>| {
            let mut list = list.into_inner().unwrap_or_else(PoisonError::into_inner);
            list.sort_unstable();
            list
        };
        Outcome {
            done: self.done.into_inner(),
            bytes: self.bytes.into_inner(),
            kept: self.kept.into_inner(),
            missing: sorted(self.missing),
            different: sorted(self.different),
        }
    }
}

/// Whether the target has the value already, as far as can be told without reading it.
fn is_done(source: &dyn Store, from: &str, target: &dyn Store, to: &str) -> Result<bool> {
    let there = target.size(to)?;
    if there.is_none() || there != source.size(from)? {
        return Ok(false);
    }
    // Chunks that are not compressed are all of one size: what changed in the source since then is told by its time.
    match (source.as_file(from)?, target.as_file(to)?) {
        (Some(old), Some(new)) => Ok(match (modified(&old), modified(&new)) {
            (Some(old), Some(new)) => old <= new,
            _ => true,
        }),
        _ => Ok(true),
    }
}

fn modified(file: &File) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}

fn copy(source: &dyn Store, from: &str, target: &dyn Store, to: &str) -> Result<Verdict> {
    if let Some(mut file) = source.as_file(from)?
        && let Some(bytes) = target.put_file(to, &mut file)?
    {
        return Ok(Verdict::Done(bytes));
    }
    if source.in_memory() {
        let Some(object) = source.open(from)? else { return Ok(Verdict::Missing) };
        if let Some(bytes) = object.bytes() {
            target.put(to, &[bytes])?;
            return Ok(Verdict::Done(bytes.len() as u64));
        }
    }
    scratch::with(|Scratch { enc, .. }| {
        if !source.get(from, enc, usize::MAX)? {
            return Ok(Verdict::Missing);
        }
        target.put(to, &[enc.as_slice()])?;
        Ok(Verdict::Done(enc.len() as u64))
    })
}

fn compare(source: &dyn Store, from: &str, target: &dyn Store, to: &str) -> Result<Verdict> {
    let Some(one) = source.open(from)? else { return Ok(Verdict::Missing) };
    let Some(other) = target.open(to)? else { return Ok(Verdict::Different) };
    if one.size() != other.size() {
        return Ok(Verdict::Different);
    }
    if let (Some(one), Some(other)) = (one.bytes(), other.bytes()) {
        return Ok(if one == other { Verdict::Done(one.len() as u64) } else { Verdict::Different });
    }
    scratch::with(|Scratch { one: left, two: right, .. }| {
        let size = one.size();
        let mut at = 0u64;
        while at < size {
            let len = usize::try_from(size.saturating_sub(at)).unwrap_or(usize::MAX).min(PIECE);
            let pieces = (piece(&*one, at, left.space(len))?, piece(&*other, at, right.space(len))?);
            if pieces.0 != pieces.1 {
                return Ok(Verdict::Different);
            }
            at = at.saturating_add(len as u64);
        }
        Ok(Verdict::Done(size))
    })
}

/// A piece of a value: from where it is in memory, or else read.
fn piece<'a>(object: &'a dyn Object, at: u64, space: &'a mut [u8]) -> Result<&'a [u8]> {
    let start = usize::try_from(at).unwrap_or(usize::MAX);
    if let Some(part) = object.bytes().and_then(|all| all.get(start..start.saturating_add(space.len()))) {
        return Ok(part);
    }
    object.read_at(at, space)?;
    Ok(space)
}
