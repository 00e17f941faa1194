//! Looking at stored chunks one by one: whether they can be read, and whether they hold anything but the fill value.
//!
//! A fault of one chunk never ends the work on the others.

use std::sync::{Mutex, PoisonError};

use smallvec::SmallVec;

use super::read::{Whole, Work};
use super::shard::{MISSING, Window, grid, read_index};
use super::survey::{Survey, unravel};
use super::{Call, Engine, chunk_error};
use crate::cell::{Dims, Sel, strides};
use crate::chain::{Chain, Shard, check};
use crate::codec::Want;
use crate::error::{CodecError, Error, Result, ShardFault};
use crate::grid::inside;
use crate::mem::{self, View};
use crate::pool::{self, Interrupt};
use crate::scratch::{self, Scratch};
use crate::store::Object;
use crate::vlen::{self, Arenas, RECORD, Record};

/// Faults that one call keeps.
const MOST_FAULTS: usize = 1000;

/// Shards up to this size are read in one go where all of their chunks are decoded.
const AT_ONCE: u64 = 16 << 20;

/// Turns what went wrong with a chunk into a kind and a sentence; gives back what should end the call.
pub type Judge<'a> = &'a (dyn Fn(Error) -> Result<(String, String)> + Sync);

/// Something wrong with a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The chunk's key, below the array's own path.
    pub key: String,
    /// A word for what sort of fault it is.
    pub kind: String,
    /// One sentence about it.
    pub message: String,
}

/// What a look at some chunks has shown.
#[derive(Debug, Default)]
pub struct Checked {
    /// Chunks that were looked at.
    pub chunks: u64,
    /// Those that have vanished since the survey.
    pub gone: u64,
    /// Stored bytes of the chunks that were looked at.
    pub nbytes: u64,
    /// Inner chunks that these shards have room for inside the array's shape.
    pub cells: u64,
    /// How many of these are stored.
    pub cells_present: u64,
    /// Decoded chunks (inner ones where sharded) that hold nothing but the fill value.
    pub filled: u64,
    /// Faults, the first ones.
    pub faults: Vec<Found>,
    /// How many there are.
    pub nfaults: u64,
}

/// How to look.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// Whether all chunks are decoded.
    pub decode: bool,
    /// Whether items of variable length are text.
    pub text: bool,
    /// What tells faults of a chunk from reasons to stop.
    pub judge: Judge<'a>,
}

impl Engine {
    /// Look at the stored chunks from the `start`-th to before the `stop`-th of a survey.
    pub fn check(
        &self,
        survey: &Survey,
        start: usize,
        stop: usize,
        look: Look<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<Checked> {
        let part = survey.part(start, stop);
        self.store.begin()?;
        let tally = Mutex::new(Checked { chunks: part.len() as u64, ..Checked::default() });
        let nested = part.len() < pool::threads().saturating_mul(2);
        let task = Task { engine: self, look, nested, tally: &tally };
        let parallel = look.decode || self.spec.chain.shard().is_some();
        let work = |i: usize| part.get(i).map_or(Ok(()), |&(number, size)| task.chunk(number, size));
        if self.store.is_far() {
            pool::run_far(part.len(), interrupt, &work)?;
        } else {
            pool::run(part.len(), parallel, interrupt, &work)?;
        }
        let mut checked = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Threads end in any order; who reads the list wants the same one each time.
        checked.faults.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(checked)
    }
}

/// One inner chunk as the index of its shard has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    offset: u64,
    len: u64,
    cell: usize,
}

#[derive(Clone, Copy)]
struct Task<'a> {
    engine: &'a Engine,
    look: Look<'a>,
    nested: bool,
    tally: &'a Mutex<Checked>,
}

/// What is wrong with a chunk's size, if anything is: none of these can be decoded.
fn misfit(chain: &Chain, shape: &[usize], size: u64) -> Option<(&'static str, String)> {
    if size == 0 {
        return Some(("empty", "it has no bytes".into()));
    }
    let most = chain.most_stored(shape);
    if chain.is_raw() && size != most as u64 {
        return Some(("size", format!("{size} bytes where {most} are expected")));
    }
    (size > most as u64).then(|| ("size", format!("{size} bytes, more than any encoding of it can have ({most})")))
}

