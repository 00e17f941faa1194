//! Which chunks of an array are stored, and what else lies where only chunks should.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::Engine;
use crate::error::{Error, Result};
use crate::pool::{self, Interrupt};

/// From this many keys on, their sizes are asked for on all threads.
const MANY: usize = 64;

/// The size of a key that is gone.
const GONE: u64 = u64::MAX;

/// What one listing of an array's keys has shown. Keys are those below the array's own path.
#[derive(Debug, Default)]
pub struct Survey {
    /// Chunks of the grid.
    pub total: u64,
    /// Bytes of all that are stored.
    pub nbytes: u64,
    /// Keys of chunks outside the grid; the first ones.
    pub outside: Kept,
    /// Keys that nothing explains; the first ones.
    pub stray: Kept,
    /// What unfinished writes have left; the first ones.
    pub debris: Kept,
    /// Number and size of each stored chunk, in the order of the numbers.
    chunks: Vec<(u64, u64)>,
}

/// The first few of many keys.
#[derive(Debug, Default)]
pub struct Kept {
    /// The keys that were kept.
    pub keys: Vec<String>,
    /// How many there are.
    pub count: u64,
}

impl Kept {
    fn push(&mut self, key: &str, most: usize) {
        self.count = self.count.saturating_add(1);
        if self.keys.len() < most {
            self.keys.push(key.into());
        }
    }
}

impl Survey {
    /// Number of chunks that are stored.
    pub fn present(&self) -> usize {
        self.chunks.len()
    }

    /// Numbers and sizes of the stored chunks from the `start`-th to before the `stop`-th.
    pub fn part(&self, start: usize, stop: usize) -> &[(u64, u64)] {
        let stop = stop.min(self.chunks.len());
        self.chunks.get(start.min(stop)..stop).unwrap_or_default()
    }
}

impl Engine {
    /// Number of stored chunks of the grid, and the bytes they take up.
    pub fn stored(&self) -> Result<(u64, u64)> {
        let survey = self.survey(&[], 0, &|| false)?;
        Ok((survey.present() as u64, survey.nbytes))
    }

    /// List the array's keys once, and tell chunks from others.
    ///
    /// `documents` are names of keys that belong there, and that make a folder below the array a node of its own. Of each
    /// sort of odd keys the first `most` are kept.
    pub fn survey(&self, documents: &[String], most: usize, interrupt: Interrupt<'_>) -> Result<Survey> {
        let total = self.grid.counts.iter().try_fold(1u64, |n, &count| n.checked_mul(count as u64));
        let total = total.ok_or_else(|| Error::Limit("a grid of more than 2⁶⁴ chunks cannot be surveyed".into()))?;
        self.store.begin()?;
        let path = &self.spec.keys.path;
        let (keys, debris) = self.store.list_all(path)?;
        let below = |key: &str| key.strip_prefix(path.as_str()).unwrap_or(key).to_owned();
        let (mut survey, mut found, mut others) = (Survey { total, ..Survey::default() }, Vec::new(), Vec::new());
        for key in keys {
            match self.spec.keys.parse(&key, self.grid.counts.len()) {
                Some(index) if self.is_inside(&index) => found.push((self.number(&index), key)),
                Some(_) => survey.outside.push(&below(&key), most),
                None => others.push(below(&key)),
            }
        }
        let nodes = Nodes::new(&others, documents);
        others.iter().filter(|key| nodes.is_stray(key)).for_each(|key| survey.stray.push(key, most));
        for key in debris.iter().map(|key| below(key)).filter(|key| !nodes.is_below(key)) {
            survey.debris.push(&key, most);
        }
        survey.chunks = self.sized(found, interrupt)?;
        survey.nbytes = survey.chunks.iter().fold(0, |sum, &(_, size)| sum.saturating_add(size));
        Ok(survey)
    }

    /// Ask for the size of each key; those that are gone by now are left out.
    fn sized(&self, found: Vec<(u64, String)>, interrupt: Interrupt<'_>) -> Result<Vec<(u64, u64)>> {
        if let Some(sizes) = self.store.sizes(&self.spec.keys.path)? {
            let mut chunks: Vec<(u64, u64)> =
                found.into_iter().filter_map(|(number, key)| Some((number, *sizes.get(&key)?))).collect();
            chunks.sort_unstable();
            return Ok(chunks);
        }
        let sizes: Vec<AtomicU64> = found.iter().map(|_| AtomicU64::new(GONE)).collect();
        pool::run(found.len(), found.len() >= MANY, interrupt, &|i| {
            if let (Some((_, key)), Some(slot)) = (found.get(i), sizes.get(i))
                && let Some(size) = self.store.size(key)?
            {
                slot.store(size, Ordering::Relaxed);
            }
            Ok(())
        })?;
        let numbers = found.into_iter().map(|(number, _)| number);
        let mut chunks: Vec<(u64, u64)> =
            numbers.zip(sizes.into_iter().map(AtomicU64::into_inner)).filter(|&(_, size)| size != GONE).collect();
        chunks.sort_unstable();
        Ok(chunks)
    }

    /// Whether an index of a chunk lies in the grid.
    pub(super) fn is_inside(&self, index: &[u64]) -> bool {
        index.iter().zip(&self.grid.counts).all(|(&i, &n)| i < n as u64)
    }

    /// The place of a chunk in C order.
    fn number(&self, index: &[u64]) -> u64 {
        let axes = index.iter().zip(&self.grid.counts);
        axes.fold(0, |at, (&i, &n)| at.saturating_mul(n as u64).saturating_add(i))
    }

    /// The inverse of [`Engine::number`].
    pub(super) fn index_of_number(&self, number: u64) -> SmallVec<[u64; 6]> {
        unravel(number, &self.grid.counts)
    }

    /// The key of a chunk by its number, below the array's own path.
    pub fn key_of_number(&self, number: u64) -> String {
        let mut key = String::new();
        self.spec.keys.write(&self.index_of_number(number), &mut key);
        key.strip_prefix(self.spec.keys.path.as_str()).unwrap_or(&key).to_owned()
    }
}

/// The index that a place in C order stands for.
pub(super) fn unravel(number: u64, counts: &[usize]) -> SmallVec<[u64; 6]> {
    let mut index: SmallVec<[u64; 6]> = SmallVec::from_elem(0, counts.len());
    let mut rest = number;
    for (i, &n) in index.iter_mut().zip(counts).rev() {
        *i = rest.checked_rem(n as u64).unwrap_or(0);
        rest = rest.checked_div(n as u64).unwrap_or(0);
    }
    index
}

/// The documents of an array, and the folders below it that are nodes of their own.
struct Nodes<'a> {
    documents: &'a [String],
    folders: HashSet<&'a str>,
}

impl<'a> Nodes<'a> {
    fn new(keys: &'a [String], documents: &'a [String]) -> Self {
        let folders = keys.iter().filter_map(|key| key.rsplit_once('/'));
        let folders = folders.filter(|(_, name)| documents.iter().any(|one| one == name)).map(|(folder, _)| folder);
        Self { documents, folders: folders.collect() }
    }

    /// Whether a key lies in a node below the array.
    fn is_below(&self, key: &str) -> bool {
        !self.folders.is_empty()
            && key.match_indices('/').any(|(at, _)| key.get(..at).is_some_and(|folder| self.folders.contains(folder)))
    }

    fn is_stray(&self, key: &str) -> bool {
        !self.documents.iter().any(|one| one == key) && !self.is_below(key)
    }
}
