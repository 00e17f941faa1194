//! Writing of Blosc containers with Snappy inside, which the C library is built without: Snappy is C++.

use super::Contexts;
use super::blosc_header::{HEADER, NAME};
use super::ffi::BloscParams;
use super::unshuffle::{shuffle, transpose_bits};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

/// The block size where none is asked for; the C library takes a similar one at its middle levels.
const BLOCK: usize = 256 << 10;

/// Blocks and streams are not made smaller than this.
const SMALLEST: usize = 128;

/// Elements of up to this many bytes get one stream per byte.
const MAX_SPLITS: usize = 16;

/// Encode `src` into a container.
pub(super) fn compress(p: &BloscParams<'_>, src: &[u8], dst: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError> {
    let mut blocksize = if p.blocksize == 0 { BLOCK } else { p.blocksize.max(SMALLEST) };
    blocksize = blocksize.min(src.len());
    if blocksize > p.typesize {
        blocksize = blocksize.saturating_sub(blocksize.checked_rem(p.typesize).unwrap_or_default());
    }
    let blocksize = blocksize.max(1);
    let split = p.typesize <= MAX_SPLITS && blocksize.checked_div(p.typesize).is_some_and(|n| n >= SMALLEST);
    let layout = Layout { blocksize, splits: if split { p.typesize } else { 1 }, limit: src.len() };
    let flags = 2 << 5 | u8::from(!split) << 4 | [0, 1, 4].get(usize::from(p.shuffle)).copied().unwrap_or(0);
    let compressible = p.clevel > 0 && src.len() >= SMALLEST;
    // The table of blocks and the streams go to the destination as long as they are smaller than the data.
    dst.assign(&[0; HEADER]);
    let packed = compressible && pack(p, &layout, src, dst, cx)?;
    if !packed {
        dst.assign(&[0; HEADER]);
        dst.extend(src);
    }
    let field = |n: usize| u32::try_from(n).map(u32::to_le_bytes).map_err(|_| refused(src.len()));
    let (nbytes, blocksize, cbytes) = (field(src.len())?, field(layout.blocksize)?, field(dst.len())?);
    let typesize = u8::try_from(p.typesize).unwrap_or(1);
    let versions = [2, 1, flags | u8::from(!packed) << 1, typesize];
    for (at, bytes) in [versions, nbytes, blocksize, cbytes].iter().enumerate() {
        if let Some(place) = dst.as_mut_slice().chunks_exact_mut(4).nth(at) {
            place.copy_from_slice(bytes);
        }
    }
    Ok(())
}

struct Layout {
    blocksize: usize,
    splits: usize,
    /// The most bytes after the header that are worth it.
    limit: usize,
}

fn refused(n: usize) -> CodecError {
    CodecError::new(NAME, Fault::Config, format!("cannot encode {n} bytes with snappy"))
}

/// Write the table and all blocks; `false` if that saves nothing.
fn pack(
    p: &BloscParams<'_>,
    layout: &Layout,
    src: &[u8],
    dst: &mut Buffer,
    cx: &mut Contexts,
) -> Result<bool, CodecError> {
    let mut encoder = snap::raw::Encoder::new();
    let table = src.len().div_ceil(layout.blocksize.max(1)).saturating_mul(4);
    dst.set_len(HEADER.saturating_add(table));
    for (i, block) in src.chunks(layout.blocksize).enumerate() {
        let at = u32::try_from(dst.len()).map_err(|_| refused(src.len()))?;
        if let Some(place) = dst.as_mut_slice().chunks_exact_mut(4).nth(i.saturating_add(HEADER / 4)) {
            place.copy_from_slice(&at.to_le_bytes());
        }
        let room = cx.scratch.space(block.len());
        rearrange(p, block, room, cx.second.space(block.len()));
        let splits = if block.len() == layout.blocksize { layout.splits } else { 1 };
        let each = block.len().checked_div(splits).unwrap_or_default();
        for stream in cx.scratch.as_slice().chunks_exact(each.max(1)) {
            let packed = encoder.compress_vec(stream).map_err(|_| refused(src.len()))?;
            // A stream as long as its data is stored as it is.
            let bytes = if packed.len() < stream.len() { &packed } else { stream };
            let length = u32::try_from(bytes.len()).map_err(|_| refused(src.len()))?;
            dst.extend(&length.to_le_bytes());
            dst.extend(bytes);
        }
        if dst.len() >= HEADER.saturating_add(layout.limit) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Shuffle the bytes or bits of one block from `src` to `dst`.
fn rearrange(p: &BloscParams<'_>, src: &[u8], dst: &mut [u8], second: &mut [u8]) {
    let n = src.len().checked_div(p.typesize).unwrap_or_default();
    match p.shuffle {
        1 if p.typesize > 1 => shuffle(p.typesize, src, dst),
        2 if n > 0 && n % 8 == 0 => {
            shuffle(p.typesize, src, second);
            let whole = n.saturating_mul(p.typesize);
            if let (Some(planes), Some(tail)) = (second.get_mut(..whole), src.get(whole..)) {
                transpose_bits(planes);
                for (plane, out) in planes.chunks_exact(n).zip(dst.chunks_exact_mut(n)) {
                    shuffle(8, plane, out);
                }
                if let Some(end) = dst.get_mut(whole..) {
                    end.copy_from_slice(tail);
                }
            }
        }
        _ => dst.copy_from_slice(src),
    }
}
