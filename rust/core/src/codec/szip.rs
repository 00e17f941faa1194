//! The `szip` codec of HDF5, for reading: the Rice coder of [CCSDS 121.0](https://public.ccsds.org/Pubs/121x0b3.pdf)
//! behind the four bytes of the decoded size that HDF5 and netCDF put there.
//!
//! Pixels of four and eight bytes are coded as bytes, those of one place within the pixel after the other; lines of
//! pixels are filled up to a whole number of blocks.

use super::{Contexts, Step, Want, unshuffle};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "szip";

/// No stream holds more bytes for each of its own: eleven bits stand for at most 64 blocks of 32 pixels of two bytes.
const MOST_TO_ONE: usize = 1 << 13;

/// Whether numbers are coded as differences to the one before.
const PREDICTED: u32 = 32;
/// Whether the high byte of a pixel comes first.
const MSB: u32 = 16;
/// As many blocks of zeros mean "up to the end of the segment".
const REST_OF_SEGMENT: usize = 5;
/// Blocks in a segment.
const SEGMENT: usize = 64;

/// How pixels are laid out and coded.
#[derive(Debug, Clone, Copy)]
pub struct SzipOptions {
    /// HDF5's flags.
    pub mask: u32,
    /// Pixels in a block.
    pub block: usize,
    /// Pixels in a line, each of which begins with one that is not predicted.
    pub line: usize,
    /// Bits of a pixel.
    pub bits: u32,
}

/// The `szip` codec.
#[derive(Debug, Clone, Copy)]
pub struct Szip {
    mask: u32,
    block: usize,
    line: usize,
    /// Bits of what is coded.
    bits: u32,
    /// Bytes of a pixel, whose places are coded apart; 1 if they are not.
    places: usize,
}

impl Szip {
    /// A codec that reads; what it cannot read is refused.
    pub fn new(options: SzipOptions) -> Result<Self, CodecError> {
        let SzipOptions { mask, block, line, bits } = options;
        let fits = (2..=64).contains(&block) && block.is_multiple_of(2) && (1..=64 * 128).contains(&line);
        let (bits, places) = match bits {
            1..=16 => (bits, 1),
            32 => (8, 4),
            64 => (8, 8),
            _ => (0, 1),
        };
        if fits && bits > 0 {
            return Ok(Self { mask, block, line, bits, places });
        }
        let message =
            format!("blocks of {block}, lines of {line} and pixels of {} bits are not possible", options.bits);
        Err(CodecError::new(NAME, Fault::Config, message))
    }

    fn inflate(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        let corrupt = |why: &str| CodecError::corrupt(NAME, format!("{why} ({} encoded bytes)", src.len()));
        let (size, stream) = src.split_first_chunk::<4>().ok_or_else(|| corrupt("no size in front"))?;
        super::exactly(NAME, usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX), dst.len())?;
        let wide = self.bits > 8;
        let blocks = self.line.div_ceil(self.block);
        let padded = blocks.saturating_mul(self.block);
        let mut line = vec![0_u32; padded];
        let mut bits = Bits::new(stream);
        let bytes = if wide { 2 } else { 1 };
        let mut made = Vec::new();
        let coded: &mut [u8] = if self.places > 1 {
            made.resize(dst.len(), 0);
            &mut made
        } else {
            dst
        };
        for out in coded.chunks_mut(self.line.saturating_mul(bytes)) {
            // Only as many blocks as there is room for: of the last line some may be missing.
            let wanted = out.len().div_ceil(bytes);
            self.line(&mut bits, &mut line, wanted).ok_or_else(|| corrupt("malformed or truncated data"))?;
            if wide {
                for (pair, &value) in out.chunks_mut(2).zip(&line) {
                    let [.., high, low] = value.to_be_bytes();
                    let ordered = if self.mask & MSB == 0 { [low, high] } else { [high, low] };
                    for (to, from) in pair.iter_mut().zip(ordered) {
                        *to = from;
                    }
                }
            } else {
                for (to, &value) in out.iter_mut().zip(&line) {
                    *to = u8::try_from(value & 0xFF).unwrap_or_default();
                }
            }
        }
        if self.places > 1 {
            let (planes, rest) = super::div_rem(made.len(), self.places);
            if rest > 0 || planes == 0 {
                return Err(corrupt("no whole number of pixels"));
            }
            let planes: Vec<&[u8]> = made.chunks_exact(planes).collect();
            unshuffle::unshuffle(&planes, 0, dst);
        }
        Ok(())
    }

    /// Decode the blocks of a line, up to the one that holds the last of the pixels wanted.
    fn line(&self, bits: &mut Bits<'_>, line: &mut [u32], wanted: usize) -> Option<()> {
        let predicted = self.mask & PREDICTED != 0;
        let mut at = 0;
        while at < wanted && at < line.len() {
            let whole = line.len();
            let used = self.block(bits, line.get_mut(at..)?, at, whole, predicted && at == 0)?;
            at = at.checked_add(used)?;
        }
        if predicted {
            self.undo_prediction(line);
        }
        Some(())
    }

    /// Decode one block, or a run of zero blocks: how many pixels that makes.
    fn block(&self, bits: &mut Bits<'_>, out: &mut [u32], at: usize, whole: usize, first: bool) -> Option<usize> {
        let id_bits = if self.bits > 8 { 4 } else { 3 };
        let id = bits.take(id_bits)?;
        let raw = (1_u32 << id_bits).wrapping_sub(1);
        if id == raw {
            for slot in out.get_mut(..self.block)? {
                *slot = bits.take(self.bits)?;
            }
            return Some(self.block);
        }
        let extended = id == 0 && bits.take(1)? == 1;
        let start = usize::from(first);
        if first {
            *out.first_mut()? = bits.take(self.bits)?;
        }
        if id > 0 {
            let low = id.wrapping_sub(1);
            let slots = out.get_mut(start..self.block)?;
            for slot in slots.iter_mut() {
                *slot = bits.unary()?.checked_shl(low)?;
            }
            for slot in slots {
                *slot |= bits.take(low)?;
            }
            return Some(self.block);
        }
        if extended {
            second_extension(bits, out.get_mut(..self.block)?, start)?;
            return Some(self.block);
        }
        let blocks = self.zero_blocks(bits, at, whole)?;
        let pixels = blocks.checked_mul(self.block)?;
        out.get_mut(start..pixels)?.fill(0);
        Some(pixels)
    }

    /// How many blocks of zeros there are.
    fn zero_blocks(&self, bits: &mut Bits<'_>, at: usize, whole: usize) -> Option<usize> {
        let count = usize::try_from(bits.unary()?).ok()?.checked_add(1)?;
        if count == REST_OF_SEGMENT {
            let (done, _) = super::div_rem(at, self.block);
            let (all, _) = super::div_rem(whole, self.block);
            let (_, within) = super::div_rem(done, SEGMENT);
            return Some(all.checked_sub(done)?.min(SEGMENT.checked_sub(within)?));
        }
        Some(if count > REST_OF_SEGMENT { count.checked_sub(1)? } else { count })
    }

    /// Make values of differences, all but the first.
    fn undo_prediction(&self, line: &mut [u32]) {
        let most = (1_u32 << self.bits).wrapping_sub(1);
        let middle = (most >> 1).wrapping_add(1);
        let Some((&mut first, rest)) = line.split_first_mut() else { return };
        let mut value = first;
        for slot in rest {
            let step = *slot;
            let half = (step >> 1).wrapping_add(step & 1);
            let flip = if value & middle == 0 { 0 } else { most };
            value = if half <= flip ^ value {
                value.wrapping_add((step >> 1) ^ (!(step & 1).wrapping_sub(1)))
            } else {
                flip ^ step
            };
            *slot = value;
        }
    }
}

