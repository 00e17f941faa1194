//! Reading from a store whose values lie side by side in sources: what is close together is read at once.
//!
//! First all values of a window of cells are looked up, which costs no request. Then, a group of sources at a time:
//! large values of files are read one by one, each by the way that suits it (straight into the caller's memory, or only the
//! parts that are selected); everything else goes through [`fetch`], which joins neighbours and keeps many requests on
//! their way, and is decoded as it arrives.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use smallvec::SmallVec;

use super::far_shards::FarShard;
use super::read::{SMALL, Whole, Work, fetch_spans, fetching, read_solid, read_spans, solid};
use super::{Call, chunk_error};
use crate::ask;
use crate::buffer::Buffer;
use crate::cell::{Cells, Sel};
use crate::chain::{Pack, check};
use crate::codec::Want;
use crate::error::{Error, Result};
use crate::mem::View;
use crate::pool::{self, Interrupt};
use crate::refs::{Length, Need, Part, Source, Taker, fetch, token_of};
use crate::scratch::{self, Scratch};
use crate::store::{Locate, Object, Spot};

/// Cells that are looked up at once.
const WINDOW: usize = 1 << 16;

/// How often a caller whose cells are looked up asks whether it should stop.
const POLL: Duration = Duration::from_millis(20);

/// Sources that are held open at once.
const SOURCES: usize = 128;

/// A cell whose value lies in a source.
struct Wanted {
    place: u32,
    offset: u64,
    length: Option<u64>,
    cell: usize,
}

/// Where the values of some cells are.
#[derive(Default)]
struct LookedUp {
    wanted: Vec<Wanted>,
    /// In memory, or nowhere.
    ready: Vec<(usize, Option<Bytes>)>,
    /// Where others write all the time.
    restless: Vec<usize>,
}

/// What the parts of one call share.
pub(super) struct Batch<'a> {
    pub call: &'a Call<'a>,
    pub cells: &'a Cells<'a>,
    pub out: &'a View,
    pub parallel: bool,
    /// The most bytes that any value can have, where all chunks have one shape.
    pub most: Option<u64>,
    pub locate: &'a dyn Locate,
    /// Whether each chunk is a source of its own, of which only asking tells whether it is there.
    pub objects: bool,
    /// Keys of chunks that others write to all the time.
    pub restless: &'a HashSet<String>,
}

impl Call<'_> {
    /// Read the cells of a selection.
    pub(super) fn read_located(
        &self,
        locate: &dyn Locate,
        cells: &Cells<'_>,
        restless: &HashSet<String>,
        out: &View,
        parallel: bool,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let (chain, grid) = (&self.engine.spec.chain, &self.engine.grid);
        let most = self.engine.most_stored(&chain.stored_shape(&grid.chunk)) as u64;
        let most = grid.uneven.is_none().then_some(most);
        let batch = Batch { call: self, cells, out, parallel, most, locate, objects: locate.objects(), restless };
        let total = cells.total();
        for from in (0..total).step_by(WINDOW) {
            let to = from.saturating_add(WINDOW).min(total);
            batch.window(from..to, interrupt)?;
        }
        Ok(())
    }
}

