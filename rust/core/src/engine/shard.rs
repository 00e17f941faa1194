//! Shards: an index of (offset, size) pairs, and the inner chunks it points to.

use std::sync::Arc;

use smallvec::SmallVec;

use super::read::{Work, enter, read_solid, read_spans, solid};
use super::{Call, Engine};
use crate::cell::{Dims, Sel, strides};
use crate::chain::{Pack, Shard};
use crate::codec::Want;
use crate::error::{CodecError, Error, Fault, Result, ShardFault};
use crate::mem::View;
use crate::pool;
use crate::scratch::{self, Scratch};
use crate::store::Object;

/// Marks an inner chunk that is not there.
pub(super) const MISSING: u64 = u64::MAX;

/// Ranges are joined up to this size: what is read at once then still lies in the second-level cache when it is decoded.
const JOINED: u64 = 256 << 10;

/// Where the inner chunks of one shard are, in C order.
pub struct Index {
    pub(super) entries: Vec<(u64, u64)>,
    /// The bytes that the index itself takes up.
    own: (u64, u64),
    /// Size of the shard.
    size: u64,
}

/// Inner chunks along each dimension.
pub(super) fn grid(shape: &[usize], cell: &[usize]) -> Dims {
    shape.iter().zip(cell).map(|(&n, &c)| n.checked_div(c).unwrap_or(0)).collect()
}

/// The index as an array: the grid, and two numbers for each cell.
pub(super) fn index_shape(grid: &[usize]) -> Dims {
    grid.iter().copied().chain([2]).collect()
}

/// Position of a cell in C order.
pub(super) fn linear(index: &[u64], grid: &[usize]) -> usize {
    let at = index.iter().zip(grid).fold(0u64, |at, (&i, &n)| at.saturating_mul(n as u64).saturating_add(i));
    usize::try_from(at).unwrap_or(usize::MAX)
}

impl Index {
    /// The range of the `i`-th inner chunk; `None` if it is not stored.
    pub(super) fn range(&self, key: &str, i: usize, most: usize) -> Result<Option<(u64, u64)>> {
        let fail = |message: String| Error::Shard { key: key.into(), fault: ShardFault::Range, message };
        let &(offset, len) = self.entries.get(i).ok_or_else(|| fail(format!("no entry {i} in the index")))?;
        if offset == MISSING && len == MISSING {
            return Ok(None);
        }
        let end = offset.checked_add(len).filter(|&end| end <= self.size);
        let end = end.ok_or_else(|| {
            fail(format!("inner chunk {i} would be at {offset} with {len} bytes, in a shard of {} bytes", self.size))
        })?;
        if len > 0 && offset < self.own.1 && end > self.own.0 {
            return Err(fail(format!("inner chunk {i} at {offset} with {len} bytes overlaps the index")));
        }
        if len > most as u64 {
            return Err(fail(format!(
                "inner chunk {i} has {len} bytes, more than any encoding of it can have ({most})"
            )));
        }
        Ok(Some((offset, len)))
    }
}

impl Engine {
    pub(super) fn index_of(
        &self,
        key: &str,
        shard: &Shard,
        object: &dyn Object,
        top: bool,
        grid: &[usize],
    ) -> Result<Arc<Index>> {
        let token = object.token().filter(|_| top);
        if let Some(index) = token.and_then(|token| self.indexes.get(key, token)) {
            return Ok(index);
        }
        let index = Arc::new(read_index(key, shard, object, grid)?);
        if let Some(token) = token {
            self.indexes.put(key, token, Arc::clone(&index), index.entries.len().saturating_mul(16));
        }
        Ok(index)
    }
}