impl Task<'_> {
    fn count(&self, f: impl FnOnce(&mut Checked)) {
        f(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn note(&self, key: &str, kind: &str, message: String) {
        let key = key.strip_prefix(self.engine.spec.keys.path.as_str()).unwrap_or(key);
        self.count(|tally| {
            tally.nfaults = tally.nfaults.saturating_add(1);
            if tally.faults.len() < MOST_FAULTS {
                tally.faults.push(Found { key: key.into(), kind: kind.into(), message });
            }
        });
    }

    /// Take note of what went wrong with a chunk, unless it is no fault of the chunk's.
    fn judge(&self, key: &str, place: &str, error: Error) -> Result<()> {
        if matches!(error, Error::Interrupted | Error::Invalid(_)) {
            return Err(error);
        }
        let finer = match &error {
            Error::Shard { fault: ShardFault::Checksum, .. } => Some("shard-checksum"),
            Error::Shard { fault: ShardFault::Range, .. } => Some("shard-range"),
            _ => None,
        };
        let (kind, message) = (self.look.judge)(error)?;
        self.note(key, finer.unwrap_or(&kind), format!("{place}{message}"));
        Ok(())
    }

    fn chunk(&self, number: u64, size: u64) -> Result<()> {
        let (engine, chain) = (self.engine, &self.engine.spec.chain);
        let index = engine.index_of_number(number);
        let (mut key, mut spare) = (String::new(), Dims::new());
        engine.spec.keys.write(&index, &mut key);
        let shape = chain.stored_shape(engine.grid.shape(&index, &mut spare));
        let extent = chain.stored_shape(&engine.grid.extent(&index, &engine.spec.shape));
        self.count(|tally| tally.nbytes = tally.nbytes.saturating_add(size));
        if let Some((kind, message)) = misfit(chain, &shape, size) {
            self.note(&key, kind, message);
            return Ok(());
        }
        if !self.look.decode && chain.shard().is_none() {
            return Ok(());
        }
        let object = match engine.store.open(&key) {
            Ok(Some(object)) => object,
            Ok(None) => {
                self.count(|tally| tally.gone = tally.gone.saturating_add(1));
                return Ok(());
            }
            Err(error) => return self.judge(&key, "", error),
        };
        match chain.shard() {
            Some(shard) => self.whole_shard(&key, shard, &*object, &shape, &extent),
            None => self.decode(&key, "", chain, &*object, &shape, &extent),
        }
    }

    /// Look at a stored shard.
    fn whole_shard(
        &self,
        key: &str,
        shard: &Shard,
        object: &dyn Object,
        shape: &[usize],
        extent: &[usize],
    ) -> Result<()> {
        if !self.look.decode || object.bytes().is_some() || object.size() > AT_ONCE {
            return self.shard(key, "", shard, object, shape, extent).map(drop);
        }
        let mut bytes = vec![0; usize::try_from(object.size()).unwrap_or(0)];
        match object.read_at(0, &mut bytes) {
            Ok(()) => self.shard(key, "", shard, &Whole(&bytes), shape, extent).map(drop),
            Err(error) => self.judge(key, "", error),
        }
    }

    /// Look at the index of a shard and at its inner chunks; `place` says where in the stored object it is, if deeper.
    /// Returns whether all was well with the index.
    fn shard(
        &self,
        key: &str,
        place: &str,
        shard: &Shard,
        object: &dyn Object,
        shape: &[usize],
        extent: &[usize],
    ) -> Result<bool> {
        let grid = grid(shape, &shard.cell);
        let top = place.is_empty();
        if top {
            let cells = extent.iter().zip(&shard.cell).fold(1u64, |n, (&e, &c)| n.saturating_mul(e.div_ceil(c) as u64));
            self.count(|tally| tally.cells = tally.cells.saturating_add(cells));
        }
        let index = match read_index(key, shard, object, &grid) {
            Ok(index) => index,
            Err(error) => return self.judge(key, place, error).map(|()| false),
        };
        let most = shard.inner.most_stored(&shard.cell);
        let (mut entries, mut present, mut sound) = (Vec::new(), 0u64, true);
        for (cell, &(offset, len)) in index.entries.iter().enumerate() {
            if offset == MISSING && len == MISSING {
                continue;
            }
            if !extent_of(cell, &grid, &shard.cell, extent).contains(&0) {
                present = present.saturating_add(1);
            }
            match index.range(key, cell, most) {
                Ok(_) => entries.push(Entry { offset, len, cell }),
                Err(error) => {
                    self.judge(key, place, error)?;
                    sound = false;
                }
            }
        }
        if top {
            self.count(|tally| tally.cells_present = tally.cells_present.saturating_add(present));
        }
        entries.sort_unstable();
        sound &= self.overlaps(key, place, &entries);
        let parallel = top && self.nested && self.look.decode;
        pool::run(entries.len(), parallel, &|| false, &|i| {
            let Some(&entry) = entries.get(i) else { return Ok(()) };
            let extent = extent_of(entry.cell, &grid, &shard.cell, extent);
            self.cell(key, place, shard, object, entry, &extent)
        })?;
        Ok(sound)
    }

    /// Note entries, sorted, that share bytes; returns whether none do.
    fn overlaps(&self, key: &str, place: &str, entries: &[Entry]) -> bool {
        let mut sound = true;
        let mut last: Option<(u64, usize)> = None;
        for entry in entries.iter().filter(|entry| entry.len > 0) {
            let end = entry.offset.saturating_add(entry.len);
            if let Some((before, other)) = last
                && entry.offset < before
            {
                let message = format!("{place}inner chunks {other} and {} overlap", entry.cell);
                self.note(key, "shard-overlap", message);
                sound = false;
            }
            if last.is_none_or(|(before, _)| end > before) {
                last = Some((end, entry.cell));
            }
        }
        sound
    }

    /// Look at an inner chunk.
    fn cell(
        &self,
        key: &str,
        place: &str,
        shard: &Shard,
        object: &dyn Object,
        entry: Entry,
        extent: &[usize],
    ) -> Result<()> {
        let inner = &shard.inner;
        let place = format!("{place}inner chunk {}: ", entry.cell);
        let (shape, extent) = (inner.stored_shape(&shard.cell), inner.stored_shape(extent));
        if let Some((kind, message)) = misfit(inner, &shape, entry.len) {
            self.note(key, kind, format!("{place}{message}"));
            return Ok(());
        }
        let window = Window { object, start: entry.offset, len: entry.len };
        if let Some(deeper) = inner.shard() {
            // Only the indexes: its chunks are decoded with it, below.
            let shallow = Task { look: Look { decode: false, ..self.look }, ..*self };
            if !shallow.shard(key, &place, deeper, &window, &shape, &extent)? {
                return Ok(());
            }
        }
        if self.look.decode { self.decode(key, &place, inner, &window, &shape, &extent) } else { Ok(()) }
    }

    /// Decode a chunk, and count it if it is all fill.
    fn decode(
        &self,
        key: &str,
        place: &str,
        chain: &Chain,
        object: &dyn Object,
        shape: &[usize],
        extent: &[usize],
    ) -> Result<()> {
        match self.is_filled(key, chain, object, shape, extent) {
            Ok(true) => self.count(|tally| tally.filled = tally.filled.saturating_add(1)),
            Ok(false) => {}
            Err(error) => self.judge(key, place, error)?,
        }
        Ok(())
    }

    /// Decode all of a chunk; whether what lies within the array's shape is nothing but the fill value.
    fn is_filled(
        &self,
        key: &str,
        chain: &Chain,
        object: &dyn Object,
        shape: &[usize],
        extent: &[usize],
    ) -> Result<bool> {
        let (engine, item) = (self.engine, chain.item);
        let arenas = engine.is_vlen().then(|| Arenas::new(engine.fill(), Vec::new()));
        let call =
            Call { engine, zeroed: false, arenas: arenas.as_ref(), nested: false, outbox: None, keeps_blank: false };
        scratch::with(|own| {
            let data = own.dec.space(chain.dense_size(shape));
            let view = view_of(data, shape, item);
            scratch::with(|Scratch { cx, enc, dec, one, two, .. }| {
                let bytes = match object.bytes() {
                    Some(bytes) => bytes,
                    None => {
                        call.fetch(key, chain, object, shape, enc)?;
                        enc.as_slice()
                    }
                };
                check(bytes.len(), Want::AtMost(chain.encoded_size(shape).max())).map_err(chunk_error(key))?;
                call.decode(key, chain, bytes, shape, &Sel::all(shape), &view, &mut Work { cx, dec, one, two })
            })?;
            if extent == shape {
                return self.blank(key, own.dec.as_slice(), arenas.as_ref());
            }
            // Whatever stands outside the array's shape is nobody's.
            let inner = own.one.space(chain.dense_size(extent));
            let part = view_of(inner, extent, item);
            Sel::all(extent).scatter(own.dec.as_slice(), shape, item, 0, &part);
            self.blank(key, own.one.as_slice(), arenas.as_ref())
        })
    }

    /// Whether decoded elements are all fill; also looks whether text is text.
    fn blank(&self, key: &str, data: &[u8], arenas: Option<&Arenas>) -> Result<bool> {
        let fill = self.engine.spec.fill.as_ref();
        let Some(arenas) = arenas else {
            return Ok(fill.is_some_and(|fill| mem::is_filled(data, fill)));
        };
        if self.look.text {
            arenas.with(|lists| {
                let (records, _) = data.as_chunks::<RECORD>();
                let texts = records.iter().map(|record| vlen::text(lists, Record::from_bytes(record)));
                let bad = texts.map(std::str::from_utf8).find_map(std::result::Result::err);
                bad.map_or(Ok(()), |error| {
                    let message = format!("a stored string is not valid UTF-8: {error}");
                    Err(Error::Chunk { key: key.into(), cause: CodecError::corrupt("vlen", message) })
                })
            })?;
        }
        Ok(fill.is_some_and(|fill| vlen::is_filled(data, fill, arenas)))
    }
}

/// How much of an inner chunk lies within the extent of its shard.
fn extent_of(cell: usize, grid: &[usize], shape: &[usize], extent: &[usize]) -> Dims {
    let index: SmallVec<[u64; 6]> = unravel(cell as u64, grid);
    let axes = index.iter().zip(shape).zip(extent);
    axes.map(|((&i, &n), &size)| inside(size as u64, i.saturating_mul(n as u64), n)).collect()
}

/// A view of the whole of a dense chunk.
#[allow(unsafe_code)]
fn view_of(data: &mut [u8], shape: &[usize], item: usize) -> View {
    // SAFETY: the strides are those of a dense array that fills `data`, which outlives every use of the view below.
    unsafe { View::new(data.as_mut_ptr(), &strides(shape, item)) }
}
