//! Shards of sources that are far away: all indexes, and what is wanted of a shard as soon as its index is there, in as few
//! requests as there can be.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;

use super::batch::Batch;
use super::read::{Work, enter};
use super::shard::{Index, apart, grid, index_shape, linear, read_index};
use crate::cell::{Cells, Dims, Sel};
use crate::chain::Shard;
use crate::codec::Want;
use crate::error::{Error, Result};
use crate::mem::View;
use crate::pool::Interrupt;
use crate::refs::{Length, Need, Source, Taker, fetch, token_of};
use crate::scratch::{self, Scratch};
use crate::store::{Object, Token};

/// Inner chunks that are asked for at once.
const MOST_INNER: usize = 1 << 16;

/// A shard that is a range of a source.
pub(super) struct FarShard {
    pub source: usize,
    pub offset: u64,
    /// `None` for one that is all of its source, which may not be there.
    pub length: Option<u64>,
    pub cell: usize,
}

/// A shard, and what is selected of it.
struct Opened<'a> {
    place: &'a FarShard,
    key: String,
    sel: Sel<'a>,
    out: View,
    grid: Dims,
}

impl FarShard {
    /// The shard's state, if it is known.
    fn token(&self, sources: &[Arc<dyn Source>]) -> Option<Token> {
        let source = sources.get(self.source)?;
        token_of(&**source, self.offset, self.length.unwrap_or(u64::MAX))
    }
}

/// The part of a shard that holds its index, as if it were all of it.
struct IndexBytes<'a> {
    size: u64,
    at: u64,
    bytes: &'a [u8],
}

impl Object for IndexBytes<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn token(&self) -> Option<Token> {
        None
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let start = offset.checked_sub(self.at).and_then(|start| usize::try_from(start).ok());
        let part = start.and_then(|start| self.bytes.get(start..start.checked_add(dst.len())?));
        dst.copy_from_slice(part.ok_or_else(|| Error::Invalid("read past the index of a shard".into()))?);
        Ok(())
    }
}

impl Batch<'_> {
    /// Read what is selected of shards.
    pub(super) fn read_far_shards(
        &self,
        sources: &[Arc<dyn Source>],
        shards: &[FarShard],
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let Some(shard) = self.call.engine.spec.chain.shard() else { return Ok(()) };
        let opened: Vec<Opened<'_>> = shards.iter().map(|place| self.opened(shard, place)).collect();
        let inner: Vec<Cells<'_>> = opened.iter().map(|one| one.sel.cut(&shard.cell, &one.grid)).collect();
        let (mut from, mut wanted) = (0, 0usize);
        for (k, cells) in inner.iter().enumerate() {
            let to = k.saturating_add(1);
            wanted = wanted.saturating_add(cells.total());
            if wanted >= MOST_INNER || to == inner.len() {
                let taker =
                    Shards { batch: self, sources, shard, opened: &opened, cells: &inner, state: Mutex::default() };
                let needs = taker.begin(from..to)?;
                fetch(sources, needs, self.parallel, interrupt, &taker)?;
                (from, wanted) = (to, 0);
            }
        }
        Ok(())
    }

    fn opened<'s>(&'s self, shard: &Shard, place: &'s FarShard) -> Opened<'s> {
        let (spec, chunks) = (&self.call.engine.spec, &self.call.engine.grid);
        let mut index = SmallVec::new();
        let sel = self.cells.part(place.cell, &mut index);
        let mut key = String::new();
        spec.keys.write(&index, &mut key);
        let mut spare = Dims::new();
        let (shape, sel, out) = enter(&spec.chain, chunks.shape(&index, &mut spare), &sel, self.out);
        let grid = grid(&shape, &shard.cell);
        Opened { place, key, sel, out, grid }
    }
}

/// Reads indexes, then what they lead to.
struct Shards<'a> {
    batch: &'a Batch<'a>,
    sources: &'a [Arc<dyn Source>],
    shard: &'a Shard,
    opened: &'a [Opened<'a>],
    /// Of each shard, the inner chunks that are selected.
    cells: &'a [Cells<'a>],
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What each need is for.
    uses: Vec<Use>,
    /// Shards whose index is there, and of which nothing was asked for yet; without an index there is no shard.
    ready: Vec<(usize, Option<Arc<Index>>)>,
}

#[derive(Clone, Copy)]
enum Use {
    /// The index of a shard, and where in it the index is if that is known.
    Index(usize, Option<u64>),
    /// An inner chunk of a shard: which of those that are wanted.
    Inner(usize, usize),
}

