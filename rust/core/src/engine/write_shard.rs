//! Encoding a shard: what was not touched is copied as it is, what was is encoded anew, and the index comes last.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use super::read::Work;
use super::shard::{Index, MISSING, index_shape, linear};
use super::write::Cell;
use super::{Call, chunk_error};
use crate::buffer::Buffer;
use crate::cell::{Cells, Dims, Sel, strides};
use crate::chain::{Shard, check};
use crate::codec::Want;
use crate::error::{Error, Result, ShardFault};
use crate::grid::inside;
use crate::mem::View;
use crate::pool;
use crate::scratch::{self, Scratch};

/// The shard that is there now.
pub(super) struct OldShard<'a> {
    pub bytes: &'a [u8],
    pub index: Arc<Index>,
}

/// A shard that is to be written.
pub(super) struct ShardTask<'a> {
    pub call: &'a Call<'a>,
    pub key: &'a str,
    pub shard: &'a Shard,
    pub cell: &'a Cell<'a>,
    pub cells: &'a Cells<'a>,
    pub grid: &'a [usize],
    pub old: Option<&'a OldShard<'a>>,
}

/// A new shard as a sequence of pieces of the old one and of what was encoded now.
#[derive(Default)]
pub(super) struct Layout {
    pieces: Vec<(Source, Range<usize>)>,
    pub len: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Old,
    New,
}

impl Layout {
    /// Add a piece; one that continues the last makes it longer.
    fn push(&mut self, source: Source, piece: Range<usize>) {
        self.len = self.len.saturating_add(piece.len());
        match self.pieces.last_mut() {
            Some((last, range)) if *last == source && range.end == piece.start => range.end = piece.end,
            _ => self.pieces.push((source, piece)),
        }
    }

    /// Whether it is what was encoded now, as it stands.
    pub(super) fn is_new(&self) -> bool {
        matches!(self.pieces.as_slice(), [(Source::New, _)])
    }

    pub(super) fn slices<'a>(&self, old: Option<&'a [u8]>, new: &'a [u8]) -> Vec<&'a [u8]> {
        let slice = |(source, range): &(Source, Range<usize>)| match source {
            Source::Old => old.unwrap_or_default().get(range.clone()).unwrap_or_default(),
            Source::New => new.get(range.clone()).unwrap_or_default(),
        };
        self.pieces.iter().map(slice).collect()
    }
}

