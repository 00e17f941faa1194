//! Writing: gather, encode, store; chunks that are written in part are read first.

use std::ops::Range;

use smallvec::SmallVec;

use super::outbox::Outbox;
use super::read::{Work, enter};
use super::shard::{MISSING, grid, index_shape, linear};
use super::{Call, Engine, chunk_error, lock};
use crate::ask;
use crate::buffer::Buffer;
use crate::cell::{Cells, Dims, Sel, strides};
use crate::chain::{Chain, Pack, Shard, check};
use crate::codec::Want;
use crate::error::{Error, Result, ShardFault};
use crate::grid::inside;
use crate::mem::{self, View};
use crate::pool::{self, Interrupt};
use crate::scratch::{self, Scratch};
use crate::store::Hold;
use crate::vlen::{self, Arenas};

/// Pieces of the caller's memory from this length on are stored from where they are rather than gathered first.
const LONG: usize = 64 << 10;

/// A cell to be written: its full shape, the part of it inside the array, what is selected, and the values.
struct Cell<'a> {
    shape: Dims,
    extent: Dims,
    sel: Sel<'a>,
    values: View,
}

impl<'a> Cell<'a> {
    /// The same cell in the order in which a chain stores its axes.
    fn enter(chain: &Chain, shape: &[usize], extent: &[usize], sel: &Sel<'a>, values: &View) -> Self {
        let (shape, sel, values) = enter(chain, shape, sel, values);
        Self { shape, extent: chain.stored_shape(extent), sel, values }
    }

    /// Whether nothing of what is stored now will be left.
    fn is_whole(&self) -> bool {
        self.sel.covers(&self.extent)
    }
}

impl Engine {
    pub(super) fn write_all(
        &self,
        sel: &Sel<'_>,
        values: &View,
        arenas: Option<&Arenas>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        if sel.count() == 0 {
            return Ok(());
        }
        if self.grid.padded() {
            return Err(Error::Invalid("chunks that are stored longer than what they hold are only read".into()));
        }
        self.store.begin()?;
        let cells = sel.cut_at(&self.grid);
        let (parallel, nested) = self.spread(&cells);
        let outbox = self.store.is_far().then(|| Outbox::new(&*self.store));
        let nested = parallel && nested;
        let call = Call { engine: self, zeroed: false, arenas, nested, outbox: outbox.as_ref(), keeps_blank: false };
        let write = |i: usize, late: bool| {
            scratch::with(|work| {
                let mut index = SmallVec::new();
                let sel = cells.part(i, &mut index);
                let mut key = std::mem::take(&mut work.key);
                self.spec.keys.write(&index, &mut key);
                let extent = self.grid.extent(&index, &self.spec.shape);
                let mut spare = Dims::new();
                let shape = self.grid.shape(&index, &mut spare);
                let cell = Cell::enter(&self.spec.chain, shape, &extent, &sel, values);
                let done = match call.outbox.filter(|_| !late && !cell.is_whole()) {
                    Some(outbox) => {
                        outbox.put_off(i);
                        Ok(())
                    }
                    None => call.write_key(&key, &cell, work),
                };
                work.key = key;
                done
            })
        };
        let done = pool::run(cells.total(), parallel, interrupt, &|i| write(i, false));
        let Some(outbox) = call.outbox else { return done };
        let done = done.and_then(|()| {
            let later = outbox.later();
            pool::run_far(later.len(), interrupt, &|n| later.get(n).map_or(Ok(()), |&i| write(i, true)))?;
            ask::with(interrupt, || outbox.finish())
        });
        if done.is_err() {
            outbox.abandon();
        }
        done
    }
}

/// How often a part of a chunk is written anew because others write to it, too.
const MOST_TRIES: u32 = 200;

/// Whether stored bytes are the elements as they are in memory.
fn is_plain(chain: &Chain) -> bool {
    chain.is_raw() && matches!(chain.pack, Pack::Bytes { swap: 0 | 1 })
}

