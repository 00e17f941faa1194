//! The `delta` codec of numcodecs: the first number, then the differences, computed as NumPy computes them.

use super::delta_type::{TILE, Type};
use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "delta";

/// The `delta` codec.
#[derive(Debug, Clone, Copy)]
pub struct Delta {
    dtype: Type,
    astype: Type,
}

impl Delta {
    /// A codec from numbers of `dtype` to differences of `astype`, both in NumPy's (`<i4`) or Zarr's (`int32`) words.
    pub fn new(dtype: &str, astype: &str) -> Result<Self, CodecError> {
        let parse = |name: &str| {
            let message = || format!("{name:?} is not an integer or float type of at most 8 bytes");
            Type::parse(name).ok_or_else(|| CodecError::new(NAME, Fault::Config, message()))
        };
        Ok(Self { dtype: parse(dtype)?, astype: parse(astype)? })
    }

    /// The size after a change of item size; a part of an item is an error.
    fn resized(n: usize, from: Type, to: Type, fault: Fault) -> Result<usize, CodecError> {
        match super::div_rem(n, from.kind.size()) {
            (items, 0) => Ok(items.saturating_mul(to.kind.size())),
            _ => {
                let message = format!("{n} bytes are no whole number of {}-byte items", from.kind.size());
                Err(CodecError::new(NAME, fault, message))
            }
        }
    }

    fn sum(&self, src: &[u8], dst: &mut [u8]) {
        let (from, to) = (self.astype, self.dtype);
        let tiles = tiles(src, from, dst, to);
        if let Some(float) = from.kind.float_with(to.kind) {
            let (mut values, mut sum) = ([0.0; TILE], 0.0_f64);
            // NumPy copies the first number, which keeps the sign of a zero.
            let mut first = true;
            for (src, dst) in tiles {
                from.load_floats(src, &mut values);
                for x in &mut values {
                    sum = if first { *x } else { float.round(sum + float.round(*x)) };
                    first = false;
                    *x = sum;
                }
                to.store_floats(&values, dst);
            }
        } else {
            let (mut values, mut sum) = ([0; TILE], 0_i64);
            for (src, dst) in tiles {
                from.load_integers(src, &mut values);
                for x in &mut values {
                    sum = sum.wrapping_add(*x);
                    *x = sum;
                }
                to.store_integers(&values, to, dst);
            }
        }
    }

    fn difference(&self, src: &[u8], dst: &mut [u8]) {
        let (from, to) = (self.dtype, self.astype);
        let tiles = tiles(src, from, dst, to);
        if from.kind.is_float() {
            let (mut values, mut last) = ([0.0; TILE], None);
            for (src, dst) in tiles {
                from.load_floats(src, &mut values);
                for x in &mut values {
                    let difference = last.map_or(*x, |last| from.kind.round(*x - last));
                    last = Some(std::mem::replace(x, difference));
                }
                to.store_floats(&values, dst);
            }
        } else {
            let (mut values, mut bytes, mut last) = ([0; TILE], [0; TILE * 8], 0_i64);
            for (src, dst) in tiles {
                from.load_integers(src, &mut values);
                for x in &mut values {
                    let difference = x.wrapping_sub(last);
                    last = std::mem::replace(x, difference);
                }
                // Differences wrap around in the type of the numbers before they are cast.
                from.store_integers(&values, from, &mut bytes);
                from.load_integers(&bytes, &mut values);
                to.store_integers(&values, from, dst);
            }
        }
    }
}

/// Source and destination in step, a tile of items at a time.
fn tiles<'a>(src: &'a [u8], from: Type, dst: &'a mut [u8], to: Type) -> impl Iterator<Item = (&'a [u8], &'a mut [u8])> {
    let items = |t: Type| t.kind.size().saturating_mul(TILE);
    src.chunks(items(from)).zip(dst.chunks_mut(items(to)))
}

impl Step for Delta {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let size = Self::resized(src.len(), self.astype, self.dtype, Fault::Corrupt)?;
        if size > want.max() {
            return Err(too_large(NAME, want.max()));
        }
        if let Want::Exact(n) = want {
            super::exactly(NAME, size, n)?;
        }
        self.sum(src, dst.space(size));
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let size = Self::resized(src.len(), self.dtype, self.astype, Fault::Config)?;
        self.difference(src, dst.space(size));
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        let (items, _) = super::div_rem(n, self.dtype.kind.size());
        items.saturating_mul(self.astype.kind.size())
    }

    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        Self::resized(encoded, self.astype, self.dtype, Fault::Corrupt).ok()
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        let size = Self::resized(src.len(), self.astype, self.dtype, Fault::Corrupt)?;
        super::exactly(NAME, size, dst.len())?;
        self.sum(src, dst);
        Ok(())
    }
}