impl ShardTask<'_> {
    /// Encode into `out` what is new, and say how the shard is laid out; `None` if nothing but fill is left.
    pub(super) fn run(&self, out: &mut Buffer) -> Result<Option<Layout>> {
        let shape = index_shape(self.grid);
        let Want::Exact(index_len) = self.shard.index.encoded_size(&shape) else {
            return Err(Error::Invalid("a shard index of unknown size".into()));
        };
        let total: usize = self.grid.iter().product();
        let mut touched = vec![usize::MAX; total];
        let mut at = SmallVec::new();
        for i in 0..self.cells.total() {
            drop(self.cells.part(i, &mut at));
            touched.get_mut(linear(&at, self.grid)).into_iter().for_each(|slot| *slot = i);
        }
        let made =
            if self.call.nested && self.cells.total() > 1 { Some(self.encode_in_parallel(&touched)?) } else { None };
        let mut layout = Layout::default();
        let mut index = vec![MISSING; total.saturating_mul(2)];
        let mut any = false;
        out.set_len(0);
        if self.shard.index_at_start {
            out.set_len(index_len);
            layout.push(Source::New, 0..index_len);
        }
        for (i, &hit) in touched.iter().enumerate() {
            let before = layout.len;
            if hit == usize::MAX {
                self.old_range(i)?.into_iter().for_each(|range| layout.push(Source::Old, range));
            } else {
                let start = out.len();
                match made.as_ref().map(|made| made.get(i)) {
                    Some(chunk) => chunk.into_iter().flatten().for_each(|chunk| out.extend(chunk)),
                    None => self.encode_cell(i, hit, |chunk| out.extend(chunk))?,
                }
                if out.len() > start {
                    layout.push(Source::New, start..out.len());
                }
            }
            if layout.len > before
                && let Some([offset, len]) = index.as_chunks_mut::<2>().0.get_mut(i)
            {
                (*offset, *len) = (before as u64, layout.len.saturating_sub(before) as u64);
                any = true;
            }
        }
        if !any {
            return Ok(None);
        }
        let start = out.len();
        self.write_index(&index, &shape, index_len, out)?;
        if !self.shard.index_at_start {
            layout.push(Source::New, start..out.len());
        }
        Ok(Some(layout))
    }

    fn old_range(&self, i: usize) -> Result<Option<Range<usize>>> {
        let most = self.shard.inner.most_stored(&self.shard.cell);
        let Some(old) = self.old else { return Ok(None) };
        let range = old.index.range(self.key, i, most)?;
        if matches!(range, Some((_, 0))) {
            // Copied as it is it would become a missing chunk, and read as fill.
            let message = format!("inner chunk {i} has no bytes");
            return Err(Error::Shard { key: self.key.into(), fault: ShardFault::Range, message });
        }
        Ok(range.map(|(offset, len)| offset as usize..offset.saturating_add(len) as usize))
    }

    fn old_chunk(&self, i: usize) -> Result<Option<&[u8]>> {
        let range = self.old_range(i)?;
        Ok(self.old.zip(range).map(|(old, range)| old.bytes.get(range).unwrap_or_default()))
    }

    /// Encode the inner chunk `i`, the `hit`-th that is touched, and hand over its bytes unless it is all fill.
    fn encode_cell(&self, i: usize, hit: usize, mut give: impl FnMut(&[u8])) -> Result<()> {
        let mut at = SmallVec::new();
        let sel = self.cells.part(hit, &mut at);
        let extent: Dims = at
            .iter()
            .zip(&self.shard.cell)
            .zip(&self.cell.extent)
            .map(|((&k, &n), &size)| inside(size as u64, k.saturating_mul(n as u64), n))
            .collect();
        let cell = Cell::enter(&self.shard.inner, &self.shard.cell, &extent, &sel, &self.cell.values);
        if cell.is_whole()
            && let Some([values]) = self.call.as_they_are(&self.shard.inner, &cell, usize::MAX).as_deref()
        {
            if !self.call.is_blank(values) {
                give(values);
            }
            return Ok(());
        }
        let old = self.old_chunk(i)?;
        scratch::with(|Scratch { cx, dec, one, two, .. }| {
            if self.call.encode(self.key, &self.shard.inner, &cell, old, &mut Work { cx, dec, one, two })? {
                give(dec.as_slice());
            }
            Ok(())
        })
    }

    fn encode_in_parallel(&self, touched: &[usize]) -> Result<Vec<Option<Vec<u8>>>> {
        let made: Vec<Mutex<Option<Vec<u8>>>> = touched.iter().map(|_| Mutex::default()).collect();
        let hits: Vec<(usize, usize)> =
            touched.iter().copied().enumerate().filter(|(_, hit)| *hit != usize::MAX).collect();
        pool::run(hits.len(), true, &|| false, &|n| {
            let Some(&(i, hit)) = hits.get(n) else { return Ok(()) };
            self.encode_cell(i, hit, |chunk| {
                if let Some(slot) = made.get(i) {
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(chunk.to_vec());
                }
            })
        })?;
        Ok(made.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
    }

    fn write_index(&self, index: &[u64], shape: &[usize], len: usize, out: &mut Buffer) -> Result<()> {
        let chain = &self.shard.index;
        scratch::with(|Scratch { cx, dec, one, .. }| {
            let stored = chain.stored_shape(shape);
            let data = dec.space(chain.dense_size(shape));
            #[allow(unsafe_code)]
            // SAFETY: a view of the whole of `index`, which outlives it and is only read.
            let view = unsafe { View::new(index.as_ptr().cast_mut().cast(), &strides(shape, 8)) };
            let view = chain.order.as_ref().map_or(view.clone(), |order| view.permuted(order));
            Sel::all(&stored).gather(data, &stored, 8, &view);
            chain.encode(&stored, dec, one, cx).map_err(chunk_error(self.key))?;
            check(dec.len(), Want::Exact(len)).map_err(chunk_error(self.key))?;
            if self.shard.index_at_start {
                let start: Range<usize> = 0..len;
                out.as_mut_slice().get_mut(start).into_iter().for_each(|place| place.copy_from_slice(dec.as_slice()));
            } else {
                out.extend(dec.as_slice());
            }
            Ok(())
        })
    }
}
