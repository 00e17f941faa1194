//! A codec chain: how the elements of a chunk become the bytes under its key, and back.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::buffer::Buffer;
use crate::cell::{Dims, Sel, strides};
use crate::clean::Clean;
use crate::codec::{Contexts, Filter, Reshape, Step, Want, after};
use crate::error::{CodecError, Fault};
use crate::mem::{View, swap_in_place};

/// A step before the elements are packed into bytes; it sees a dense array in C order.
pub enum ArrayStep {
    /// Anything that maps arrays to arrays.
    Code(Arc<dyn Filter>),
    /// A change of the axes' order that could not be folded into the copy.
    Transpose(Dims),
    /// A change of the shape, which leaves the elements where they are.
    Reshape(Reshape),
}

/// The step that makes bytes of an array.
pub enum Pack {
    /// The elements one after the other, the bytes of each `swap`-byte unit reversed.
    Bytes {
        /// Unit of reversal; 0 or 1 for none.
        swap: usize,
    },
    /// Strings or bytes of any length, each behind its own length, or as a codec makes it of that.
    Vlen(Option<Arc<dyn Filter>>),
    /// An index and inner chunks.
    Shard(Box<Shard>),
    /// A codec that makes bytes of an array in a way of its own.
    Code(Arc<dyn Filter>),
}

/// The configuration of a sharding step.
pub struct Shard {
    /// Shape of the inner chunks, which divides the shard's.
    pub cell: Dims,
    /// The inner chunks' own chain.
    pub inner: Chain,
    /// The index's chain.
    pub index: Chain,
    /// Whether the index stands before the chunks rather than behind them.
    pub index_at_start: bool,
}

/// A whole chain.
pub struct Chain {
    /// Bytes of one element.
    pub item: usize,
    /// Axis `i` of what is stored is axis `order[i]` of the array; `None` for the array's own order.
    pub order: Option<Dims>,
    /// Steps on the array.
    pub array: Vec<ArrayStep>,
    /// The step from array to bytes.
    pub pack: Pack,
    /// Steps on the bytes.
    pub bytes: Vec<Arc<dyn Step>>,
    /// The most bytes that variable-length items of one chunk may take up.
    pub most_variable: usize,
    /// What decoded bytes must go through, where not every byte is a value of the type.
    pub clean: Option<Clean>,
}

impl ArrayStep {
    /// Size and shape of what the step makes of an array.
    fn emitted(&self, want: Want, shape: &[usize]) -> (Want, Dims) {
        match self {
            Self::Code(step) => (step.encoded_size(want, shape), step.encoded_shape(shape)),
            Self::Transpose(order) => (want, permute(shape, order)),
            // Where it cannot be, coding says so.
            Self::Reshape(step) => (want, step.shape(shape).unwrap_or_else(|| Dims::from_slice(shape))),
        }
    }

    fn decodes_as_is(&self) -> bool {
        match self {
            Self::Code(step) => step.decodes_as_is(),
            Self::Transpose(_) => false,
            Self::Reshape(_) => true,
        }
    }
}

impl Chain {
    /// Whether stored bytes are elements as they are, so that any part can be read alone.
    pub fn is_raw(&self) -> bool {
        self.array.is_empty() && self.bytes.is_empty() && matches!(self.pack, Pack::Bytes { .. })
    }

    /// Whether packed bytes are elements as they are, whatever was done to them when they were written.
    pub fn reads_plain(&self) -> bool {
        self.array.iter().all(ArrayStep::decodes_as_is)
    }

    /// Make decoded bytes values of the type.
    pub fn clean(&self, data: &mut [u8]) {
        if let Some(clean) = self.clean {
            clean.apply(data);
        }
    }

    /// Whether bytes can be handed on as they are.
    pub fn is_clean(&self, data: &[u8]) -> bool {
        self.clean.is_none_or(|clean| clean.is_clean(data))
    }

    /// The shard step, where stored bytes are a shard as it is.
    pub fn shard(&self) -> Option<&Shard> {
        match &self.pack {
            Pack::Shard(shard) if self.array.is_empty() && self.bytes.is_empty() => Some(shard),
            _ => None,
        }
    }

    /// The shape in which the array is stored.
    pub fn stored_shape(&self, shape: &[usize]) -> Dims {
        match &self.order {
            Some(order) => order.iter().filter_map(|&a| shape.get(a).copied()).collect(),
            None => SmallVec::from_slice(shape),
        }
    }