/// Decode pairs of small numbers, each pair as one.
fn second_extension(bits: &mut Bits<'_>, out: &mut [u32], start: usize) -> Option<()> {
    let mut at = start;
    while at < out.len() {
        let code = bits.unary()?;
        // The sum of a pair, and the first code of that sum: triangular numbers.
        let (mut sum, mut base) = (0_u32, 0_u32);
        while code > base.checked_add(sum)? {
            sum = sum.checked_add(1)?;
            base = base.checked_add(sum)?;
        }
        let second = code.checked_sub(base)?;
        if at & 1 == 0 {
            *out.get_mut(at)? = sum.checked_sub(second)?;
            at = at.checked_add(1)?;
        }
        *out.get_mut(at)? = second;
        at = at.checked_add(1)?;
    }
    Some(())
}

impl Step for Szip {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let claim = src.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let claim = claim.and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
        let size = match want {
            Want::Exact(n) => n,
            Want::AtMost(_) if claim > src.len().saturating_mul(MOST_TO_ONE) => {
                return Err(CodecError::corrupt(NAME, format!("{} encoded bytes claim to hold {claim}", src.len())));
            }
            Want::AtMost(n) if claim <= n => claim,
            Want::AtMost(n) => return Err(super::too_large(NAME, n)),
        };
        self.inflate(src, dst.space(size))
    }

    fn encode(&self, _: &[u8], _: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        Err(super::for_reading(NAME))
    }

    fn bound(&self, n: usize) -> usize {
        super::loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        self.inflate(src, dst)
    }
}

/// Bits of a stream, the highest of each byte first.
struct Bits<'a> {
    rest: &'a [u8],
    /// Bits that were taken from the stream already, at the high end.
    held: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Self { rest, held: 0, count: 0 }
    }

    fn refill(&mut self) {
        while self.count <= 56 {
            let Some((&byte, rest)) = self.rest.split_first() else { return };
            self.rest = rest;
            self.held |= u64::from(byte) << 56_u32.wrapping_sub(self.count);
            self.count = self.count.wrapping_add(8);
        }
    }

    /// The next `n` bits, at most 32, as a number.
    fn take(&mut self, n: u32) -> Option<u32> {
        if n == 0 {
            return Some(0);
        }
        if self.count < n {
            self.refill();
        }
        self.count = self.count.checked_sub(n)?;
        let value = self.held >> 64_u32.checked_sub(n)?;
        self.held <<= n;
        u32::try_from(value).ok()
    }

    /// How many zeros come before the next one, which is taken, too.
    fn unary(&mut self) -> Option<u32> {
        let mut zeros = 0_u32;
        loop {
            self.refill();
            let found = self.held.leading_zeros();
            if found < self.count {
                self.held = self.held.checked_shl(found.wrapping_add(1)).unwrap_or(0);
                self.count = self.count.checked_sub(found.wrapping_add(1))?;
                return zeros.checked_add(found);
            }
            if self.count == 0 {
                return None;
            }
            zeros = zeros.checked_add(self.count)?;
            (self.held, self.count) = (0, 0);
        }
    }
}
