//! Reading: fetch, decode, scatter.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{Call, Engine, chunk_error};
use crate::buffer::Buffer;
use crate::cell::{Cells, Dims, Sel};
use crate::chain::{Chain, Pack, check};
use crate::codec::{Contexts, Encoded, RowSink, Step, Want, Window};
use crate::error::{CodecError, Error, Result};
use crate::mem::{View, populate, swap_in_place};
use crate::pool::{self, Interrupt};
use crate::scratch::{self, Scratch};
use crate::store::{Object, Token};
use crate::vlen::{self, Arenas};

/// How often a read begins anew because of what others write; from then on, what changes is read as a whole.
const REREAD: u32 = 4;

/// The buffers of one decoding.
pub(super) struct Work<'a> {
    pub cx: &'a mut Contexts,
    pub dec: &'a mut Buffer,
    pub one: &'a mut Buffer,
    pub two: &'a mut Buffer,
}

/// A cell as a chain stores it: shape, selection and the caller's view in the order of the stored axes.
pub(super) fn enter<'a>(chain: &Chain, shape: &[usize], sel: &Sel<'a>, view: &View) -> (Dims, Sel<'a>, View) {
    match &chain.order {
        Some(order) => (chain.stored_shape(shape), sel.permuted(order), sel.permuted_view(view, order)),
        None => (SmallVec::from_slice(shape), sel.clone(), view.clone()),
    }
}

impl Engine {
    pub(super) fn read_all(
        &self,
        sel: &Sel<'_>,
        out: &View,
        zeroed: bool,
        arenas: Option<&Arenas>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        if sel.count() == 0 {
            return Ok(());
        }
        self.store.begin()?;
        let out = &out.of_bytes(sel.count().saturating_mul(self.spec.chain.item));
        let cells = sel.cut_at(&self.grid);
        let (parallel, nested) = self.spread(&cells);
        let nested = parallel && nested;
        let mut call = Call { engine: self, zeroed, arenas, nested, outbox: None, keeps_blank: false };
        if let Some(locate) = self.store.locate(&self.spec.keys) {
            let (mut restless, mut tries) = (HashSet::new(), 0u32);
            loop {
                match call.read_located(&*locate, &cells, &restless, out, parallel, interrupt) {
                    // What was read in parts has changed between them: from the beginning, as it is now.
                    Err(Error::Stale { key, .. }) if locate.objects() => {
                        locate.doubt();
                        if tries < REREAD || !restless.insert(key.clone()) {
                            tries = tries.saturating_add(1);
                        }
                        if tries > REREAD.saturating_mul(2) {
                            let message = "it changes while it is read, again and again".into();
                            return Err(Error::Conflict { key, message });
                        }
                    }
                    done => return done,
                }
                call.zeroed = false;
            }
        }
        pool::run(cells.total(), parallel, interrupt, &|i| {
            scratch::with(|work| {
                call.in_cell(&cells, i, out, work, |key, shape, sel, out, work| {
                    call.read_key(key, shape, sel, out, work)
                })
            })
        })
    }
}