impl Batch<'_> {
    fn window(&self, window: Range<usize>, interrupt: Interrupt<'_>) -> Result<()> {
        let locate = self.locate;
        let LookedUp { mut wanted, ready, restless } = ask::with(interrupt, || self.look_up(window, interrupt))?;
        self.each(ready.len(), interrupt, |i| match ready.get(i) {
            Some((cell, Some(bytes))) => self.decode_value(*cell, bytes),
            Some((cell, None)) => self.missing(*cell),
            None => Ok(()),
        })?;
        self.each(restless.len(), interrupt, |i| restless.get(i).map_or(Ok(()), |&cell| self.read_whole(cell)))?;
        if !wanted.is_sorted_by_key(|one| (one.place, one.offset)) {
            wanted.sort_unstable_by_key(|one| (one.place, one.offset));
        }
        let mut group = Group::default();
        for one in wanted.chunk_by(|a, b| a.place == b.place) {
            let source =
                one.first().map(|first| locate.source(first.place).map_err(|error| error.at(&self.key(first.cell))));
            let Some(source) = source.transpose()? else { continue };
            group.files = group.files.saturating_add(usize::from(!source.remote()));
            self.plan(source, one, &mut group)?;
            if group.files >= SOURCES {
                self.read_group(std::mem::take(&mut group), interrupt)?;
            }
        }
        self.read_group(group, interrupt)
    }

    /// Look up where the values of cells are.
    fn look_up(&self, window: Range<usize>, interrupt: Interrupt<'_>) -> Result<LookedUp> {
        let locate = self.locate;
        locate.begin();
        let mut found = LookedUp::default();
        let mut index = SmallVec::new();
        let mut asked = Instant::now();
        for cell in window {
            // What has to be read and decoded for it is decided by who wrote it.
            if asked.elapsed() >= POLL {
                asked = Instant::now();
                if interrupt() {
                    return Err(Error::Interrupted);
                }
            }
            self.cells.part(cell, &mut index);
            if !self.restless.is_empty() && self.restless.contains(&self.key(cell)) {
                found.restless.push(cell);
                continue;
            }
            match locate.find(&index)? {
                Some(Spot::There { place, offset, length }) => {
                    found.wanted.push(Wanted { place, offset, length, cell });
                }
                Some(Spot::Here(bytes)) => found.ready.push((cell, Some(bytes))),
                None if self.call.zeroed => {}
                None => found.ready.push((cell, None)),
            }
        }
        Ok(found)
    }

    /// Decide for each value of a source how it is read.
    fn plan(&self, source: Arc<dyn Source>, wanted: &[Wanted], group: &mut Group) -> Result<()> {
        let at = group.sources.len();
        let (chain, chunks) = (&self.call.engine.spec.chain, &self.call.engine.chunks);
        for &Wanted { offset, length, cell, .. } in wanted {
            let length = match length {
                Some(length) => Some(length),
                None if self.objects && chain.shard().is_some() => {
                    group.shards.push(FarShard { source: at, offset, length: None, cell });
                    continue;
                }
                // What is not compressed has one size, which is checked when the first part of it is there.
                None if self.objects => self.presumed(cell, source.gap())?,
                None if source.remote() && !self.by_parts(cell, source.gap())? => None,
                None => source.stamp().map_err(|error| error.at(&self.key(cell)))?.size,
            };
            if let Some(length) = length {
                if chain.shard().is_some() && source.remote() {
                    group.shards.push(FarShard { source: at, offset, length: Some(length), cell });
                    continue;
                }
                if !source.remote() && (length > SMALL || chain.shard().is_some()) {
                    group.direct.push((at, offset, length, cell));
                    continue;
                }
            }
            let most = self.bound(cell, length)?;
            if let Some(length) = length.filter(|&length| length > source.gap())
                && chain.is_raw()
                && self.plan_spans(at, offset, length, cell, source.gap(), group)?
            {
                continue;
            }
            if chunks.enabled()
                && let Some(token) = length.and_then(|length| token_of(&*source, offset, length))
                && let Some(chunk) = chunks.get(&self.key(cell), token)
            {
                self.in_cell(cell, |_, shape, sel, out, _| {
                    sel.scatter(&chunk, shape, chain.item, 0, out);
                    Ok(())
                })?;
                continue;
            }
            let length = length.map_or(Length::All(most), Length::Of);
            group.needs.push(Need { source: at, offset, length });
            group.uses.push(Use::Value(cell));
        }
        group.sources.push(source);
        Ok(())
    }

    /// The size of an uncompressed value of which only spans are wanted.
    fn presumed(&self, cell: usize, gap: u64) -> Result<Option<u64>> {
        if !self.by_parts(cell, gap)? {
            return Ok(None);
        }
        self.in_cell(cell, |_, shape, _, _, _| Ok(Some(self.call.engine.spec.chain.dense_size(shape) as u64)))
    }

    /// Whether less than a whole value may be read, for which its size must be known.
    fn by_parts(&self, cell: usize, gap: u64) -> Result<bool> {
        let chain = &self.call.engine.spec.chain;
        let gap = usize::try_from(gap).unwrap_or(usize::MAX);
        let spans = |_: &str, shape: &[usize], sel: &Sel<'_>, _: &View, _: &mut Scratch| {
            Ok(sel.spans(shape, chain.item, gap).is_some())
        };
        Ok(chain.shard().is_some() || chain.is_raw() && self.in_cell(cell, spans)?)
    }

    /// Plan to read only the spans of an uncompressed value that are selected; `false` if all of it is as good.
    fn plan_spans(
        &self,
        source: usize,
        offset: u64,
        length: u64,
        cell: usize,
        gap: u64,
        group: &mut Group,
    ) -> Result<bool> {
        self.in_cell(cell, |key, shape, sel, _, _| {
            let chain = &self.call.engine.spec.chain;
            let gap = usize::try_from(gap).unwrap_or(usize::MAX);
            let Some(spans) = sel.spans(shape, chain.item, gap) else { return Ok(false) };
            let size = chain.dense_size(shape);
            check(usize::try_from(length).unwrap_or(usize::MAX), Want::Exact(size)).map_err(chunk_error(key))?;
            let puzzle = group.puzzles.len();
            for &(low, high) in &spans {
                let start = offset.saturating_add(low as u64);
                let length = Length::Of(high.saturating_sub(low) as u64);
                group.needs.push(Need { source, offset: start, length });
                group.uses.push(Use::Span { cell, puzzle, low });
            }
            let state = (Vec::new(), spans.len());
            group.puzzles.push(Puzzle { size, state: Mutex::new(state) });
            Ok(true)
        })
    }

    /// The most bytes that a cell's value can have; its length must not be more.
    fn bound(&self, cell: usize, length: Option<u64>) -> Result<u64> {
        if let Some(most) = self.most.filter(|&most| length.is_none_or(|length| length <= most)) {
            return Ok(most);
        }
        self.in_cell(cell, |key, shape, _, _, _| {
            let most = self.call.engine.most_stored(shape);
            let size = length.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
            check(size, Want::AtMost(most)).map_err(chunk_error(key))?;
            Ok(most as u64)
        })
    }

    fn read_group(&self, group: Group, interrupt: Interrupt<'_>) -> Result<()> {
        self.each(group.direct.len(), interrupt, |i| {
            let Some((source, &(_, offset, length, cell))) =
                group.direct.get(i).and_then(|one| Some((group.sources.get(one.0)?, one)))
            else {
                return Ok(());
            };
            self.in_cell(cell, |key, shape, sel, out, work| {
                let part = Part { source: Arc::clone(source), offset, length, key: key.into() };
                self.call.read_part(key, &part, shape, sel, out, work)
            })
        })?;
        let taker = Values { batch: self, group: &group };
        fetch(&group.sources, group.needs.clone(), self.parallel, interrupt, &taker)?;
        self.read_far_shards(&group.sources, &group.shards, interrupt)
    }

    fn each(&self, tasks: usize, interrupt: Interrupt<'_>, f: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
        pool::run(tasks, self.parallel, interrupt, &f)
    }

    fn in_cell<T>(
        &self,
        cell: usize,
        f: impl FnOnce(&str, &[usize], &Sel<'_>, &View, &mut Scratch) -> Result<T>,
    ) -> Result<T> {
        scratch::with(|work| self.call.in_cell(self.cells, cell, self.out, work, f))
    }

    fn key(&self, cell: usize) -> String {
        self.in_cell(cell, |key, _, _, _, _| Ok(key.to_owned())).unwrap_or_default()
    }

    fn missing(&self, cell: usize) -> Result<()> {
        self.in_cell(cell, |_, _, sel, out, _| self.call.read_nothing(sel, out))
    }

    /// Read a value by one request, so that all of it is of one state.
    fn read_whole(&self, cell: usize) -> Result<()> {
        let (engine, mut bytes) = (self.call.engine, Buffer::default());
        let get =
            |key: &str, shape: &[usize], bytes: &mut Buffer| engine.store.get(key, bytes, engine.most_stored(shape));
        if self.in_cell(cell, |key, shape, _, _, _| get(key, shape, &mut bytes))? {
            return self.decode_value(cell, bytes.as_slice());
        }
        self.missing(cell)
    }

    /// Decode a value that is in memory.
    fn decode_value(&self, cell: usize, bytes: &[u8]) -> Result<()> {
        self.in_cell(cell, |key, shape, sel, out, work| {
            let chain = &self.call.engine.spec.chain;
            if let Some(shard) = chain.shard() {
                return self.call.read_shard(key, shard, &Whole(bytes), false, shape, sel, out);
            }
            check(bytes.len(), Want::AtMost(chain.encoded_size(shape).max())).map_err(chunk_error(key))?;
            let Scratch { cx, dec, one, two, .. } = work;
            self.call.decode(key, chain, bytes, shape, sel, out, &mut Work { cx, dec, one, two })
        })
    }
}

