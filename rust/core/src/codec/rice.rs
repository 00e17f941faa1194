//! The Rice code of tile-compressed FITS images: differences, mapped to whole numbers, in blocks of one width each.
//!
//! Pence, White & Seaman, "Optimal Compression of Floating-point Astronomical Images", and the FITS standard, §10.4.1.

use super::{Contexts, Step, Want};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "imagecodecs_rcomp";

/// The most pixels that one byte of a stream can stand for: a block of zeros has three bits at least.
const MOST_TO_ONE: usize = 256;

/// The Rice code, for reading.
#[derive(Debug, Clone, Copy)]
pub struct Rice {
    size: usize,
    big: bool,
    block: usize,
}

impl Rice {
    /// A codec for numbers of `size` bytes in blocks of so many.
    pub fn new((size, big): (usize, bool), block: usize) -> Result<Self, CodecError> {
        if !matches!(size, 1 | 2 | 4) || !(1..=4096).contains(&block) {
            let message = format!("no blocks of {block} numbers of {size} bytes each");
            return Err(CodecError::new(NAME, Fault::Config, message));
        }
        Ok(Self { size, big, block })
    }

    /// Bits that tell the width of a block, the width that means "as they are", and bits of a number.
    fn widths(self) -> (u32, u32, u32) {
        match self.size {
            1 => (3, 6, 8),
            2 => (4, 14, 16),
            _ => (5, 25, 32),
        }
    }

    fn expand(self, src: &[u8], dst: &mut [u8]) -> Option<()> {
        let (id_bits, raw, whole) = self.widths();
        let mut bits = Bits { bytes: src.iter(), word: 0, held: 0 };
        let mut last = bits.take(whole)?;
        for block in dst.chunks_mut(self.size.saturating_mul(self.block)) {
            let id = bits.take(id_bits)?;
            for place in block.chunks_mut(self.size) {
                let mapped = match id {
                    0 => 0,
                    id if id > raw => bits.take(whole)?,
                    id => {
                        let low = id.saturating_sub(1);
                        bits.zeros()?.wrapping_shl(low) | bits.take(low)?
                    }
                };
                let step = if mapped & 1 == 1 { !(mapped >> 1) } else { mapped >> 1 };
                last = last.wrapping_add(step);
                if self.big {
                    place.copy_from_slice(last.to_be_bytes().get(4_usize.checked_sub(place.len())?..)?);
                } else {
                    place.copy_from_slice(last.to_le_bytes().get(..place.len())?);
                }
            }
        }
        Some(())
    }

    fn fill(self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        if dst.is_empty() {
            return Ok(());
        }
        let cut = || CodecError::corrupt(NAME, "malformed or truncated data".to_owned());
        self.expand(src, dst).ok_or_else(cut)
    }
}

impl Step for Rice {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let Want::Exact(n) = want else {
            let message = "the stream does not say how much it holds".to_owned();
            return Err(CodecError::new(NAME, Fault::Config, message));
        };
        if n > src.len().saturating_mul(MOST_TO_ONE.saturating_mul(self.block)) {
            return Err(CodecError::corrupt(NAME, format!("{} bytes cannot hold {n}", src.len())));
        }
        self.fill(src, dst.space(n))
    }

    fn encode(&self, _: &[u8], _: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        Err(CodecError::new(NAME, Fault::Config, "this codec is for reading only".to_owned()))
    }

    fn bound(&self, n: usize) -> usize {
        super::loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        self.fill(src, dst)
    }
}

/// Bits of a stream, the highest of each byte first.
struct Bits<'a> {
    bytes: std::slice::Iter<'a, u8>,
    word: u64,
    held: u32,
}

impl Bits<'_> {
    fn take(&mut self, width: u32) -> Option<u32> {
        while self.held < width {
            self.word = self.word.wrapping_shl(8) | u64::from(*self.bytes.next()?);
            self.held = self.held.saturating_add(8);
        }
        self.held = self.held.saturating_sub(width);
        let mask = 1_u64.wrapping_shl(width).wrapping_sub(1);
        u32::try_from(self.word.wrapping_shr(self.held) & mask).ok()
    }

    /// How many zeros come before the next one, which is taken, too.
    fn zeros(&mut self) -> Option<u32> {
        let mut count = 0_u32;
        while self.take(1)? == 0 {
            count = count.checked_add(1)?;
        }
        Some(count)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_zeros_and_one_of_steps() {
        // First 5 in 16 bits, width 0 for a block of two; width 1 (no low bits) and the steps 1 and -1, mapped to 2 and 1.
        let src = [0x00, 0x05, 0b0000_0001, 0b0010_1000];
        let mut out = [0; 8];
        Rice::new((2, true), 2).unwrap().decode_exact(&src, &mut out, &mut Contexts::default()).unwrap();
        assert_eq!(out, [0, 5, 0, 5, 0, 6, 0, 5]);
        assert!(Rice::new((2, true), 2).unwrap().decode_exact(&src[..2], &mut out, &mut Contexts::default()).is_err());
        assert!(Rice::new((3, true), 2).is_err());
    }
}