impl Call<'_> {
    /// Do something with a cell: its key, and its shape, selection and view in stored order.
    pub(super) fn in_cell<T>(
        &self,
        cells: &Cells<'_>,
        i: usize,
        out: &View,
        work: &mut Scratch,
        f: impl FnOnce(&str, &[usize], &Sel<'_>, &View, &mut Scratch) -> Result<T>,
    ) -> Result<T> {
        let (spec, grid) = (&self.engine.spec, &self.engine.grid);
        let mut index = SmallVec::new();
        let sel = cells.part(i, &mut index);
        let mut key = std::mem::take(&mut work.key);
        spec.keys.write(&index, &mut key);
        let mut spare = Dims::new();
        let (shape, sel, out) = enter(&spec.chain, grid.shape(&index, &mut spare), &sel, out);
        let done = f(&key, &shape, &sel, &out, work);
        work.key = key;
        done
    }

    /// Fetch one object and decode what is selected of it.
    fn read_key(&self, key: &str, shape: &[usize], sel: &Sel<'_>, out: &View, work: &mut Scratch) -> Result<()> {
        let (chain, store) = (&self.engine.spec.chain, &self.engine.store);
        if let Some(shard) = chain.shard() {
            return match store.open(key)? {
                Some(object) => self.read_shard(key, shard, &*object, true, shape, sel, out),
                None => self.read_nothing(sel, out),
            };
        }
        if chain.is_raw()
            && let Some(spans) = sel.spans(shape, chain.item, store.gap())
        {
            return match store.open(key)? {
                Some(object) => {
                    read_spans(key, chain, &*object, &spans, shape, sel, out, work.dec.space(chain.dense_size(shape)))
                }
                None => self.read_nothing(sel, out),
            };
        }
        if let Some(place) = solid(chain, shape, sel, out) {
            return match store.open(key)? {
                Some(object) => read_solid(key, chain, &*object, place),
                None => self.read_nothing(sel, out),
            };
        }
        if store.in_memory() || self.engine.chunks.enabled() {
            let Some(object) = store.open(key)? else { return self.read_nothing(sel, out) };
            let token = object.token();
            if let Some(chunk) = token.and_then(|token| self.engine.chunks.get(key, token)) {
                sel.scatter(&chunk, shape, chain.item, 0, out);
                return Ok(());
            }
            let Scratch { cx, enc, dec, one, two, .. } = work;
            let bytes = match object.bytes() {
                Some(bytes) => bytes,
                None => {
                    self.fetch(key, chain, &*object, shape, enc)?;
                    enc.as_slice()
                }
            };
            return self.decode_cached(key, chain, bytes, token, shape, sel, out, &mut Work { cx, dec, one, two });
        }
        if let Some(step) = fetching(chain)
            && let Some(spans) = sel.spans(shape, chain.item, 0)
        {
            let Some(object) = store.open(key)? else { return self.read_nothing(sel, out) };
            if object.size() > SMALL && fetch_spans(key, chain, step, &*object, &spans, shape, sel, out, work)? {
                return Ok(());
            }
            let Scratch { cx, enc, dec, one, two, .. } = work;
            self.fetch(key, chain, &*object, shape, enc)?;
            return self.decode(key, chain, enc.as_slice(), shape, sel, out, &mut Work { cx, dec, one, two });
        }
        let Scratch { cx, enc, dec, one, two, .. } = work;
        let most = chain.encoded_size(shape).max();
        if !store.get(key, enc, most)? {
            return self.read_nothing(sel, out);
        }
        check(enc.len(), Want::AtMost(most)).map_err(chunk_error(key))?;
        self.decode(key, chain, enc.as_slice(), shape, sel, out, &mut Work { cx, dec, one, two })
    }

    /// Read a whole object, unless it is larger than any encoding of the chunk could be.
    pub(super) fn fetch(
        &self,
        key: &str,
        chain: &Chain,
        object: &dyn Object,
        shape: &[usize],
        enc: &mut Buffer,
    ) -> Result<()> {
        let most = chain.encoded_size(shape).max();
        let size = usize::try_from(object.size()).unwrap_or(usize::MAX);
        check(size, Want::AtMost(most)).map_err(chunk_error(key))?;
        object.read_at(0, enc.space(size))
    }

    /// A missing chunk holds the fill value.
    pub(super) fn read_nothing(&self, sel: &Sel<'_>, out: &View) -> Result<()> {
        self.engine.misses.fetch_add(1, Ordering::Relaxed);
        if !self.zeroed {
            sel.fill(&self.engine.blank, out);
        }
        Ok(())
    }

    /// Decode, and keep the decoded chunk if there is a cache for it.
    #[allow(clippy::too_many_arguments, reason = "a chunk has a key, bytes, a state, a shape, a selection and a place")]
    pub(super) fn decode_cached(
        &self,
        key: &str,
        chain: &Chain,
        bytes: &[u8],
        token: Option<Token>,
        shape: &[usize],
        sel: &Sel<'_>,
        out: &View,
        work: &mut Work<'_>,
    ) -> Result<()> {
        let chunks = &self.engine.chunks;
        let size = chain.dense_size(shape);
        let Some(token) = token.filter(|_| chunks.enabled() && self.arenas.is_none() && chain.shard().is_none()) else {
            return self.decode(key, chain, bytes, shape, sel, out, work);
        };
        let mut chunk = vec![0; size];
        #[allow(unsafe_code)]
        // SAFETY: a view of the whole of `chunk`, which outlives it and has no other user.
        let view = unsafe { View::new(chunk.as_mut_ptr(), &crate::cell::strides(shape, chain.item)) };
        self.decode(key, chain, bytes, shape, &Sel::all(shape), &view, work)?;
        sel.scatter(&chunk, shape, chain.item, 0, out);
        chunks.put(key, token, Arc::new(chunk), size);
        Ok(())
    }

    /// Decode the bytes of a cell and scatter what is selected; shape, selection and view are in stored order.
    #[allow(clippy::too_many_arguments, reason = "a chunk has a key, bytes, a shape, a selection and a place")]
    pub(super) fn decode(
        &self,
        key: &str,
        chain: &Chain,
        bytes: &[u8],
        shape: &[usize],
        sel: &Sel<'_>,
        out: &View,
        work: &mut Work<'_>,
    ) -> Result<()> {
        let fail = chunk_error(key);
        let Work { cx, dec, one, two } = work;
        sel.settle(chain.item, out);
        let bytes = chain.unwrap(bytes, shape, one, two, cx).map_err(&fail)?;
        match &chain.pack {
            Pack::Bytes { swap } if chain.reads_plain() => {
                decode_plain(chain, bytes, *swap, shape, sel, out, dec, cx).map_err(fail)
            }
            Pack::Shard(shard) if chain.array.is_empty() => {
                chain.unwrap_first(bytes, shape, dec, cx).map_err(&fail)?;
                self.read_shard(key, shard, &Whole(dec.as_slice()), false, shape, sel, out)
            }
            Pack::Shard(_) => Err(Error::Invalid("array filters before sharding cannot be undone by parts".into())),
            Pack::Vlen(step) => {
                chain.unwrap_first(bytes, shape, dec, cx).map_err(&fail)?;
                if let Some(step) = step {
                    step.decode(dec.as_slice(), one, shape, Want::AtMost(chain.most_variable), cx).map_err(&fail)?;
                    std::mem::swap(*dec, *one);
                }
                let arenas = self.arenas.ok_or_else(|| Error::Invalid("strings need an arena".into()))?;
                vlen::decode(dec.as_slice(), shape.iter().product(), arenas, one).map_err(&fail)?;
                sel.scatter(one.as_slice(), shape, chain.item, 0, out);
                Ok(())
            }
            Pack::Bytes { swap } => {
                chain.unwrap_first(bytes, shape, dec, cx).map_err(&fail)?;
                swap_in_place(dec.as_mut_slice(), *swap);
                chain.unfilter(shape, dec, one, cx).map_err(&fail)?;
                chain.clean(dec.as_mut_slice());
                sel.scatter(dec.as_slice(), shape, chain.item, 0, out);
                Ok(())
            }
            Pack::Code(step) => {
                chain.unwrap_first(bytes, shape, dec, cx).map_err(&fail)?;
                let (want, dims) = chain.packing(shape);
                step.decode(dec.as_slice(), one, &dims, want, cx).map_err(&fail)?;
                std::mem::swap(*dec, *one);
                chain.unfilter(shape, dec, one, cx).map_err(&fail)?;
                chain.clean(dec.as_mut_slice());
                sel.scatter(dec.as_slice(), shape, chain.item, 0, out);
                Ok(())
            }
        }
    }
}

