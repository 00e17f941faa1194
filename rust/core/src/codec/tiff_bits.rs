//! Samples of other numbers of bits than bytes have, and bytes with their bits in reverse: both of TIFF.

use super::units::Units;
use super::{Contexts, Filter, Step, Want};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const PACKED: &str = "imagecodecs_packints";

/// Whole numbers of a few bits each, the highest first; each row begins with a new byte.
#[derive(Debug, Clone, Copy)]
pub struct TiffBits {
    units: Units,
    bits: u32,
    run: usize,
}

impl TiffBits {
    /// A codec for numbers that have `size` bytes in memory and `bits` bits in store, `run` of them in a row; 0: all.
    pub fn new((size, big): (usize, bool), bits: u32, run: usize) -> Result<Self, CodecError> {
        let units = Units::new(size, big).filter(|units| (1..=units.bits()).contains(&bits));
        let wrong = || CodecError::new(PACKED, Fault::Config, format!("no {bits} bits in numbers of {size} bytes"));
        Ok(Self { units: units.ok_or_else(wrong)?, bits, run })
    }

    /// Numbers and bytes of each row, and how many numbers there are in all.
    fn rows(&self, shape: &[usize]) -> (usize, usize, usize) {
        let count = shape.iter().fold(1_usize, |n, &m| n.saturating_mul(m));
        let run = if self.run == 0 { count } else { self.run }.max(1);
        (run, run.saturating_mul(self.bits as usize).div_ceil(8), count)
    }

    fn packed(&self, shape: &[usize]) -> usize {
        let (run, bytes, count) = self.rows(shape);
        count.div_ceil(run).saturating_mul(bytes)
    }
}

impl Filter for TiffBits {
    fn name(&self) -> &str {
        PACKED
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        _: Want,
        _: &mut Contexts,
    ) -> Result<(), CodecError> {
        let (run, bytes, count) = self.rows(shape);
        if src.len() != self.packed(shape) {
            let message = format!("{} bytes for {count} times {} bits", src.len(), self.bits);
            return Err(CodecError::corrupt(PACKED, message));
        }
        let size = self.units.size();
        let room = dst.space(count.saturating_mul(size));
        let mask = u64::MAX.wrapping_shr(64_u32.saturating_sub(self.bits));
        for (from, to) in src.chunks(bytes).zip(room.chunks_mut(run.saturating_mul(size))) {
            let (mut bytes, mut word, mut held) = (from.iter(), 0_u128, 0_u32);
            self.units.write(to, || {
                while held < self.bits {
                    word = word.wrapping_shl(8) | u128::from(bytes.next().copied().unwrap_or(0));
                    held = held.saturating_add(8);
                }
                held = held.saturating_sub(self.bits);
                word.wrapping_shr(held) as u64 & mask
            });
        }
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, shape: &[usize], _: &mut Contexts) -> Result<(), CodecError> {
        let (run, bytes, _) = self.rows(shape);
        let mask = u64::MAX.wrapping_shr(64_u32.saturating_sub(self.bits));
        let room = dst.space(self.packed(shape));
        for (from, to) in src.chunks(run.saturating_mul(self.units.size())).zip(room.chunks_mut(bytes)) {
            let (mut places, mut word, mut held) = (to.iter_mut(), 0_u128, 0_u32);
            self.units.read(from, |value| {
                word = word.wrapping_shl(self.bits) | u128::from(value & mask);
                held = held.saturating_add(self.bits);
                while held >= 8 {
                    held = held.saturating_sub(8);
                    if let Some(place) = places.next() {
                        *place = word.wrapping_shr(held) as u8;
                    }
                }
            });
            if held > 0
                && let Some(place) = places.next()
            {
                *place = word.wrapping_shl(8_u32.saturating_sub(held)) as u8;
            }
        }
        Ok(())
    }

    fn encoded_size(&self, _: Want, shape: &[usize]) -> Want {
        Want::Exact(self.packed(shape))
    }
}

const REVERSED: &str = "imagecodecs_bitorder";

/// Bytes whose lowest bit comes first.
#[derive(Debug, Clone, Copy, Default)]
pub struct BitOrder;

fn reverse(src: &[u8], dst: &mut [u8]) {
    dst.iter_mut().zip(src).for_each(|(to, from)| *to = from.reverse_bits());
}

impl Step for BitOrder {
    fn name(&self) -> &str {
        REVERSED
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        if src.len() > want.max() {
            return Err(super::too_large(REVERSED, want.max()));
        }
        if let Want::Exact(n) = want {
            super::exactly(REVERSED, src.len(), n)?;
        }
        reverse(src, dst.space(src.len()));
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        reverse(src, dst.space(src.len()));
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        n
    }

    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        Some(encoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        super::exactly(REVERSED, src.len(), dst.len())?;
        reverse(src, dst);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_with_a_byte() {
        let mut cx = Contexts::default();
        let (mut packed, mut back) = (Buffer::default(), Buffer::default());
        let bits = TiffBits::new((1, false), 1, 3).unwrap();
        bits.encode(&[1, 0, 1, 0, 1, 1], &mut packed, &[2, 3], &mut cx).unwrap();
        assert_eq!(packed.as_slice(), [0b1010_0000, 0b0110_0000]);
        bits.decode(packed.as_slice(), &mut back, &[2, 3], Want::Exact(6), &mut cx).unwrap();
        assert_eq!(back.as_slice(), [1, 0, 1, 0, 1, 1]);
        let twelve = TiffBits::new((2, true), 12, 0).unwrap();
        twelve.decode(&[0x12, 0x3A, 0xBC], &mut back, &[2], Want::Exact(4), &mut cx).unwrap();
        assert_eq!(back.as_slice(), [0x01, 0x23, 0x0A, 0xBC]);
        assert!(twelve.decode(&[0x12, 0x3A], &mut back, &[2], Want::Exact(4), &mut cx).is_err());
    }
}
