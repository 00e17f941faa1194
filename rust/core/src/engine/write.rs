//! Writing: gather, encode, store; chunks that are written in part are read first.

use std::sync::atomic::{AtomicU8, Ordering};

use smallvec::SmallVec;

use super::outbox::Outbox;
use super::read::{Work, enter};
use super::shard::grid;
use super::write_shard::{Layout, OldShard, ShardTask};
use super::{Call, Engine, Watch, chunk_error, lock};
use crate::ask;
use crate::buffer::Buffer;
use crate::cell::{Dims, Sel, strides};
use crate::chain::{Chain, Pack, Shard, check};
use crate::codec::Want;
use crate::error::{Error, Result};
use crate::mem::{self, View};
use crate::pool::{self, Interrupt};
use crate::scratch::{self, Scratch};
use crate::store::Hold;
use crate::vlen::{self, Arenas};

/// Pieces of the caller's memory from this length on are stored from where they are rather than gathered first.
const LONG: usize = 64 << 10;

/// A cell to be written: its full shape, the part of it inside the array, what is selected, and the values.
pub(super) struct Cell<'a> {
    pub shape: Dims,
    pub extent: Dims,
    pub sel: Sel<'a>,
    pub values: View,
}

impl<'a> Cell<'a> {
    /// The same cell in the order in which a chain stores its axes.
    pub(super) fn enter(chain: &Chain, shape: &[usize], extent: &[usize], sel: &Sel<'a>, values: &View) -> Self {
        let (shape, sel, values) = enter(chain, shape, sel, values);
        Self { shape, extent: chain.stored_shape(extent), sel, values }
    }

    /// Whether nothing of what is stored now will be left. What lies outside the array is: somebody who knows that it has
    /// got longer may have written there.
    pub(super) fn is_whole(&self) -> bool {
        self.extent == self.shape && self.is_covered()
    }

    /// Whether all of it that is inside the array is selected.
    fn is_covered(&self) -> bool {
        self.sel.covers(&self.extent)
    }
}

impl Engine {
    pub(super) fn write_all(
        &self,
        sel: &Sel<'_>,
        values: &View,
        arenas: Option<&Arenas>,
        watch: &Watch,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        if sel.count() == 0 {
            return Ok(());
        }
        if self.grid.padded() {
            return Err(Error::Invalid("chunks that are stored longer than what they hold are only read".into()));
        }
        self.store.begin()?;
        if watch.look(self)? {
            return Ok(());
        }
        let done = self.write_cells(sel, values, arenas, watch, interrupt);
        match done {
            Err(Error::Interrupted) => done,
            // What has failed has done so since another array is there now.
            Err(_) if watch.look(self).unwrap_or(false) => Ok(()),
            Err(_) => done,
            Ok(()) => watch.look(self).map(drop),
        }
    }

    fn write_cells(
        &self,
        sel: &Sel<'_>,
        values: &View,
        arenas: Option<&Arenas>,
        watch: &Watch,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let _writing = self.store.writing()?;
        let cells = sel.cut_at(&self.grid);
        let (parallel, nested) = self.spread(&cells);
        let outbox = self.store.is_far().then(|| Outbox::new(&*self.store));
        let nested = parallel && nested;
        let call = Call { engine: self, zeroed: false, arenas, nested, outbox: outbox.as_ref(), keeps_blank: false };
        let write = |i: usize, late: bool| {
            if watch.is_over(self)? {
                return Ok(());
            }
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

/// Whether nothing is likely stored under the next key: as under the last one that was written.
#[derive(Default)]
pub(super) struct Guess(AtomicU8);

impl Guess {
    const ABSENT: u8 = 1;
    const PRESENT: u8 = 2;
    /// What is so small that to store it twice, where the first guess is wrong, costs as little as a look.
    const SMALL: usize = 256 << 10;

    fn is_absent(&self, parts: &[&[u8]]) -> bool {
        match self.0.load(Ordering::Relaxed) {
            Self::ABSENT => true,
            Self::PRESENT => false,
            _ => parts.iter().map(|part| part.len()).fold(0, usize::saturating_add) <= Self::SMALL,
        }
    }

    fn learn(&self, absent: bool) {
        self.0.store(if absent { Self::ABSENT } else { Self::PRESENT }, Ordering::Relaxed);
    }
}

/// How often a part of a chunk is written anew because others write to it, too.
const MOST_TRIES: u32 = 200;

/// Whether stored bytes are the elements as they are in memory.
fn is_plain(chain: &Chain) -> bool {
    chain.bytes.is_empty() && chain.is_straight()
}

/// The caller's memory, where it is what the byte steps are to be applied to.
fn straight<'a>(chain: &Chain, cell: &Cell<'a>) -> Option<&'a [u8]> {
    let whole = chain.is_straight() && cell.is_whole();
    if whole { cell.sel.slice(&cell.shape, chain.item, &cell.values) } else { None }
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
        let most = self.engine.most_stored(&cell.shape);
        for attempt in 0..MOST_TRIES {
            if !store.is_conditional() {
                let kept = store.hold(key)?;
                let there = !matches!(kept, Hold::Absent) && store.get(key, &mut work.enc, most)?;
                if self.merge(key, cell, if there { &Old::Some } else { &Old::None }, work)? {
                    return Ok(());
                }
                continue;
            }
            let old = match cell.is_covered() && attempt == 0 {
                true => Old::Unseen,
                false => store.get_tagged(key, &mut work.enc, most)?.map_or(Old::None, Old::Tagged),
            };
            // To erase a chunk others may be writing to has no condition: it is kept, though it holds nothing but fill.
            let keeps_blank = matches!(old, Old::Tagged(_));
            if (Self { keeps_blank, ..*self }).merge(key, cell, &old, work)? {
                return Ok(());
            }
            if !matches!(old, Old::Unseen) {
                ask::pause(attempt)?;
            }
        }
        let message = format!("others write to it, too, and were quicker {MOST_TRIES} times");
        Err(Error::Conflict { key: key.into(), message })
    }