/// Read and decode the index of a shard.
pub(super) fn read_index(key: &str, shard: &Shard, object: &dyn Object, grid: &[usize]) -> Result<Index> {
    let shape = index_shape(grid);
    let Want::Exact(len) = shard.index.encoded_size(&shape) else {
        return Err(Error::Invalid("a shard index of unknown size".into()));
    };
    let size = object.size();
    let Some(rest) = size.checked_sub(len as u64) else {
        let message = format!("the shard has {size} bytes, its index alone takes {len}");
        return Err(Error::Shard { key: key.into(), fault: ShardFault::Index, message });
    };
    let at = if shard.index_at_start { 0 } else { rest };
    let (entries, _) = scratch::with(|Scratch { cx, enc, dec, one, two, .. }| {
        object.read_at(at, enc.space(len))?;
        let mut list = vec![0u64; shape.iter().product()];
        let shape = shard.index.stored_shape(&shape);
        let fail = |cause: CodecError| {
            let fault = if cause.fault == Fault::Checksum { ShardFault::Checksum } else { ShardFault::Index };
            Error::Shard { key: key.into(), fault, message: format!("index: {cause}") }
        };
        let bytes = shard.index.unwrap(enc.as_slice(), &shape, one, two, cx).map_err(fail)?;
        shard.index.unwrap_first(bytes, &shape, dec, cx).map_err(fail)?;
        match &shard.index.pack {
            Pack::Bytes { swap } => crate::mem::swap_in_place(dec.as_mut_slice(), *swap),
            Pack::Code(step) => {
                let (want, dims) = shard.index.packing(&shape);
                step.decode(dec.as_slice(), one, &dims, want, cx).map_err(fail)?;
                std::mem::swap(dec, one);
            }
            Pack::Vlen(_) | Pack::Shard(_) => return Err(Error::Invalid("a shard index of unknown size".into())),
        }
        shard.index.unfilter(&shape, dec, one, cx).map_err(fail)?;
        unturn(shard, dec.as_slice(), &shape, &mut list);
        let entries: Vec<(u64, u64)> = list.as_chunks::<2>().0.iter().map(|&[a, b]| (a, b)).collect();
        if let Some(i) = entries.iter().position(|(a, b)| (*a == MISSING) != (*b == MISSING)) {
            let message = format!("entry {i} of the index is half missing");
            return Err(Error::Shard { key: key.into(), fault: ShardFault::Range, message });
        }
        Ok((entries, ()))
    })?;
    Ok(Index { entries, own: (at, at.saturating_add(len as u64)), size })
}

/// Bring a decoded index into C order of the grid.
#[allow(unsafe_code)]
fn unturn(shard: &Shard, data: &[u8], stored: &[usize], list: &mut [u64]) {
    let natural: Dims = match &shard.index.order {
        Some(order) => {
            let mut shape: Dims = SmallVec::from_elem(0, stored.len());
            order.iter().zip(stored).for_each(|(&a, &n)| shape.get_mut(a).into_iter().for_each(|s| *s = n));
            shape
        }
        None => SmallVec::from_slice(stored),
    };
    // SAFETY: a view of the whole of `list`, which has one number for each element of the natural shape.
    let view = unsafe { View::new(list.as_mut_ptr().cast(), &strides(&natural, 8)) };
    let view = shard.index.order.as_ref().map_or(view.clone(), |order| view.permuted(order));
    Sel::all(stored).scatter(data, stored, 8, 0, &view);
}