impl Call<'_> {
    fn write_key(&self, key: &str, cell: &Cell<'_>, work: &mut Scratch) -> Result<()> {
        let (chain, store) = (&self.engine.spec.chain, &self.engine.store);
        let Scratch { cx, dec, one, two, .. } = work;
        if cell.is_whole() {
            if let Some(parts) = self.as_they_are(chain, cell, LONG) {
                let blank = parts.iter().all(|part| self.is_blank(part));
                return self.put(key, (!blank).then_some(&parts));
            }
            let some = self.encode(key, chain, cell, None, &mut Work { cx, dec, one, two })?;
            return self.put(key, some.then_some(&[dec.as_slice()]));
        }
        let _held = lock::hold(store.place(key));
        let most = chain.encoded_size(&cell.shape).max();
        for attempt in 0..MOST_TRIES {
            if !store.is_conditional() {
                let kept = store.hold(key)?;
                let there = !matches!(kept, Hold::Absent) && store.get(key, &mut work.enc, most)?;
                if self.merge(key, cell, if there { &Old::Some } else { &Old::None }, work)? {
                    return Ok(());
                }
                continue;
            }
            let old = store.get_tagged(key, &mut work.enc, most)?.map_or(Old::None, Old::Tagged);
            // To erase a chunk others may be writing to has no condition: it is kept, though it holds nothing but fill.
            let keeps_blank = matches!(old, Old::Tagged(_));
            if (Self { keeps_blank, ..*self }).merge(key, cell, &old, work)? {
                return Ok(());
            }
            ask::pause(attempt)?;
        }
        let message = format!("others write to it, too, and were quicker {MOST_TRIES} times");
        Err(Error::Store { key: key.into(), op: "put", message, errno: None })
    }

    /// Store a whole chunk, or nothing in its place.
    fn put(&self, key: &str, parts: Option<&[&[u8]]>) -> Result<()> {
        let store = &self.engine.store;
        if let Some(outbox) = self.outbox {
            return outbox.send(key, parts);
        }
        let _held = lock::hold(store.place(key));
        match parts {
            Some(parts) => store.put(key, parts),
            None => store.erase(key).map(drop),
        }
    }

    /// Change a part of the chunk that is in `work.enc`, and store it; `false` if someone else was quicker.
    fn merge(&self, key: &str, cell: &Cell<'_>, old: &Old, work: &mut Scratch) -> Result<bool> {
        let chain = &self.engine.spec.chain;
        let Scratch { cx, enc, dec, one, two, .. } = work;
        let most = chain.encoded_size(&cell.shape).max();
        let there = !matches!(old, Old::None);
        if is_plain(chain) && there {
            // What is stored is the dense chunk itself: change it where it is.
            check(enc.len(), Want::Exact(most)).map_err(chunk_error(key))?;
            cell.sel.gather(enc.as_mut_slice(), &cell.shape, chain.item, &cell.values);
            return self.finish(key, !self.is_blank(enc.as_slice()), old, &[enc.as_slice()]);
        }
        if there {
            check(enc.len(), Want::AtMost(most)).map_err(chunk_error(key))?;
        }
        let bytes = there.then_some(enc.as_slice());
        let mut work = Work { cx, dec, one, two };
        if let Some(shard) = chain.shard() {
            let made = self.encode_shard(key, chain, shard, cell, bytes, &mut work)?;
            return self.finish(key, made.is_some(), old, &made.unwrap_or_default().slices(bytes, work.dec.as_slice()));
        }
        let some = self.encode(key, chain, cell, bytes, &mut work)?;
        self.finish(key, some, old, &[dec.as_slice()])
    }

    /// Store what was made, or see to it that nothing is stored; `false` if someone else was quicker.
    fn finish(&self, key: &str, some: bool, old: &Old, parts: &[&[u8]]) -> Result<bool> {
        let store = &self.engine.store;
        match (some, old) {
            (true, Old::Tagged(tag)) => return store.put_tagged(key, parts, Some(tag.clone())),
            (true, Old::None) if store.is_conditional() => return store.put_tagged(key, parts, None),
            (true, Old::None) => return store.put_new(key, parts),
            (true, _) => store.put(key, parts)?,
            (false, Old::None) => {}
            (false, _) => store.clear(key)?,
        }
        Ok(true)
    }

    /// The caller's memory, where it is what would be stored, byte for byte: in one piece, or in few of `least` bytes.
    fn as_they_are<'a>(&self, chain: &Chain, cell: &Cell<'a>, least: usize) -> Option<Vec<&'a [u8]>> {
        if is_plain(chain) && cell.extent == cell.shape {
            cell.sel.slices(&cell.shape, chain.item, &cell.values, least)
        } else {
            None
        }
    }

    /// Whether a dense chunk holds nothing but the fill value and so need not be stored.
    fn is_blank(&self, data: &[u8]) -> bool {
        let spec = &self.engine.spec;
        match (&spec.fill, self.arenas) {
            _ if spec.write_empty || self.keeps_blank => false,
            (None, _) => false,
            (Some(fill), Some(arenas)) => vlen::is_filled(data, fill, arenas),
            (Some(fill), None) => mem::is_filled(data, fill),
        }
    }

    /// Encode a cell into `work.dec`, keeping what `old` holds outside the selection; `false` if all of it is fill.
    fn encode(
        &self,
        key: &str,
        chain: &Chain,
        cell: &Cell<'_>,
        old: Option<&[u8]>,
        work: &mut Work<'_>,
    ) -> Result<bool> {
        let fail = chunk_error(key);
        match &chain.pack {
            Pack::Shard(shard) => {
                let Some(layout) = self.encode_shard(key, chain, shard, cell, old, work)? else { return Ok(false) };
                if !layout.is_new() {
                    // Where byte steps follow, the old shard was unwrapped into `two`.
                    let old = if chain.bytes.is_empty() { old } else { Some(work.two.as_slice()) };
                    let whole = layout.slices(old, work.dec.as_slice()).concat();
                    work.dec.assign(&whole);
                }
                chain.wrap(work.dec, work.one, work.cx).map_err(fail)?;
            }
            pack => {
                self.gather(key, chain, cell, old, work.dec)?;
                if self.is_blank(work.dec.as_slice()) {
                    return Ok(false);
                }
                if let (Pack::Vlen(_), Some(arenas)) = (pack, self.arenas) {
                    vlen::encode(work.dec.as_slice(), arenas, work.one).map_err(&fail)?;
                    std::mem::swap(work.dec, work.one);
                }
                chain.encode(&cell.shape, work.dec, work.one, work.cx).map_err(fail)?;
            }
        }
        Ok(true)
    }

    /// The dense chunk as it shall be: old values or fill, and the new values over them.
    fn gather(&self, key: &str, chain: &Chain, cell: &Cell<'_>, old: Option<&[u8]>, dec: &mut Buffer) -> Result<()> {
        let data = dec.space(chain.dense_size(&cell.shape));
        let whole = cell.is_whole();
        match old {
            Some(old) if !whole => {
                #[allow(unsafe_code)]
                // SAFETY: a view of the whole of `data`, which outlives it and has no other user.
                let view = unsafe { View::new(data.as_mut_ptr(), &strides(&cell.shape, chain.item)) };
                scratch::with(|Scratch { cx, dec, one, two, .. }| {
                    let all = Sel::all(&cell.shape);
                    self.decode(key, chain, old, &cell.shape, &all, &view, &mut Work { cx, dec, one, two })
                })?;
            }
            _ if !whole || cell.extent != cell.shape => mem::fill_slice(data, &self.engine.blank),
            _ => {}
        }
        cell.sel.gather(data, &cell.shape, chain.item, &cell.values);
        Ok(())
    }

    /// Encode what is new of a shard into `work.dec`; inner chunks that are not touched stay where they are in the old
    /// shard. `None` if nothing but fill is left.
    fn encode_shard(
        &self,
        key: &str,
        chain: &Chain,
        shard: &Shard,
        cell: &Cell<'_>,
        old: Option<&[u8]>,
        work: &mut Work<'_>,
    ) -> Result<Option<Layout>> {
        if !chain.array.is_empty() {
            return Err(Error::Invalid("array filters before sharding are not supported".into()));
        }
        let old = match old.filter(|_| !cell.is_whole()) {
            Some(old) if chain.bytes.is_empty() => Some(old),
            Some(old) => {
                let packed = chain.unwrap(old, &cell.shape, work.one, work.two, work.cx).map_err(chunk_error(key))?;
                chain.unwrap_first(packed, &cell.shape, work.dec, work.cx).map_err(chunk_error(key))?;
                std::mem::swap(work.dec, work.two);
                Some(work.two.as_slice())
            }
            None => None,
        };
        let grid = grid(&cell.shape, &shard.cell);
        let old = match old {
            Some(bytes) => Some(OldShard {
                bytes,
                index: self.engine.index_of(key, shard, &super::read::Whole(bytes), false, &grid)?,
            }),
            None => None,
        };
        let cells = cell.sel.cut(&shard.cell, &grid);
        let task = ShardTask { call: self, key, shard, cell, cells: &cells, grid: &grid, old: old.as_ref() };
        task.run(work.dec)
    }
}

