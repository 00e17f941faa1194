//! The predictors of TIFF: differences between neighbours in a row, of whole numbers or of the byte planes of floats.

use super::units::Units;
use super::{Contexts, Filter, Want};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

/// Along which dimension neighbours lie, and how far apart.
#[derive(Debug, Clone, Copy)]
pub struct Along {
    /// The dimension, counted from the last, which is 0.
    pub from_last: usize,
    /// How many places neighbours are apart.
    pub distance: usize,
}

impl Along {
    /// Elements of a row, which is predicted on its own, and how many elements neighbours are apart.
    fn row(self, shape: &[usize]) -> (usize, usize) {
        let mut rest = shape.iter().rev();
        let inner = rest.by_ref().take(self.from_last).fold(1_usize, |n, &m| n.saturating_mul(m));
        let length = rest.next().copied().unwrap_or(1);
        (inner.saturating_mul(length), inner.saturating_mul(self.distance).max(1))
    }
}

fn check(name: &str, src: &[u8], shape: &[usize], size: usize, fault: Fault) -> Result<(), CodecError> {
    let expected = shape.iter().fold(size, |n, &m| n.saturating_mul(m));
    if src.len() == expected {
        return Ok(());
    }
    Err(CodecError::new(name, fault, format!("{} bytes where {expected} are expected", src.len())))
}

/// Differences of whole numbers; floats count as the whole numbers of the same bits.
#[derive(Debug, Clone, Copy)]
pub struct TiffDelta {
    units: Units,
    along: Along,
}

const DELTA: &str = "imagecodecs_delta";

impl TiffDelta {
    /// A codec for numbers of `size` bytes.
    pub fn new((size, big): (usize, bool), along: Along) -> Result<Self, CodecError> {
        let units = Units::new(size, big);
        let wrong = || CodecError::new(DELTA, Fault::Config, format!("there are no numbers of {size} bytes"));
        Ok(Self { units: units.ok_or_else(wrong)?, along })
    }

    /// Add to each number of a row the one that is `stride` before it.
    fn sum(self, row: &mut [u8], stride: usize) {
        macro_rules! each {
            ($t:ty, $n:literal) => {{
                let words = row.as_chunks_mut::<$n>().0;
                let read =
                    |x: [u8; $n]| if self.units.is_big() { <$t>::from_be_bytes(x) } else { <$t>::from_le_bytes(x) };
                let write = |x: $t| if self.units.is_big() { x.to_be_bytes() } else { x.to_le_bytes() };
                if stride == 1 {
                    let mut sum: $t = 0;
                    for word in words {
                        sum = sum.wrapping_add(read(*word));
                        *word = write(sum);
                    }
                    return;
                }
                let mut sums: Vec<$t> = vec![0; stride.min(words.len())];
                for pixel in words.chunks_mut(stride) {
                    for (word, sum) in pixel.iter_mut().zip(&mut sums) {
                        *sum = sum.wrapping_add(read(*word));
                        *word = write(*sum);
                    }
                }
            }};
        }
        match self.units.size() {
            1 => each!(u8, 1),
            2 => each!(u16, 2),
            4 => each!(u32, 4),
            _ => each!(u64, 8),
        }
    }

    fn difference(self, row: &mut [u8], stride: usize) {
        macro_rules! each {
            ($t:ty, $n:literal) => {{
                let words = row.as_chunks_mut::<$n>().0;
                let read =
                    |x: [u8; $n]| if self.units.is_big() { <$t>::from_be_bytes(x) } else { <$t>::from_le_bytes(x) };
                let write = |x: $t| if self.units.is_big() { x.to_be_bytes() } else { x.to_le_bytes() };
                let mut last: Vec<$t> = vec![0; stride.min(words.len())];
                for pixel in words.chunks_mut(stride) {
                    for (word, last) in pixel.iter_mut().zip(&mut last) {
                        let value = read(*word);
                        *word = write(value.wrapping_sub(*last));
                        *last = value;
                    }
                }
            }};
        }
        match self.units.size() {
            1 => each!(u8, 1),
            2 => each!(u16, 2),
            4 => each!(u32, 4),
            _ => each!(u64, 8),
        }
    }
}

impl Filter for TiffDelta {
    fn name(&self) -> &str {
        DELTA
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        _: Want,
        _: &mut Contexts,
    ) -> Result<(), CodecError> {
        check(DELTA, src, shape, self.units.size(), Fault::Corrupt)?;
        let (row, stride) = self.along.row(shape);
        dst.assign(src);
        for row in dst.as_mut_slice().chunks_mut(row.saturating_mul(self.units.size()).max(1)) {
            self.sum(row, stride);
        }
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, shape: &[usize], _: &mut Contexts) -> Result<(), CodecError> {
        check(DELTA, src, shape, self.units.size(), Fault::Config)?;
        let (row, stride) = self.along.row(shape);
        dst.assign(src);
        for row in dst.as_mut_slice().chunks_mut(row.saturating_mul(self.units.size()).max(1)) {
            self.difference(row, stride);
        }
        Ok(())
    }