    /// Size of the elements before any step.
    pub fn dense_size(&self, shape: &[usize]) -> usize {
        shape.iter().product::<usize>().saturating_mul(self.item)
    }

    /// Size and shape after the array steps, before packing.
    pub fn packing(&self, shape: &[usize]) -> (Want, Dims) {
        let dense = (Want::Exact(self.dense_size(shape)), Dims::from_slice(shape));
        self.array.iter().fold(dense, |(want, dims), step| step.emitted(want, &dims))
    }

    /// Size after the array steps, before packing.
    pub fn array_size(&self, shape: &[usize]) -> Want {
        if self.array.is_empty() { Want::Exact(self.dense_size(shape)) } else { self.packing(shape).0 }
    }

    /// Size of the packed bytes, before the byte steps.
    pub fn packed_size(&self, shape: &[usize]) -> Want {
        match &self.pack {
            Pack::Bytes { .. } => self.array_size(shape),
            Pack::Vlen(_) => Want::AtMost(self.most_variable),
            Pack::Code(step) => {
                let (want, dims) = self.packing(shape);
                step.encoded_size(want, &dims)
            }
            Pack::Shard(shard) => {
                let cells = shape.iter().product::<usize>().checked_div(shard.cell.iter().product()).unwrap_or(0);
                let inner = shard.inner.encoded_size(&shard.cell).max();
                let index = shard.index.encoded_size(&[cells, 2]).max();
                Want::AtMost(inner.saturating_mul(cells).saturating_add(index))
            }
        }
    }

    /// Size of the encoded bytes.
    pub fn encoded_size(&self, shape: &[usize]) -> Want {
        self.bytes.iter().fold(self.packed_size(shape), |want, step| after(&**step, want))
    }

    /// The most bytes that another writer may have stored for a chunk: of shards, any number, since there may be bytes in
    /// them that no entry of the index leads to. Some writers leave old inner chunks behind.
    pub fn most_stored(&self, shape: &[usize]) -> usize {
        if self.shard().is_some() { usize::MAX } else { self.encoded_size(shape).max() }
    }