/// What is stored now.
enum Old {
    None,
    Some,
    /// In this state.
    Tagged(String),
}

/// The shard that is there now.
struct OldShard<'a> {
    bytes: &'a [u8],
    index: std::sync::Arc<super::shard::Index>,
}

struct ShardTask<'a> {
    call: &'a Call<'a>,
    key: &'a str,
    shard: &'a Shard,
    cell: &'a Cell<'a>,
    cells: &'a Cells<'a>,
    grid: &'a [usize],
    old: Option<&'a OldShard<'a>>,
}

/// A new shard as a sequence of pieces of the old one and of what was encoded now.
#[derive(Default)]
struct Layout {
    pieces: Vec<(Source, Range<usize>)>,
    len: usize,
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
    fn is_new(&self) -> bool {
        matches!(self.pieces.as_slice(), [(Source::New, _)])
    }

    fn slices<'a>(&self, old: Option<&'a [u8]>, new: &'a [u8]) -> Vec<&'a [u8]> {
        let slice = |(source, range): &(Source, Range<usize>)| match source {
            Source::Old => old.unwrap_or_default().get(range.clone()).unwrap_or_default(),
            Source::New => new.get(range.clone()).unwrap_or_default(),
        };
        self.pieces.iter().map(slice).collect()
    }
}

impl ShardTask<'_> {
    /// Encode into `out` what is new, and say how the shard is laid out; `None` if nothing but fill is left.
    fn run(&self, out: &mut Buffer) -> Result<Option<Layout>> {
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
        let most = self.shard.inner.encoded_size(&self.shard.cell).max();
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
        let made: Vec<std::sync::Mutex<Option<Vec<u8>>>> =
            touched.iter().map(|_| std::sync::Mutex::default()).collect();
        let hits: Vec<(usize, usize)> =
            touched.iter().copied().enumerate().filter(|(_, hit)| *hit != usize::MAX).collect();
        pool::run(hits.len(), true, &|| false, &|n| {
            let Some(&(i, hit)) = hits.get(n) else { return Ok(()) };
            self.encode_cell(i, hit, |chunk| {
                if let Some(slot) = made.get(i) {
                    *slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(chunk.to_vec());
                }
            })
        })?;
        Ok(made.into_iter().map(|slot| slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)).collect())
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