/// What is read together: values of a few sources.
#[derive(Default)]
struct Group {
    sources: Vec<Arc<dyn Source>>,
    /// How many of the sources are files.
    files: usize,
    /// Values that are read one by one: source, offset, length, cell.
    direct: Vec<(usize, u64, u64, usize)>,
    /// Values that are read as a whole.
    needs: Vec<Need>,
    /// What each need is for.
    uses: Vec<Use>,
    /// Values of which spans are read.
    puzzles: Vec<Puzzle>,
    /// Shards that are far away.
    shards: Vec<FarShard>,
}

/// What a range is for.
enum Use {
    /// The whole value of a cell.
    Value(usize),
    /// A part of an uncompressed value.
    Span { cell: usize, puzzle: usize, low: usize },
}

impl Use {
    fn cell(&self) -> usize {
        match self {
            Self::Value(cell) | Self::Span { cell, .. } => *cell,
        }
    }
}

/// An uncompressed value that arrives in pieces.
struct Puzzle {
    size: usize,
    /// The value, once there is something of it, and how many pieces are still to come. What is never written to takes no
    /// memory.
    state: Mutex<(Vec<u8>, usize)>,
}

/// Decodes values as they arrive.
struct Values<'a> {
    batch: &'a Batch<'a>,
    group: &'a Group,
}

