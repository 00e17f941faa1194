//! The `bitround` codec: bits of little weight become zero, which compressors like. Decoding changes nothing.

use super::units::Units;
use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "bitround";

/// What the numbers are that a codec rounds.
#[derive(Debug, Clone, Copy)]
pub enum Rounded {
    /// Floats with a fraction of so many bits.
    Float(u32),
    /// Whole numbers, in two's complement if they are signed.
    Integer {
        /// Whether the highest bit is a sign.
        signed: bool,
    },
}

/// The `bitround` codec.
#[derive(Debug, Clone, Copy)]
pub struct BitRound {
    units: Units,
    numbers: Rounded,
    keep: u32,
}

impl BitRound {
    /// A codec for numbers of `size` bytes that keeps `keep` bits: of a float's fraction, or of an integer from its
    /// highest set bit on.
    pub fn new((size, big): (usize, bool), numbers: Rounded, keep: u32) -> Result<Self, CodecError> {
        let wrong = |message: String| CodecError::new(NAME, Fault::Config, message);
        let units = Units::new(size, big).ok_or_else(|| wrong(format!("numbers of {size} bytes cannot be rounded")))?;
        match numbers {
            Rounded::Float(bits) if bits >= units.bits() => {
                Err(wrong(format!("no fraction of {bits} bits in a number of {size} bytes")))
            }
            _ => Ok(Self { units, numbers, keep }),
        }
    }
}

/// Round half to even, so that the lowest `drop` bits are zero; sums past the highest number stay at it.
fn round(word: u64, drop: u32, most: u64) -> u64 {
    let half = 1_u64.wrapping_shl(drop.saturating_sub(1)).wrapping_sub(1);
    let odd = word.wrapping_shr(drop) & 1;
    word.saturating_add(half).saturating_add(odd).min(most) & u64::MAX.wrapping_shl(drop)
}

fn round_integer(word: u64, keep: u32, most: u64) -> u64 {
    let significant = 64_u32.saturating_sub(word.leading_zeros());
    match significant.checked_sub(keep) {
        None | Some(0) => word,
        Some(drop) => round(word, drop, most),
    }
}

/// Round the distance from zero. The registry does not say which bit of a negative number is its highest; if it were
/// the sign, as zarrs has it, -1 of four bytes would become -4194304 when ten bits are kept, and 127 of one byte -128.
fn round_signed(word: u64, keep: u32, most: u64) -> u64 {
    let sign = most ^ (most >> 1);
    if word & sign == 0 {
        return round_integer(word, keep, most >> 1);
    }
    round_integer(word.wrapping_neg() & most, keep, sign).wrapping_neg() & most
}

fn round_float(word: u64, fraction: u32, drop: u32, most: u64) -> u64 {
    let (magnitude, infinity) = (most >> 1, (most >> 1) & u64::MAX.wrapping_shl(fraction));
    let rounded = round(word, drop, most);
    if word & magnitude > infinity && (rounded & magnitude <= infinity || (rounded ^ word) > magnitude) {
        // A NaN whose bits were dropped, or carried into the sign, would now be a number: it stays a quiet NaN.
        return word & u64::MAX.wrapping_shl(drop) | 1_u64.wrapping_shl(fraction.saturating_sub(1));
    }
    rounded
}

impl Step for BitRound {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        if src.len() > want.max() {
            return Err(too_large(NAME, want.max()));
        }
        if let Want::Exact(n) = want {
            super::exactly(NAME, src.len(), n)?;
        }
        dst.assign(src);
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let (units, keep) = (self.units, self.keep);
        let most = u64::MAX.wrapping_shr(64_u32.saturating_sub(units.bits()));
        let room = dst.space(src.len());
        match self.numbers {
            Rounded::Float(fraction) if keep >= fraction => room.copy_from_slice(src),
            Rounded::Float(fraction) => {
                let drop = fraction.saturating_sub(keep);
                units.map(src, room, |word| round_float(word, fraction, drop, most));
            }
            Rounded::Integer { signed: false } => units.map(src, room, |word| round_integer(word, keep, most)),
            Rounded::Integer { signed: true } => units.map(src, room, |word| round_signed(word, keep, most)),
        }
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        n
    }

    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        Some(encoded)
    }

    fn decodes_as_is(&self) -> bool {
        true
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        super::copy_exactly(NAME, src, dst)
    }
}