    /// Undo the byte steps but the first, which the caller undoes straight into its destination.
    ///
    /// Returns the bytes that the first step made, or the packed bytes if there is no step.
    pub fn unwrap<'s>(
        &self,
        src: &'s [u8],
        shape: &[usize],
        one: &'s mut Buffer,
        two: &'s mut Buffer,
        cx: &mut Contexts,
    ) -> Result<&'s [u8], CodecError> {
        let mut wants: SmallVec<[Want; 4]> = SmallVec::new();
        let mut want = self.packed_size(shape);
        for step in &self.bytes {
            wants.push(want);
            want = after(&**step, want);
        }
        let mut rest = self.bytes.iter().zip(wants).skip(1).rev();
        let Some((step, want)) = rest.next() else { return Ok(src) };
        step.decode(src, one, want, cx)?;
        let (mut from, mut to) = (one, two);
        for (step, want) in rest {
            step.decode(from.as_slice(), to, want, cx)?;
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from.as_slice())
    }

    /// Undo the first byte step, or just check the size where there is none.
    pub fn unwrap_first(
        &self,
        src: &[u8],
        shape: &[usize],
        dst: &mut Buffer,
        cx: &mut Contexts,
    ) -> Result<(), CodecError> {
        let want = self.packed_size(shape);
        match self.bytes.first() {
            Some(step) => step.decode(src, dst, want, cx)?,
            None => dst.assign(src),
        }
        check(dst.len(), want)
    }

    /// Undo the array steps: packed elements in `data` become the dense array in `data`.
    pub fn unfilter(
        &self,
        shape: &[usize],
        data: &mut Buffer,
        spare: &mut Buffer,
        cx: &mut Contexts,
    ) -> Result<(), CodecError> {
        let mut stages: SmallVec<[(Want, Dims); 4]> = SmallVec::new();
        let mut want = Want::Exact(self.dense_size(shape));
        let mut dims: Dims = SmallVec::from_slice(shape);
        for step in &self.array {
            let emitted = step.emitted(want, &dims);
            stages.push((want, dims));
            (want, dims) = emitted;
        }
        for (step, (want, dims)) in self.array.iter().zip(&stages).rev() {
            match step {
                ArrayStep::Code(step) => step.decode(data.as_slice(), spare, dims, *want, cx)?,
                ArrayStep::Transpose(order) => turn(order, dims, data, spare, false)?,
                ArrayStep::Reshape(step) => {
                    step.apply(dims)?;
                    continue;
                }
            }
            std::mem::swap(data, spare);
        }
        check(data.len(), Want::Exact(self.dense_size(shape)))
    }

    /// Apply the array steps, the packing (for everything but shards and strings) and the byte steps to `data`.
    pub fn encode(
        &self,
        shape: &[usize],
        data: &mut Buffer,
        spare: &mut Buffer,
        cx: &mut Contexts,
    ) -> Result<(), CodecError> {
        let mut dims: Dims = SmallVec::from_slice(shape);
        for step in &self.array {
            match step {
                ArrayStep::Code(step) => step.encode(data.as_slice(), spare, &dims, cx)?,
                ArrayStep::Transpose(order) => turn(order, &dims, data, spare, true)?,
                ArrayStep::Reshape(step) => {
                    dims = step.apply(&dims)?;
                    continue;
                }
            }
            dims = step.emitted(Want::AtMost(0), &dims).1;
            std::mem::swap(data, spare);
        }
        match &self.pack {
            Pack::Bytes { swap } => swap_in_place(data.as_mut_slice(), *swap),
            Pack::Code(step) | Pack::Vlen(Some(step)) => {
                step.encode(data.as_slice(), spare, &dims, cx)?;
                std::mem::swap(data, spare);
            }
            Pack::Vlen(None) | Pack::Shard(_) => {}
        }
        self.wrap(data, spare, cx)
    }

    /// Whether stored bytes are the elements as they are in memory, once the byte steps are undone.
    pub fn is_straight(&self) -> bool {
        self.array.is_empty() && matches!(self.pack, Pack::Bytes { swap: 0 | 1 })
    }

    /// Apply the byte steps to elements that are packed as they are, without a copy of them.
    pub fn wrap_from(
        &self,
        elements: &[u8],
        data: &mut Buffer,
        spare: &mut Buffer,
        cx: &mut Contexts,
    ) -> Result<(), CodecError> {
        let Some((first, rest)) = self.bytes.split_first() else {
            data.assign(elements);
            return Ok(());
        };
        first.encode(elements, data, cx)?;
        for step in rest {
            step.encode(data.as_slice(), spare, cx)?;
            std::mem::swap(data, spare);
        }
        Ok(())
    }

    /// Apply the byte steps to `data`.
    pub fn wrap(&self, data: &mut Buffer, spare: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError> {
        for step in &self.bytes {
            step.encode(data.as_slice(), spare, cx)?;
            std::mem::swap(data, spare);
        }
        Ok(())
    }
}

/// The sizes that a chunk's bytes must have once they are decoded.
pub fn check(got: usize, want: Want) -> Result<(), CodecError> {
    match want {
        Want::Exact(n) if n != got => Err(CodecError::corrupt("bytes", format!("{got} bytes where {n} are expected"))),
        Want::AtMost(n) if n < got => {
            Err(CodecError::new("bytes", Fault::TooLarge, format!("{got} bytes where at most {n} are expected")))
        }
        _ => Ok(()),
    }
}

fn permute(dims: &[usize], order: &[usize]) -> Dims {
    order.iter().filter_map(|&a| dims.get(a).copied()).collect()
}

/// Copy between a dense array of shape `dims` and the one with its axes in another order.
#[allow(unsafe_code)]
fn turn(order: &[usize], dims: &[usize], data: &Buffer, spare: &mut Buffer, forward: bool) -> Result<(), CodecError> {
    let n: usize = dims.iter().product();
    let item = data.len().checked_div(n).unwrap_or(0);
    check(data.len(), Want::Exact(item.saturating_mul(n)))?;
    let turned = permute(dims, order);
    let out = spare.space(data.len());
    if n == 0 {
        return Ok(());
    }
    let all = Sel::all(&turned);
    if forward {
        // Gather in the new order from a view of the old array.
        // SAFETY: the view covers `data`, which outlives it and is only read.
        let view = unsafe { View::new(data.as_slice().as_ptr().cast_mut(), &strides(dims, item)) };
        all.gather(out, &turned, item, &view.permuted(order));
    } else {
        // SAFETY: the view covers `out`, which outlives it and belongs to this call.
        let view = unsafe { View::new(out.as_mut_ptr(), &strides(dims, item)) };
        all.scatter(data.as_slice(), &turned, item, 0, &view.permuted(order));
    }
    Ok(())
}