impl Values<'_> {
    /// Whether a piece of a value has arrived.
    fn is_begun(&self, puzzle: usize) -> bool {
        let puzzle = self.group.puzzles.get(puzzle);
        puzzle.is_some_and(|one| !one.state.lock().unwrap_or_else(PoisonError::into_inner).0.is_empty())
    }

    /// Whether an object has the size that was presumed.
    fn check_presumed(&self, need: usize, cell: usize, puzzle: usize) -> Result<()> {
        let source = self.group.needs.get(need).and_then(|one| self.group.sources.get(one.source));
        let (Some(source), Some(puzzle)) = (source.filter(|_| self.batch.objects), self.group.puzzles.get(puzzle))
        else {
            return Ok(());
        };
        let size = source.stamp()?.size.map_or(puzzle.size, |size| usize::try_from(size).unwrap_or(usize::MAX));
        check(size, Want::Exact(puzzle.size)).map_err(chunk_error(&self.batch.key(cell)))
    }

    /// Put a piece of an uncompressed value into its place; with the last one, all that is selected goes out.
    fn place(&self, cell: usize, puzzle: usize, low: usize, bytes: &[u8]) -> Result<()> {
        let Some(puzzle) = self.group.puzzles.get(puzzle) else { return Ok(()) };
        let mut state = puzzle.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (data, left) = &mut *state;
        if data.is_empty() {
            *data = vec![0; puzzle.size];
        }
        let high = low.saturating_add(bytes.len());
        let place = data.get_mut(low..high).ok_or_else(|| Error::Invalid("a piece that does not fit".into()))?;
        place.copy_from_slice(bytes);
        self.batch.call.engine.spec.chain.clean(place);
        *left = left.saturating_sub(1);
        if *left > 0 {
            return Ok(());
        }
        let data = std::mem::take(data);
        self.batch.in_cell(cell, |_, shape, sel, out, _| {
            let chain = &self.batch.call.engine.spec.chain;
            let Pack::Bytes { swap } = chain.pack else { return Err(Error::Invalid("not a raw chunk".into())) };
            sel.scatter(&data, shape, chain.item, swap, out);
            Ok(())
        })
    }
}