impl Call<'_> {
    /// Read what is selected of a shard. `top`: the object is a stored one, whose index may be cached.
    #[allow(clippy::too_many_arguments, reason = "a shard has a key, an object, a shape, a selection and a place")]
    pub(super) fn read_shard(
        &self,
        key: &str,
        shard: &Shard,
        object: &dyn Object,
        top: bool,
        shape: &[usize],
        sel: &Sel<'_>,
        out: &View,
    ) -> Result<()> {
        let grid = grid(shape, &shard.cell);
        let index = self.engine.index_of(key, shard, object, top, &grid)?;
        let cells = sel.cut(&shard.cell, &grid);
        let most = shard.inner.most_stored(&shard.cell);
        let mut wanted: Vec<(u64, u64, usize)> = Vec::with_capacity(cells.total());
        let mut at = SmallVec::new();
        for i in 0..cells.total() {
            let part = cells.part(i, &mut at);
            match index.range(key, linear(&at, &grid), most)? {
                Some((offset, len)) => wanted.push((offset, len, i)),
                None => self.read_nothing(&part, out)?,
            }
        }
        wanted.sort_unstable();
        apart(key, wanted.iter().map(|&(offset, len, _)| (offset, len)))?;
        let gap = self.engine.store.gap() as u64;
        let runs = join(&wanted, gap);
        let read = |from: usize, to: usize| -> Result<()> {
            let wanted = wanted.get(from..to).unwrap_or_default();
            scratch::with(|work| self.read_run(key, shard, object, wanted, &cells, &grid, out, work))
        };
        let parallel = self.nested && runs.len() > 1;
        // Below a task of the pool there is no caller's thread to ask.
        pool::run(runs.len(), parallel, &|| false, &|i| runs.get(i).map_or(Ok(()), |&(from, to)| read(from, to)))
    }

    /// Read and decode inner chunks that lie close together.
    #[allow(clippy::too_many_arguments, reason = "as `read_shard`")]
    fn read_run(
        &self,
        key: &str,
        shard: &Shard,
        object: &dyn Object,
        wanted: &[(u64, u64, usize)],
        cells: &crate::cell::Cells<'_>,
        grid: &[usize],
        out: &View,
        work: &mut Scratch,
    ) -> Result<()> {
        let Some(&(start, _, first)) = wanted.first() else { return Ok(()) };
        let end = wanted.iter().map(|w| w.0.saturating_add(w.1)).max().unwrap_or(start);
        let Scratch { cx, enc, dec, one, two, .. } = work;
        let mut at = SmallVec::new();
        if wanted.len() == 1 && shard.inner.is_raw() {
            let (shape, sel, out) = enter(&shard.inner, &shard.cell, &cells.part(first, &mut at), out);
            if let Some(place) = solid(&shard.inner, &shape, &sel, &out) {
                let window = Window { object, start, len: end.saturating_sub(start) };
                return read_solid(key, &shard.inner, &window, place);
            }
            if let Some(spans) = sel.spans(&shape, shard.inner.item, self.engine.store.gap()) {
                let window = Window { object, start, len: end.saturating_sub(start) };
                let data = dec.space(shard.inner.dense_size(&shape));
                return read_spans(key, &shard.inner, &window, &spans, &shape, &sel, &out, data);
            }
        }
        let length = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        let bytes = match object.bytes() {
            Some(all) => {
                usize::try_from(start).ok().and_then(|s| all.get(s..s.checked_add(length)?)).unwrap_or_default()
            }
            None => {
                object.read_at(start, enc.space(length))?;
                enc.as_slice()
            }
        };
        for &(offset, len, i) in wanted {
            let from = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
            let part = bytes.get(from..from.saturating_add(len as usize)).unwrap_or_default();
            let sel = cells.part(i, &mut at);
            let (shape, sel, out) = enter(&shard.inner, &shard.cell, &sel, out);
            let token = object.token();
            let mut work = Work { cx, dec, one, two };
            if token.is_some() && self.engine.chunks.enabled() {
                let name = format!("{key}#{}", linear(&at, grid));
                if let Some(chunk) = token.and_then(|token| self.engine.chunks.get(&name, token)) {
                    sel.scatter(&chunk, &shape, shard.inner.item, 0, &out);
                    continue;
                }
                self.decode_cached(&name, &shard.inner, part, token, &shape, &sel, &out, &mut work)?;
                continue;
            }
            self.decode(key, &shard.inner, part, &shape, &sel, &out, &mut work)?;
        }
        Ok(())
    }
}

/// See that sorted ranges share no bytes, unless they are the same: some writers store equal chunks once.
pub(super) fn apart(key: &str, sorted: impl Iterator<Item = (u64, u64)>) -> Result<()> {
    let mut last = (0u64, 0u64);
    for one in sorted.filter(|one| one.1 > 0) {
        if one.0 < last.0.saturating_add(last.1) && one != last {
            let message = format!(
                "inner chunks at {} with {} bytes and at {} with {} bytes overlap",
                last.0, last.1, one.0, one.1
            );
            return Err(Error::Shard { key: key.into(), fault: ShardFault::Range, message });
        }
        last = one;
    }
    Ok(())
}

/// Join sorted ranges that lie close together: pairs of positions in the list.
fn join(wanted: &[(u64, u64, usize)], gap: u64) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let (mut start, mut end) = (0u64, 0u64);
    for (i, &(offset, len, _)) in wanted.iter().enumerate() {
        let stop = offset.saturating_add(len);
        match runs.last_mut() {
            Some(run) if offset <= end.saturating_add(gap) && stop.saturating_sub(start) <= JOINED => {
                run.1 = i.saturating_add(1);
                end = end.max(stop);
            }
            _ => {
                runs.push((i, i.saturating_add(1)));
                (start, end) = (offset, stop);
            }
        }
    }
    runs
}

/// A part of an object as an object.
pub(super) struct Window<'a> {
    pub object: &'a dyn Object,
    pub start: u64,
    pub len: u64,
}

impl Object for Window<'_> {
    fn size(&self) -> u64 {
        self.len
    }

    fn token(&self) -> Option<crate::store::Token> {
        None
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        self.object.read_at(self.start.saturating_add(offset), dst)
    }

    fn bytes(&self) -> Option<&[u8]> {
        let start = usize::try_from(self.start).ok()?;
        self.object.bytes()?.get(start..start.checked_add(usize::try_from(self.len).ok()?)?)
    }
}
