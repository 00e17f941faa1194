//! LZ4 as numcodecs stores it: the decoded size as four little-endian bytes, then one raw LZ4 block.

use super::{Contexts, Step, Want, ffi, loose_bound, lz4_block, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "lz4";

/// One encoded byte of a match never stands for more decoded bytes than this.
const BEST_RATIO: usize = 255;

/// The `lz4` codec.
#[derive(Debug, Clone, Copy)]
pub struct Lz4 {
    acceleration: i32,
}

impl Lz4 {
    /// A codec that writes with `acceleration`; values below 1 mean 1, as in LZ4 itself.
    pub fn new(acceleration: i32) -> Result<Self, CodecError> {
        Ok(Self { acceleration: acceleration.max(1) })
    }
}

/// The claimed size and the block, the claim checked against the limit and against what LZ4 can do at all.
fn parts(src: &[u8], limit: usize) -> Result<(usize, &[u8]), CodecError> {
    let Some((size, block)) = src.split_first_chunk::<4>() else {
        let message = format!("{} bytes are too few to begin with a size", src.len());
        return Err(CodecError::corrupt(NAME, message));
    };
    let size = usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX);
    if size > limit {
        return Err(too_large(NAME, limit));
    }
    if size > block.len().saturating_mul(BEST_RATIO) {
        let message = format!("claims {size} bytes, more than a block of {} bytes can hold", block.len());
        return Err(CodecError::corrupt(NAME, message));
    }
    Ok((size, block))
}

fn decompress(block: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
    match lz4_block::decompress(block, dst) {
        Some(made) => super::exactly(NAME, made, dst.len()),
        None => {
            let message = format!("the block of {} bytes does not decode to {} bytes", block.len(), dst.len());
            Err(CodecError::corrupt(NAME, message))
        }
    }
}

impl Step for Lz4 {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let (size, block) = parts(src, want.max())?;
        if let Want::Exact(n) = want {
            super::exactly(NAME, size, n)?;
        }
        decompress(block, dst.space(size))
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let failed = || CodecError::new(NAME, Fault::Config, format!("cannot encode {} bytes in one block", src.len()));
        let bound = ffi::lz4_bound(src.len()).ok_or_else(failed)?;
        let size = u32::try_from(src.len()).map_err(|_| failed())?;
        let room = dst.space(bound.saturating_add(4));
        let (head, block) = room.split_first_chunk_mut::<4>().ok_or_else(failed)?;
        *head = size.to_le_bytes();
        let made = ffi::lz4_compress(src, block, self.acceleration).ok_or_else(failed)?;
        dst.set_len(made.saturating_add(4));
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        let (size, block) = parts(src, dst.len())?;
        super::exactly(NAME, size, dst.len())?;
        decompress(block, dst)
    }
}