impl Taker for Values<'_> {
    fn take(&self, need: usize, bytes: &[u8]) -> Result<()> {
        let (batch, call) = (self.batch, self.batch.call);
        let cell = match self.group.uses.get(need) {
            Some(Use::Value(cell)) => *cell,
            Some(Use::Span { cell, puzzle, low }) => {
                self.check_presumed(need, *cell, *puzzle)?;
                return self.place(*cell, *puzzle, *low, bytes);
            }
            None => return Ok(()),
        };
        if !call.engine.chunks.enabled() {
            return batch.decode_value(cell, bytes);
        }
        let place = self.group.needs.get(need).and_then(|one| Some((self.group.sources.get(one.source)?, one)));
        let token = place.and_then(|(source, one)| token_of(&**source, one.offset, bytes.len() as u64));
        batch.in_cell(cell, |key, shape, sel, out, work| {
            let chain = &call.engine.spec.chain;
            let Scratch { cx, dec, one, two, .. } = work;
            call.decode_cached(key, chain, bytes, token, shape, sel, out, &mut Work { cx, dec, one, two })
        })
    }

    fn missing(&self, need: usize, error: Error) -> Result<()> {
        match self.group.uses.get(need) {
            Some(Use::Span { cell, puzzle, .. }) if self.batch.objects && self.is_begun(*puzzle) => {
                let message = "it was erased while it was read".into();
                Err(Error::Stale { key: self.batch.key(*cell), url: String::new(), message })
            }
            Some(one) if self.batch.objects => self.batch.missing(one.cell()),
            _ => Err(error),
        }
    }

    fn key(&self, need: usize) -> String {
        self.group.uses.get(need).map(|one| self.batch.key(one.cell())).unwrap_or_default()
    }
}

impl Call<'_> {
    /// Read what is selected of a large value by the way that suits it.
    fn read_part(
        &self,
        key: &str,
        part: &Part,
        shape: &[usize],
        sel: &Sel<'_>,
        out: &View,
        work: &mut Scratch,
    ) -> Result<()> {
        let chain = &self.engine.spec.chain;
        if let Some(shard) = chain.shard() {
            part.check()?;
            return self.read_shard(key, shard, part, true, shape, sel, out);
        }
        if chain.is_raw()
            && let Some(spans) = sel.spans(shape, chain.item, usize::try_from(part.source.gap()).unwrap_or(usize::MAX))
        {
            return read_spans(key, chain, part, &spans, shape, sel, out, work.dec.space(chain.dense_size(shape)));
        }
        if let Some(place) = solid(chain, shape, sel, out) {
            return read_solid(key, chain, part, place);
        }
        let token = if self.engine.chunks.enabled() { part.token() } else { None };
        if let Some(chunk) = token.and_then(|token| self.engine.chunks.get(key, token)) {
            sel.scatter(&chunk, shape, chain.item, 0, out);
            return Ok(());
        }
        if token.is_none()
            && let Some(step) = fetching(chain)
            && let Some(spans) = sel.spans(shape, chain.item, 0)
            && fetch_spans(key, chain, step, part, &spans, shape, sel, out, work)?
        {
            return Ok(());
        }
        let Scratch { cx, enc, dec, one, two, .. } = work;
        self.fetch(key, chain, part, shape, enc)?;
        self.decode_cached(key, chain, enc.as_slice(), token, shape, sel, out, &mut Work { cx, dec, one, two })
    }
}
