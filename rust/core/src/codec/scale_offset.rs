//! The scale-offset filter of HDF5, for reading: numbers less the smallest of a chunk, in as few bits as that leaves.
//!
//! Floats are whole numbers of a power of ten. All bits set mean the fill value, if there is one.

use super::msb_bits::MsbBits;
use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "scaleoffset";

/// Bytes before the packed numbers: how many bits each has, how many bytes the smallest has, and that one.
const HEADER: usize = 21;

/// What the numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Float32 { digits: i32 },
    Float64 { digits: i32 },
}

/// The `scaleoffset` codec.
#[derive(Debug, Clone, Copy)]
pub struct ScaleOffset {
    kind: Kind,
    /// Bytes of a number.
    size: usize,
    /// Whether the high byte comes first.
    big: bool,
    /// Numbers of a chunk.
    count: usize,
    fill: Option<u64>,
}

impl ScaleOffset {
    /// A codec with the parameters that the filter keeps in the file.
    pub fn new(parameters: &[u32]) -> Result<Self, CodecError> {
        let wrong = || CodecError::new(NAME, Fault::Config, format!("parameters {parameters:?} are not possible"));
        let &[method, factor, count, class, size, _, order, filled, low, high, ..] = parameters else {
            return Err(wrong());
        };
        let size = usize::try_from(size).map_err(|_| wrong())?;
        let kind = match (class, method, size) {
            (0, 2, 1 | 2 | 4 | 8) => Kind::Integer,
            (1, 0, 4) => Kind::Float32 { digits: factor.cast_signed() },
            (1, 0, 8) => Kind::Float64 { digits: factor.cast_signed() },
            _ => return Err(wrong()),
        };
        let fill = u64::from(high) << 32 | u64::from(low);
        Ok(Self {
            kind,
            size,
            big: order == 1,
            count: usize::try_from(count).map_err(|_| wrong())?,
            fill: (filled == 1).then_some(fill),
        })
    }

    fn decoded(&self) -> usize {
        self.count.saturating_mul(self.size)
    }

    fn inflate(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        super::exactly(NAME, self.decoded(), dst.len())?;
        let unpacked = self.unpack(src, dst);
        unpacked.ok_or_else(|| CodecError::corrupt(NAME, format!("{} encoded bytes end too early", src.len())))
    }

    fn unpack(&self, src: &[u8], dst: &mut [u8]) -> Option<()> {
        let (header, packed) = src.split_at_checked(HEADER)?;
        let bits = u32::from_le_bytes(*header.first_chunk()?);
        let known = usize::from(*header.get(4)?).min(8);
        let mut least = [0; 8];
        least.get_mut(..known)?.copy_from_slice(header.get(5..)?.get(..known)?);
        let least = u64::from_le_bytes(least);
        let whole = u32::try_from(self.size).ok()?.checked_mul(8)?;
        if bits >= whole {
            let stored = (bits == whole).then_some(packed)?.get(..dst.len())?;
            dst.copy_from_slice(stored);
            if self.big {
                dst.chunks_exact_mut(self.size).for_each(<[u8]>::reverse);
            }
            return Some(());
        }
        let marked = self.fill.map(|fill| (1_u64.wrapping_shl(bits).wrapping_sub(1), fill));
        let packed = MsbBits::new(packed);
        match self.kind {
            Kind::Integer => self.put(dst, packed, bits, marked, |value| value.wrapping_add(least)),
            Kind::Float32 { digits } => {
                let (least, scale) = (f32::from_bits(low_half(least)), 10_f32.powf(digits as f32));
                let value = |value: u64| u64::from(((value as f32) / scale + least).to_bits());
                self.put(dst, packed, bits, marked, value)
            }
            Kind::Float64 { digits } => {
                let (least, scale) = (f64::from_bits(least), 10_f64.powf(f64::from(digits)));
                self.put(dst, packed, bits, marked, |value| ((value as f64) / scale + least).to_bits())
            }
        }
    }

    /// Write each packed number as what `value` makes of it, and those that are marked as the fill value.
    fn put(
        &self,
        dst: &mut [u8],
        mut packed: MsbBits<'_>,
        bits: u32,
        marked: Option<(u64, u64)>,
        value: impl Fn(u64) -> u64,
    ) -> Option<()> {
        for out in dst.chunks_exact_mut(self.size) {
            let number = packed.take(bits)?;
            let made = match marked {
                Some((mark, fill)) if number == mark => fill,
                _ => value(number),
            };
            out.copy_from_slice(made.to_le_bytes().get(..self.size)?);
            if self.big {
                out.reverse();
            }
        }
        Some(())
    }
}

fn low_half(value: u64) -> u32 {
    u32::try_from(value & 0xFFFF_FFFF).unwrap_or_default()
}

impl Step for ScaleOffset {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        if self.decoded() > want.max() {
            return Err(too_large(NAME, want.max()));
        }
        if let Want::Exact(n) = want {
            super::exactly(NAME, self.decoded(), n)?;
        }
        self.inflate(src, dst.space(self.decoded()))
    }

    fn encode(&self, _: &[u8], _: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        Err(super::for_reading(NAME))
    }

    fn bound(&self, n: usize) -> usize {
        n.saturating_add(HEADER).saturating_add(1)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        self.inflate(src, dst)
    }
}
