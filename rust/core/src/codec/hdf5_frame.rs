//! The frame that the filters LZ4 and bitshuffle of HDF5 share: how many bytes come out, how many of each block, and the
//! blocks, each behind its encoded size; all numbers have their high byte first.

use super::too_large;
use crate::error::CodecError;

/// A frame, checked as far as its head goes.
pub(super) struct Frame<'a> {
    pub(super) codec: &'static str,
    /// Decoded bytes.
    pub(super) total: usize,
    /// Decoded bytes of each block but the last.
    pub(super) block: usize,
    /// What follows the blocks that were taken.
    pub(super) rest: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Read the head of a frame that may decode to at most `limit` bytes.
    pub(super) fn parse(codec: &'static str, src: &'a [u8], limit: usize) -> Result<Self, CodecError> {
        let parts = src.split_first_chunk::<8>().and_then(|(total, rest)| {
            let (block, rest) = rest.split_first_chunk::<4>()?;
            Some((u64::from_be_bytes(*total), u32::from_be_bytes(*block), rest))
        });
        let Some((total, block, rest)) = parts else {
            return Err(CodecError::corrupt(codec, format!("{} bytes are too few for a header", src.len())));
        };
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        if total > limit {
            return Err(too_large(codec, limit));
        }
        let block = usize::try_from(block).unwrap_or(usize::MAX);
        if block == 0 && total > 0 {
            return Err(CodecError::corrupt(codec, "blocks of no bytes"));
        }
        Ok(Self { codec, total, block, rest })
    }

    /// The next block as it is stored.
    pub(super) fn next(&mut self) -> Result<&'a [u8], CodecError> {
        let parts = self.rest.split_first_chunk::<4>().and_then(|(size, rest)| {
            let size = usize::try_from(u32::from_be_bytes(*size)).ok()?;
            rest.split_at_checked(size)
        });
        let (block, rest) = parts.ok_or_else(|| CodecError::corrupt(self.codec, "a block leaves the encoded bytes"))?;
        self.rest = rest;
        Ok(block)
    }
}

/// Append a block behind its size.
pub(super) fn put_block(out: &mut Vec<u8>, block: &[u8]) {
    out.extend_from_slice(&u32::try_from(block.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(block);
}

/// The head of a frame; `None` if it cannot say such sizes.
pub(super) fn head(total: usize, block: usize) -> Option<Vec<u8>> {
    let mut out = u64::try_from(total).ok()?.to_be_bytes().to_vec();
    out.extend_from_slice(&u32::try_from(block).ok()?.to_be_bytes());
    Some(out)
}
