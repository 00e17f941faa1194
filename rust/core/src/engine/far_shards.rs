//! Shards of sources that are far away: first all indexes, then all inner chunks, in as few requests as there can be.

use std::sync::{Arc, Mutex, PoisonError};

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
    index: Mutex<Known>,
}

/// What is known of a shard's index.
#[derive(Clone)]
enum Known {
    Nothing,
    Index(Arc<Index>),
    /// There is no shard.
    Missing,
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
        self.read_indexes(sources, shard, &opened, interrupt)?;
        let (mut needs, mut uses) = (Vec::new(), Vec::new());
        let inner: Vec<Cells<'_>> = opened.iter().map(|one| one.sel.cut(&shard.cell, &one.grid)).collect();
        for (k, (one, cells)) in opened.iter().zip(&inner).enumerate() {
            self.wanted(shard, one, cells, k, &mut needs, &mut uses)?;
            if needs.len() >= MOST_INNER || k.saturating_add(1) == opened.len() {
                let taker = Inner { batch: self, shard, opened: &opened, cells: &inner, uses: &uses };
                fetch(sources, &needs, self.parallel, interrupt, &taker)?;
                needs.clear();
                uses.clear();
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
        Opened { place, key, sel, out, grid, index: Mutex::new(Known::Nothing) }
    }

    /// Find the indexes of all shards, those that are not known with as few requests as possible.
    fn read_indexes(
        &self,
        sources: &[Arc<dyn Source>],
        shard: &Shard,
        opened: &[Opened<'_>],
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let (mut needs, mut uses) = (Vec::new(), Vec::new());
        for (k, one) in opened.iter().enumerate() {
            let &FarShard { source, offset, length, .. } = one.place;
            let token = one.place.token(sources);
            if let Some(index) = token.and_then(|token| self.call.engine.indexes.get(&one.key, token)) {
                one.set(Known::Index(index));
                continue;
            }
            let Want::Exact(size) = shard.index.encoded_size(&index_shape(&one.grid)) else {
                return Err(Error::Invalid("a shard index of unknown size".into()));
            };
            let Some(length) = length else {
                let size = size as u64;
                let length = if shard.index_at_start { Length::Of(size) } else { Length::Last(size) };
                needs.push(Need { source, offset, length });
                uses.push((k, None));
                continue;
            };
            // Too short for an index: reading it says so.
            let size = length.min(size as u64);
            let at = if shard.index_at_start { 0 } else { length.saturating_sub(size) };
            let from = offset.checked_add(at).ok_or_else(|| Error::Invalid("a reference past all ends".into()))?;
            needs.push(Need { source, offset: from, length: Length::Of(size) });
            uses.push((k, Some(at)));
        }
        let taker = Indexes { batch: self, sources, shard, opened, uses: &uses };
        fetch(sources, &needs, self.parallel, interrupt, &taker)
    }

    /// Add the inner chunks that are wanted of a shard; those that are missing are filled at once.
    fn wanted(
        &self,
        shard: &Shard,
        one: &Opened<'_>,
        cells: &Cells<'_>,
        k: usize,
        needs: &mut Vec<Need>,
        uses: &mut Vec<(usize, usize)>,
    ) -> Result<()> {
        let most = shard.inner.most_stored(&shard.cell);
        let Some(index) = one.get()? else { return self.call.read_nothing(&one.sel, &one.out) };
        let mut at = SmallVec::new();
        let mut ranges = Vec::new();
        for i in 0..cells.total() {
            let part = cells.part(i, &mut at);
            let Some((offset, length)) = index.range(&one.key, linear(&at, &one.grid), most)? else {
                self.call.read_nothing(&part, &one.out)?;
                continue;
            };
            ranges.push((offset, length));
            let offset = one.place.offset.saturating_add(offset);
            needs.push(Need { source: one.place.source, offset, length: Length::Of(length) });
            uses.push((k, i));
        }
        ranges.sort_unstable();
        apart(&one.key, ranges.into_iter())
    }
}

impl Opened<'_> {
    fn set(&self, known: Known) {
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    /// The index; `None` if there is no shard.
    fn get(&self) -> Result<Option<Arc<Index>>> {
        match self.index.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            Known::Index(index) => Ok(Some(index)),
            Known::Missing => Ok(None),
            Known::Nothing => Err(Error::Invalid("a shard without an index".into())),
        }
    }
}

/// Decodes indexes as they arrive.
struct Indexes<'a> {
    batch: &'a Batch<'a>,
    sources: &'a [Arc<dyn Source>],
    shard: &'a Shard,
    opened: &'a [Opened<'a>],
    /// For each need the shard, and where in it the index is if that is known.
    uses: &'a [(usize, Option<u64>)],
}

impl Taker for Indexes<'_> {
    fn take(&self, need: usize, bytes: &[u8]) -> Result<()> {
        let found = self.uses.get(need).and_then(|one| Some((self.opened.get(one.0)?, one)));
        let Some((one, &(_, at))) = found else { return Ok(()) };
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
        one.set(Known::Index(index));
        Ok(())
    }

    fn missing(&self, need: usize, error: Error) -> Result<()> {
        match self.uses.get(need).and_then(|one| self.opened.get(one.0)) {
            Some(one) if self.batch.objects => {
                one.set(Known::Missing);
                Ok(())
            }
            _ => Err(error),
        }
    }

    fn key(&self, need: usize) -> String {
        self.uses.get(need).and_then(|use_| self.opened.get(use_.0)).map(|one| one.key.clone()).unwrap_or_default()
    }
}

/// Decodes inner chunks as they arrive.
struct Inner<'a> {
    batch: &'a Batch<'a>,
    shard: &'a Shard,
    opened: &'a [Opened<'a>],
    cells: &'a [Cells<'a>],
    /// For each need the shard, and which of the wanted inner chunks it is.
    uses: &'a [(usize, usize)],
}

impl Taker for Inner<'_> {
    fn take(&self, need: usize, bytes: &[u8]) -> Result<()> {
        let found = self.uses.get(need).and_then(|&(k, i)| Some((self.opened.get(k)?, self.cells.get(k)?, i)));
        let Some((one, cells, i)) = found else { return Ok(()) };
        let sel = cells.part(i, &mut SmallVec::new());
        let (shape, sel, out) = enter(&self.shard.inner, &self.shard.cell, &sel, &one.out);
        scratch::with(|Scratch { cx, dec, one: first, two, .. }| {
            let mut work = Work { cx, dec, one: first, two };
            self.batch.call.decode(&one.key, &self.shard.inner, bytes, &shape, &sel, &out, &mut work)
        })
    }

    /// A shard whose index is known was there: it has been erased since.
    fn missing(&self, need: usize, error: Error) -> Result<()> {
        if !self.batch.objects {
            return Err(error);
        }
        let message = "it was erased while it was read".into();
        Err(Error::Stale { key: self.key(need), url: String::new(), message })
    }

    fn key(&self, need: usize) -> String {
        self.uses.get(need).and_then(|use_| self.opened.get(use_.0)).map(|one| one.key.clone()).unwrap_or_default()
    }
}