impl Shards<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The use of a need, and its shard.
    fn used(&self, need: usize) -> Option<(Use, &Opened<'_>)> {
        let used = *self.state().uses.get(need)?;
        let (Use::Index(k, _) | Use::Inner(k, _)) = used;
        Some((used, self.opened.get(k)?))
    }

    /// What is needed first of some shards: indexes, and inner chunks where the index is known.
    fn begin(&self, which: Range<usize>) -> Result<Vec<Need>> {
        let mut needs = Vec::new();
        for (k, one) in self.opened.iter().enumerate().take(which.end).skip(which.start) {
            let token = one.place.token(self.sources);
            match token.and_then(|token| self.batch.call.engine.indexes.get(&one.key, token)) {
                Some(index) => self.state().ready.push((k, Some(index))),
                None => needs.push(self.index_of(k, one)?),
            }
        }
        needs.extend(self.more()?);
        Ok(needs)
    }

    fn index_of(&self, k: usize, one: &Opened<'_>) -> Result<Need> {
        let &FarShard { source, offset, length, .. } = one.place;
        let Want::Exact(size) = self.shard.index.encoded_size(&index_shape(&one.grid)) else {
            return Err(Error::Invalid("a shard index of unknown size".into()));
        };
        let Some(length) = length else {
            let size = size as u64;
            let length = if self.shard.index_at_start { Length::Of(size) } else { Length::Last(size) };
            self.state().uses.push(Use::Index(k, None));
            return Ok(Need { source, offset, length });
        };
        // Too short for an index: reading it says so.
        let size = length.min(size as u64);
        let at = if self.shard.index_at_start { 0 } else { length.saturating_sub(size) };
        let from = offset.checked_add(at).ok_or_else(|| Error::Invalid("a reference past all ends".into()))?;
        self.state().uses.push(Use::Index(k, Some(at)));
        Ok(Need { source, offset: from, length: Length::Of(size) })
    }

    /// Add the inner chunks that are wanted of a shard; those that are missing are filled at once.
    fn wanted(&self, k: usize, index: &Index, needs: &mut Vec<Need>) -> Result<()> {
        let Some((one, cells)) = self.opened.get(k).zip(self.cells.get(k)) else { return Ok(()) };
        let most = self.shard.inner.most_stored(&self.shard.cell);
        let mut at = SmallVec::new();
        let mut ranges = Vec::new();
        for i in 0..cells.total() {
            let part = cells.part(i, &mut at);
            let Some((offset, length)) = index.range(&one.key, linear(&at, &one.grid), most)? else {
                self.batch.call.read_nothing(&part, &one.out)?;
                continue;
            };
            ranges.push((offset, length));
            let offset = one.place.offset.saturating_add(offset);
            needs.push(Need { source: one.place.source, offset, length: Length::Of(length) });
            self.state().uses.push(Use::Inner(k, i));
        }
        ranges.sort_unstable();
        apart(&one.key, ranges.into_iter())
    }

    fn take_index(&self, one: &Opened<'_>, at: Option<u64>, bytes: &[u8]) -> Result<Arc<Index>> {
        let mut size = one.place.length.unwrap_or(0);
        if let (None, Some(source)) = (one.place.length, self.sources.get(one.place.source)) {
            // The answer has told it.
            let stamp = source.stamp()?;
            size = stamp.size.unwrap_or(0);
            self.batch.locate.seen(&one.key, stamp);
        }
        let from = if self.shard.index_at_start { 0 } else { size.saturating_sub(bytes.len() as u64) };
        let object = IndexBytes { size, at: at.unwrap_or(from), bytes };
        let index = Arc::new(read_index(&one.key, self.shard, &object, &one.grid)?);
        if let Some(token) = one.place.token(self.sources) {
            let bytes = index.entries.len().saturating_mul(16);
            self.batch.call.engine.indexes.put(&one.key, token, Arc::clone(&index), bytes);
        }
        Ok(index)
    }

    fn take_inner(&self, one: &Opened<'_>, k: usize, i: usize, bytes: &[u8]) -> Result<()> {
        let Some(cells) = self.cells.get(k) else { return Ok(()) };
        let sel = cells.part(i, &mut SmallVec::new());
        let (shape, sel, out) = enter(&self.shard.inner, &self.shard.cell, &sel, &one.out);
        scratch::with(|Scratch { cx, dec, one: first, two, .. }| {
            let mut work = Work { cx, dec, one: first, two };
            self.batch.call.decode(&one.key, &self.shard.inner, bytes, &shape, &sel, &out, &mut work)
        })
    }
}

impl Taker for Shards<'_> {
    fn take(&self, need: usize, bytes: &[u8]) -> Result<()> {
        let Some((used, one)) = self.used(need) else { return Ok(()) };
        match used {
            Use::Index(k, at) => {
                let index = self.take_index(one, at, bytes)?;
                self.state().ready.push((k, Some(index)));
                Ok(())
            }
            Use::Inner(k, i) => self.take_inner(one, k, i, bytes),
        }
    }

    fn missing(&self, need: usize, error: Error) -> Result<()> {
        match self.used(need) {
            Some((Use::Index(k, _), _)) if self.batch.objects => self.state().ready.push((k, None)),
            Some((Use::Inner(..), one)) if self.batch.objects => {
                // A shard whose index is known was there: it has been erased since.
                let message = "it was erased while it was read".into();
                return Err(Error::Stale { key: one.key.clone(), url: String::new(), message });
            }
            _ => return Err(error),
        }
        Ok(())
    }

    fn more(&self) -> Result<Vec<Need>> {
        let ready = std::mem::take(&mut self.state().ready);
        let mut needs = Vec::new();
        for (k, index) in ready {
            match (index, self.opened.get(k)) {
                (Some(index), _) => self.wanted(k, &index, &mut needs)?,
                (None, Some(one)) => self.batch.call.read_nothing(&one.sel, &one.out)?,
                (None, None) => {}
            }
        }
        Ok(needs)
    }

    fn key(&self, need: usize) -> String {
        self.used(need).map(|(_, one)| one.key.clone()).unwrap_or_default()
    }
}
