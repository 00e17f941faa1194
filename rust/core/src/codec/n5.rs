//! The `n5_default` codec: a block of N5, which begins with its own shape and may be cut short at the array's edge.

use super::{Contexts, Filter, Series, Step, Want};
use crate::buffer::Buffer;
use crate::cell::Dims;
use crate::error::{CodecError, Fault};
use crate::mem::swap_in_place;

const NAME: &str = "n5_default";

/// The `n5_default` codec, of arrays in C order; N5 lists their dimensions from the last to the first.
pub struct N5 {
    item: usize,
    swap: usize,
    most: Dims,
    series: Series,
}

impl N5 {
    /// A codec for elements of `item` bytes whose `swap`-byte units are reversed, and for blocks up to the shape `most`.
    pub fn new(item: usize, swap: usize, most: Dims, series: Series) -> Self {
        Self { item, swap, most, series }
    }

    fn header_size(ndim: usize) -> usize {
        ndim.saturating_mul(4).saturating_add(4)
    }

    /// The most elements that a block may have for a chunk of a shape: a writer may have filled it up to full size.
    fn most(&self, shape: &[usize]) -> Dims {
        let full = self.most.iter().copied().chain(std::iter::repeat(0));
        shape.iter().zip(full).map(|(&n, most)| n.max(most)).collect()
    }

    fn bytes(&self, shape: &[usize]) -> usize {
        shape.iter().fold(self.item, |n, &m| n.saturating_mul(m))
    }

    /// The shape of a block, in C order, and what follows the header.
    fn header<'s>(&self, src: &'s [u8], shape: &[usize]) -> Result<(Dims, &'s [u8]), CodecError> {
        let cut = || CodecError::corrupt(NAME, format!("{} bytes end within the header", src.len()));
        let (&[m0, m1, d0, d1], rest) = src.split_first_chunk::<4>().ok_or_else(cut)?;
        match u16::from_be_bytes([m0, m1]) {
            0 => {}
            mode @ (1 | 2) => {
                let kind = if mode == 1 { "of variable length" } else { "of objects" };
                return Err(CodecError::new(NAME, Fault::Config, format!("blocks {kind} are not supported")));
            }
            mode => return Err(CodecError::corrupt(NAME, format!("no block has the mode {mode}"))),
        }
        let ndim = usize::from(u16::from_be_bytes([d0, d1]));
        if ndim != shape.len() {
            return Err(CodecError::corrupt(NAME, format!("a block of {ndim} dimensions where {} are", shape.len())));
        }
        let (sizes, payload) = rest.split_at_checked(ndim.saturating_mul(4)).ok_or_else(cut)?;
        let sizes = sizes.as_chunks::<4>().0.iter().rev();
        let block: Dims = sizes.map(|&n| usize::try_from(u32::from_be_bytes(n)).unwrap_or(usize::MAX)).collect();
        let most = self.most(shape);
        if block.iter().zip(&most).any(|(n, most)| n > most) {
            return Err(CodecError::corrupt(NAME, format!("a block of shape {block:?} in a chunk of {shape:?}")));
        }
        Ok((block, payload))
    }
}

impl Filter for N5 {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        _: Want,
        cx: &mut Contexts,
    ) -> Result<(), CodecError> {
        let (block, payload) = self.header(src, shape)?;
        if *block == *shape {
            self.series.decode(payload, dst, Want::Exact(self.bytes(shape)), cx)?;
            swap_in_place(dst.as_mut_slice(), self.swap);
            return Ok(());
        }
        let mut made = Buffer::default();
        self.series.decode(payload, &mut made, Want::Exact(self.bytes(&block)), cx)?;
        swap_in_place(made.as_mut_slice(), self.swap);
        let room = dst.space(self.bytes(shape));
        room.fill(0);
        place(made.as_slice(), &block, room, shape, self.item);
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, shape: &[usize], cx: &mut Contexts) -> Result<(), CodecError> {
        let too_long = || CodecError::new(NAME, Fault::Config, format!("no block can have the shape {shape:?}"));
        let ndim = u16::try_from(shape.len()).map_err(|_| too_long())?;
        let mut data = Buffer::default();
        data.assign(src);
        swap_in_place(data.as_mut_slice(), self.swap);
        let mut packed = Buffer::default();
        self.series.encode(data.as_slice(), &mut packed, cx)?;
        dst.assign(&[0, 0]);
        dst.extend(&ndim.to_be_bytes());
        for &n in shape.iter().rev() {
            dst.extend(&u32::try_from(n).map_err(|_| too_long())?.to_be_bytes());
        }
        dst.extend(packed.as_slice());
        Ok(())
    }

    fn encoded_size(&self, _: Want, shape: &[usize]) -> Want {
        let payload = self.series.bound(self.bytes(&self.most(shape)));
        Want::AtMost(payload.saturating_add(Self::header_size(shape.len())))
    }
}

/// Copy the part of a block that lies in the chunk, row by row.
fn place(src: &[u8], block: &[usize], dst: &mut [u8], shape: &[usize], item: usize) {
    let (Some((&in_block, block)), Some((&in_chunk, shape))) = (block.split_last(), shape.split_last()) else { return };
    let both: Dims = block.iter().zip(shape).map(|(&a, &b)| a.min(b)).collect();
    let row = in_block.min(in_chunk).saturating_mul(item);
    for i in 0..both.iter().product() {
        let (mut rest, mut from, mut to) = (i, 0_usize, 0_usize);
        let (mut from_step, mut to_step) = (in_block.saturating_mul(item), in_chunk.saturating_mul(item));
        for ((&n, &in_block), &in_chunk) in both.iter().zip(block).zip(shape).rev() {
            let (next, at) = super::div_rem(rest, n);
            rest = next;
            from = from.saturating_add(at.saturating_mul(from_step));
            to = to.saturating_add(at.saturating_mul(to_step));
            (from_step, to_step) = (from_step.saturating_mul(in_block), to_step.saturating_mul(in_chunk));
        }
        let source = src.get(from..from.saturating_add(row));
        if let (Some(source), Some(place)) = (source, dst.get_mut(to..to.saturating_add(row))) {
            place.copy_from_slice(source);
        }
    }
}