    /// Store a whole chunk, or nothing in its place.
    fn put(&self, key: &str, parts: Option<&[&[u8]]>) -> Result<()> {
        let store = &self.engine.store;
        if let Some(outbox) = self.outbox {
            return outbox.send(key, parts);
        }
        let _held = lock::hold(store.place(key));
        // Who changes a part of what is there must not put it back over this; nor over what is new and was not seen.
        let mut guess = parts.is_some_and(|parts| self.engine.guess.is_absent(parts));
        loop {
            let kept = if std::mem::take(&mut guess) { Hold::Absent } else { store.hold(key)? };
            self.engine.guess.learn(matches!(kept, Hold::Absent));
            match (kept, parts) {
                (Hold::Absent, None) => return Ok(()),
                (Hold::Absent, Some(parts)) => {
                    if self.store_part(key, parts, true)? {
                        return Ok(());
                    }
                }
                (_kept, Some(parts)) => return self.store_part(key, parts, false).map(drop),
                (_kept, None) => return store.erase(key).map(drop),
            }
        }
    }

    fn store_part(&self, key: &str, parts: &[&[u8]], new: bool) -> Result<bool> {
        self.engine.store.put_part(key, parts, new, self.engine.spec.document.as_deref())
    }

    /// Change a part of the chunk that is in `work.enc`, and store it; `false` if someone else was quicker.
    fn merge(&self, key: &str, cell: &Cell<'_>, old: &Old, work: &mut Scratch) -> Result<bool> {
        let there = matches!(old, Old::Some | Old::Tagged(_));
        match self.merge_with(key, cell, old, there, work) {
            // Of what cannot be decoded, nothing would be left inside the array.
            Err(Error::Chunk { .. } | Error::Shard { .. }) if there && cell.is_covered() => {
                self.merge_with(key, cell, old, false, work)
            }
            done => done,
        }
    }

    /// The same, where `there` says whether what is stored now is to be kept where nothing was selected.
    fn merge_with(&self, key: &str, cell: &Cell<'_>, old: &Old, there: bool, work: &mut Scratch) -> Result<bool> {
        let chain = &self.engine.spec.chain;
        let Scratch { cx, enc, dec, one, two, .. } = work;
        let most = self.engine.most_stored(&cell.shape);
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
            (true, Old::Unseen) => return store.put_tagged(key, parts, None),
            (false, Old::Unseen) => return Ok(false),
            (true, Old::None) if store.is_conditional() => return store.put_tagged(key, parts, None),
            (true, Old::None) => return self.store_part(key, parts, true),
            (true, _) => return self.store_part(key, parts, false),
            (false, Old::None) => {}
            (false, _) => store.clear(key)?,
        }
        Ok(true)
    }

    /// The caller's memory, where it is what would be stored, byte for byte: in one piece, or in few of `least` bytes.
    pub(super) fn as_they_are<'a>(&self, chain: &Chain, cell: &Cell<'a>, least: usize) -> Option<Vec<&'a [u8]>> {
        if is_plain(chain) && cell.extent == cell.shape {
            cell.sel.slices(&cell.shape, chain.item, &cell.values, least)
        } else {
            None
        }
    }

    /// Whether a dense chunk holds nothing but the fill value and so need not be stored.
    pub(super) fn is_blank(&self, data: &[u8]) -> bool {
        let spec = &self.engine.spec;
        match (&spec.fill, self.arenas) {
            _ if spec.write_empty || self.keeps_blank => false,
            (None, _) => false,
            (Some(fill), Some(arenas)) => vlen::is_filled(data, fill, arenas),
            (Some(fill), None) => mem::is_filled(data, fill),
        }
    }

    /// Encode a cell into `work.dec`, keeping what `old` holds outside the selection; `false` if all of it is fill.
    pub(super) fn encode(
        &self,
        key: &str,
        chain: &Chain,
        cell: &Cell<'_>,
        old: Option<&[u8]>,
        work: &mut Work<'_>,
    ) -> Result<bool> {
        let fail = chunk_error(key);
        if let Some(elements) = straight(chain, cell) {
            let some = !self.is_blank(elements);
            if some {
                chain.wrap_from(elements, work.dec, work.one, work.cx).map_err(fail)?;
            }
            return Ok(some);
        }
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
            _ if !whole => mem::fill_slice(data, &self.engine.blank),
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
    /// Nobody has looked: likely nothing, of which storing will tell.
    Unseen,
    /// In this state.
    Tagged(String),
}