    fn encoded_size(&self, bytes: Want, _: &[usize]) -> Want {
        bytes
    }
}

/// The predictor for floats: in each row all first bytes, then all second bytes, and so on, and the differences of those.
#[derive(Debug, Clone, Copy)]
pub struct TiffFloats {
    size: usize,
    big: bool,
    along: Along,
}

const FLOATS: &str = "imagecodecs_floatpred";

impl TiffFloats {
    /// A codec for floats of `size` bytes.
    pub fn new((size, big): (usize, bool), along: Along) -> Result<Self, CodecError> {
        if !matches!(size, 2 | 4 | 8) {
            return Err(CodecError::new(FLOATS, Fault::Config, format!("there are no floats of {size} bytes")));
        }
        Ok(Self { size, big, along })
    }

    /// Which byte of an element the plane `i` holds: the first plane has the most significant.
    fn place(self, i: usize) -> usize {
        if self.big { i } else { self.size.saturating_sub(i).saturating_sub(1) }
    }
}

impl Filter for TiffFloats {
    fn name(&self) -> &str {
        FLOATS
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        _: Want,
        _: &mut Contexts,
    ) -> Result<(), CodecError> {
        check(FLOATS, src, shape, self.size, Fault::Corrupt)?;
        let (row, stride) = self.along.row(shape);
        let bytes = row.saturating_mul(self.size).max(1);
        let bytewise = TiffDelta { units: BYTES, along: self.along };
        let mut planes = vec![0; bytes.min(src.len())];
        for (from, to) in src.chunks(bytes).zip(dst.space(src.len()).chunks_mut(bytes)) {
            planes.copy_from_slice(from);
            bytewise.sum(&mut planes, stride);
            for (i, plane) in planes.chunks(row.max(1)).enumerate() {
                let places = to.iter_mut().skip(self.place(i)).step_by(self.size);
                places.zip(plane).for_each(|(place, &byte)| *place = byte);
            }
        }
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, shape: &[usize], _: &mut Contexts) -> Result<(), CodecError> {
        check(FLOATS, src, shape, self.size, Fault::Config)?;
        let (row, stride) = self.along.row(shape);
        let bytes = row.saturating_mul(self.size).max(1);
        let bytewise = TiffDelta { units: BYTES, along: self.along };
        for (from, to) in src.chunks(bytes).zip(dst.space(src.len()).chunks_mut(bytes)) {
            for (i, plane) in to.chunks_mut(row.max(1)).enumerate() {
                let places = from.iter().skip(self.place(i)).step_by(self.size);
                plane.iter_mut().zip(places).for_each(|(byte, &place)| *byte = place);
            }
            bytewise.difference(to, stride);
        }
        Ok(())
    }

    fn encoded_size(&self, bytes: Want, _: &[usize]) -> Want {
        bytes
    }
}

const BYTES: Units = Units::BYTES;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn round_trip(filter: &dyn Filter, data: &[u8], shape: &[usize]) -> Vec<u8> {
        let (mut packed, mut back, mut cx) = (Buffer::default(), Buffer::default(), Contexts::default());
        filter.encode(data, &mut packed, shape, &mut cx).unwrap();
        filter.decode(packed.as_slice(), &mut back, shape, Want::Exact(data.len()), &mut cx).unwrap();
        assert_eq!(back.as_slice(), data);
        let cut = packed.as_slice().get(1..).unwrap();
        assert!(filter.decode(cut, &mut back, shape, Want::Exact(data.len()), &mut cx).is_err());
        packed.as_slice().to_vec()
    }

    #[test]
    fn neighbours_of_each_sample() {
        let along = Along { from_last: 1, distance: 1 };
        let made = TiffDelta::new((1, false), along).unwrap();
        let packed = round_trip(&made, &[1, 10, 3, 30, 6, 60, 7, 70, 8, 80, 9, 90], &[2, 3, 2]);
        assert_eq!(packed, [1, 10, 2, 20, 3, 30, 7, 70, 1, 10, 1, 10]);
        for big in [false, true] {
            for size in [2, 4, 8] {
                let data: Vec<u8> = (0..size * 24).map(|i| u8::try_from(i * i % 251).unwrap()).collect();
                round_trip(&TiffDelta::new((size, big), along).unwrap(), &data, &[3, 4, 2]);
                round_trip(&TiffFloats::new((size, big), along).unwrap(), &data, &[3, 4, 2]);
            }
        }
        assert!(TiffDelta::new((3, false), along).is_err());
    }
}