/// Values up to this size are read as a whole.
pub(super) const SMALL: u64 = 64 << 10;

/// The only codec between stored bytes and elements, if it can do with a part of the stored bytes.
pub(super) fn fetching(chain: &Chain) -> Option<&dyn Step> {
    let [step] = chain.bytes.as_slice() else { return None };
    let plain = chain.reads_plain() && matches!(chain.pack, Pack::Bytes { .. });
    (plain && step.fetches()).then_some(&**step)
}

/// Fetch and decode only the parts of a value that the selection needs; `false` if that is not worth while.
#[allow(clippy::too_many_arguments, reason = "as `decode`")]
pub(super) fn fetch_spans(
    key: &str,
    chain: &Chain,
    step: &dyn Step,
    object: &dyn Object,
    spans: &[(usize, usize)],
    shape: &[usize],
    sel: &Sel<'_>,
    out: &View,
    work: &mut Scratch,
) -> Result<bool> {
    let size = usize::try_from(object.size()).unwrap_or(usize::MAX);
    check(size, Want::AtMost(chain.encoded_size(shape).max())).map_err(chunk_error(key))?;
    let Pack::Bytes { swap } = chain.pack else { return Ok(false) };
    let mut failure = None;
    let mut fetch = |offset: usize, place: &mut [u8]| {
        object.read_at(offset as u64, place).map_err(|error| {
            let cause = CodecError::corrupt(step.name(), error.to_string());
            failure = Some(error);
            cause
        })
    };
    let mut source = Encoded { size, fetch: &mut fetch };
    let total = chain.dense_size(shape);
    let strip = if swap <= 1 { sel.strip_mut(spans, chain.item, out) } else { None };
    let done = if let (Some(dst), Some(&(from, _))) = (strip, spans.first()) {
        let done = step.fetch_spans(&mut source, &mut Window { dst, from, total }, spans, &mut work.cx);
        if matches!(done, Ok(true)) {
            chain.clean(dst);
        }
        done
    } else {
        let dst = work.dec.space(total);
        let done = step.fetch_spans(&mut source, &mut Window { dst, from: 0, total }, spans, &mut work.cx);
        if matches!(done, Ok(true)) {
            chain.clean(dst);
            sel.scatter(dst, shape, chain.item, swap, out);
        }
        done
    };
    match failure {
        Some(error) => Err(error),
        None => done.map_err(chunk_error(key)),
    }
}

/// The common case: nothing between the elements and the byte codecs.
#[allow(clippy::too_many_arguments, reason = "as `decode`")]
fn decode_plain(
    chain: &Chain,
    bytes: &[u8],
    swap: usize,
    shape: &[usize],
    sel: &Sel<'_>,
    out: &View,
    dec: &mut Buffer,
    cx: &mut Contexts,
) -> std::result::Result<(), CodecError> {
    let (item, size) = (chain.item, chain.dense_size(shape));
    let Some(step) = chain.bytes.first() else {
        check(bytes.len(), Want::Exact(size))?;
        scatter_clean(chain, bytes, swap, shape, sel, out, dec);
        return Ok(());
    };
    // Only rows go around the caches.
    let in_one_piece = swap <= 1 && sel.slice_mut(shape, item, out).map(populate).is_some();
    if (out.is_far() || !in_one_piece) && decode_rows(chain, &**step, bytes, swap, shape, sel, out, cx)? {
        return Ok(());
    }
    if in_one_piece && let Some(place) = sel.slice_mut(shape, item, out) {
        step.decode_exact(bytes, place, cx)?;
        chain.clean(place);
        return Ok(());
    }
    if let Some(spans) = sel.spans(shape, item, 0) {
        let data = dec.space(size);
        if step.decode_spans(bytes, data, &spans, cx)? {
            chain.clean(data);
            sel.scatter(data, shape, item, swap, out);
            return Ok(());
        }
    }
    let data = dec.space(size);
    step.decode_exact(bytes, data, cx)?;
    // In place, while it is in the cache: the copy may go against the grain, where swapping would be slow.
    swap_in_place(data, swap);
    chain.clean(data);
    sel.scatter(data, shape, item, 0, out);
    Ok(())
}

/// Decode a whole chunk straight to where it belongs, row by row; `false`, having written nothing, where that is no way.
#[allow(clippy::too_many_arguments, reason = "as `decode`")]
fn decode_rows(
    chain: &Chain,
    step: &dyn Step,
    bytes: &[u8],
    swap: usize,
    shape: &[usize],
    sel: &Sel<'_>,
    out: &View,
    cx: &mut Contexts,
) -> std::result::Result<bool, CodecError> {
    let size = chain.dense_size(shape);
    let Some(mut rows) = sel.rows(shape, chain.item, out) else { return Ok(false) };
    if !step.decode_rows(bytes, size, swap, &mut rows, cx)? {
        return Ok(false);
    }
    if chain.clean.is_some() {
        let count = size.checked_div(rows.row_bytes()).unwrap_or(0);
        (0..count).for_each(|i| chain.clean(rows.row(i)));
    }
    Ok(true)
}

/// Scatter elements as they are stored, or a copy of them if some bytes are no values of the type.
fn scatter_clean(
    chain: &Chain,
    bytes: &[u8],
    swap: usize,
    shape: &[usize],
    sel: &Sel<'_>,
    out: &View,
    spare: &mut Buffer,
) {
    if chain.is_clean(bytes) {
        return sel.scatter(bytes, shape, chain.item, swap, out);
    }
    spare.assign(bytes);
    chain.clean(spare.as_mut_slice());
    sel.scatter(spare.as_slice(), shape, chain.item, swap, out);
}

/// Read only the spans of an uncompressed chunk that the selection needs.
#[allow(clippy::too_many_arguments, reason = "as `decode`")]
pub(super) fn read_spans(
    key: &str,
    chain: &Chain,
    object: &dyn Object,
    spans: &[(usize, usize)],
    shape: &[usize],
    sel: &Sel<'_>,
    out: &View,
    data: &mut [u8],
) -> Result<()> {
    let size = usize::try_from(object.size()).unwrap_or(usize::MAX);
    check(size, Want::Exact(data.len())).map_err(chunk_error(key))?;
    let Pack::Bytes { swap } = chain.pack else { return Err(Error::Invalid("not a raw chunk".into())) };
    let clean = |bytes: &[u8]| spans.iter().all(|&(low, high)| bytes.get(low..high).is_none_or(|s| chain.is_clean(s)));
    if let Some(bytes) = object.bytes().filter(|bytes| clean(bytes)) {
        sel.scatter(bytes, shape, chain.item, swap, out);
        return Ok(());
    }
    for &(low, high) in spans {
        let part = data.get_mut(low..high).unwrap_or_default();
        object.read_at(low as u64, part)?;
        chain.clean(part);
    }
    sel.scatter(data, shape, chain.item, swap, out);
    Ok(())
}

/// The caller's memory, where an uncompressed chunk belongs there byte for byte.
pub(super) fn solid<'a>(chain: &Chain, shape: &[usize], sel: &Sel<'a>, out: &View) -> Option<&'a mut [u8]> {
    if !chain.bytes.is_empty() || !chain.is_straight() {
        return None;
    }
    sel.settle(chain.item, out);
    sel.slice_mut(shape, chain.item, out)
}

/// Read an uncompressed chunk into its place.
pub(super) fn read_solid(key: &str, chain: &Chain, object: &dyn Object, place: &mut [u8]) -> Result<()> {
    let size = usize::try_from(object.size()).unwrap_or(usize::MAX);
    check(size, Want::Exact(place.len())).map_err(chunk_error(key))?;
    object.read_at(0, place)?;
    chain.clean(place);
    Ok(())
}

/// Bytes in memory as an object.
pub(super) struct Whole<'a>(pub &'a [u8]);

impl Object for Whole<'_> {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn token(&self) -> Option<Token> {
        None
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let part = start.checked_add(dst.len()).and_then(|end| self.0.get(start..end));
        dst.copy_from_slice(part.ok_or_else(|| Error::Invalid("read past the end of a shard".into()))?);
        Ok(())
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self.0)
    }
}
