//! Codecs of numcodecs that compute with each number as NumPy does: `astype`, `quantize` and `fixedscaleoffset`.

use super::delta_type::{Kind, TILE, Type};
use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

/// A number of a configuration: NumPy computes with whole ones in the type of the array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A Python `int`.
    Whole(i64),
    /// A Python `float`.
    Float(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operation {
    Cast,
    Quantize { scale: f64 },
    Scale { offset: Number, scale: Number },
}

/// The `astype`, `quantize` and `fixedscaleoffset` codecs.
#[derive(Debug, Clone, Copy)]
pub struct Arithmetic {
    from: Type,
    to: Type,
    operation: Operation,
}

impl Number {
    #[allow(clippy::cast_precision_loss)] // As NumPy converts them.
    fn float(self) -> f64 {
        match self {
            Self::Whole(n) => n as f64,
            Self::Float(x) => x,
        }
    }
}

/// Bytes of a tile of the widest numbers.
const WIDE: usize = TILE * 8;

impl Arithmetic {
    fn new(name: &str, from: &str, to: &str, operation: Operation) -> Result<Self, CodecError> {
        let parse = |name_of: &str| {
            let message = || format!("{name_of:?} is not an integer or float type of at most 8 bytes");
            Type::parse(name_of).ok_or_else(|| CodecError::new(name, Fault::Config, message()))
        };
        Ok(Self { from: parse(from)?, to: parse(to)?, operation })
    }

    /// A codec from one type, in NumPy's words, to another.
    pub fn cast(from: &str, to: &str) -> Result<Self, CodecError> {
        Self::new("astype", from, to, Operation::Cast)
    }

    /// A codec that rounds floats to multiples of 1 / `scale`.
    pub fn quantize(from: &str, to: &str, scale: f64) -> Result<Self, CodecError> {
        let made = Self::new("quantize", from, to, Operation::Quantize { scale })?;
        made.checked(made.from.kind.is_float() && made.to.kind.is_float())
    }

    /// A codec that stores the rounded `(x - offset) * scale`.
    pub fn scale(from: &str, to: &str, offset: Number, scale: Number) -> Result<Self, CodecError> {
        Self::new("fixedscaleoffset", from, to, Operation::Scale { offset, scale })?.checked(true)
    }

    /// Half precision, which NumPy rounds after each step, is left to others.
    fn checked(self, fits: bool) -> Result<Self, CodecError> {
        if fits && self.from.kind != Kind::F16 && self.to.kind != Kind::F16 {
            return Ok(self);
        }
        Err(CodecError::new(self.name(), Fault::Config, "it does not compute with these types"))
    }

    fn forward(&self, src: &[u8], dst: &mut [u8]) {
        match self.operation {
            Operation::Cast => cast(src, self.from, dst, self.to),
            Operation::Quantize { scale } => self.floats(src, self.from, dst, self.to, |x, kind| {
                kind.round(kind.round(scale * x).round_ties_even() / scale)
            }),
            Operation::Scale { offset, scale } => self.scaled(src, dst, offset, scale),
        }
    }

    fn scaled(&self, src: &[u8], dst: &mut [u8], offset: Number, scale: Number) {
        if self.from.kind.is_float() {
            let (offset, scale) = (offset.float(), scale.float());
            return self.floats(src, self.from, dst, self.to, |x, kind| {
                kind.round(kind.round(x - kind.round(offset)) * kind.round(scale)).round_ties_even()
            });
        }
        let Number::Whole(whole) = offset else {
            let (offset, scale) = (offset.float(), scale.float());
            return self.floats(src, self.from, dst, self.to, |x, _| ((x - offset) * scale).round_ties_even());
        };
        let (mut values, mut floats, mut bytes) = ([0; TILE], [0.0; TILE], [0; WIDE]);
        for (src, dst) in tiles(src, self.from, dst, self.to) {
            self.from.load_integers(src, &mut values);
            values.iter_mut().for_each(|x| *x = x.wrapping_sub(whole));
            if let Number::Whole(factor) = scale {
                values.iter_mut().for_each(|x| *x = x.wrapping_mul(factor));
            }
            // Integers wrap around in their own type before they are cast.
            self.from.store_integers(&values, self.from, &mut bytes);
            if let Number::Float(factor) = scale {
                self.from.load_floats(&bytes, &mut floats);
                floats.iter_mut().for_each(|x| *x = (*x * factor).round_ties_even());
                self.to.store_floats(&floats, dst);
            } else {
                self.from.load_integers(&bytes, &mut values);
                self.to.store_integers(&values, self.from, dst);
            }
        }
    }

    fn backward(&self, src: &[u8], dst: &mut [u8]) {
        match self.operation {
            Operation::Cast | Operation::Quantize { .. } => cast(src, self.to, dst, self.from),
            Operation::Scale { offset, scale } => {
                let (offset, scale) = (offset.float(), scale.float());
                self.floats(src, self.to, dst, self.from, |x, kind| {
                    kind.round(kind.round(x / kind.round(scale)) + kind.round(offset))
                });
            }
        }
    }

    /// Change each number as a float of its own type, or as a double if it is an integer.
    fn floats(&self, src: &[u8], from: Type, dst: &mut [u8], to: Type, change: impl Fn(f64, Kind) -> f64) {
        let kind = if from.kind.is_float() { from.kind } else { Kind::F64 };
        let mut values = [0.0; TILE];
        for (src, dst) in tiles(src, from, dst, to) {
            from.load_floats(src, &mut values);
            values.iter_mut().for_each(|x| *x = change(*x, kind));
            to.store_floats(&values, dst);
        }
    }

    /// The size after a change of item size; a part of an item is an error.
    fn resized(&self, n: usize, from: Type, to: Type, fault: Fault) -> Result<usize, CodecError> {
        match super::div_rem(n, from.kind.size()) {
            (items, 0) => Ok(items.saturating_mul(to.kind.size())),
            _ => {
                let message = format!("{n} bytes are no whole number of {}-byte items", from.kind.size());
                Err(CodecError::new(self.name(), fault, message))
            }
        }
    }
}

fn cast(src: &[u8], from: Type, dst: &mut [u8], to: Type) {
    let (mut whole, mut floats) = ([0; TILE], [0.0; TILE]);
    for (src, dst) in tiles(src, from, dst, to) {
        if from.kind.is_float() {
            from.load_floats(src, &mut floats);
            to.store_floats(&floats, dst);
        } else {
            from.load_integers(src, &mut whole);
            to.store_integers(&whole, from, dst);
        }
    }
}

/// Source and destination in step, a tile of items at a time.
fn tiles<'a>(src: &'a [u8], from: Type, dst: &'a mut [u8], to: Type) -> impl Iterator<Item = (&'a [u8], &'a mut [u8])> {
    let items = |t: Type| t.kind.size().saturating_mul(TILE);
    src.chunks(items(from)).zip(dst.chunks_mut(items(to)))
}

impl Step for Arithmetic {
    fn name(&self) -> &str {
        match self.operation {
            Operation::Cast => "astype",
            Operation::Quantize { .. } => "quantize",
            Operation::Scale { .. } => "fixedscaleoffset",
        }
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let size = self.resized(src.len(), self.to, self.from, Fault::Corrupt)?;
        if size > want.max() {
            return Err(too_large(self.name(), want.max()));
        }
        if let Want::Exact(n) = want {
            super::exactly(self.name(), size, n)?;
        }
        self.backward(src, dst.space(size));
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let size = self.resized(src.len(), self.from, self.to, Fault::Config)?;
        self.forward(src, dst.space(size));
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        let (items, _) = super::div_rem(n, self.from.kind.size());
        items.saturating_mul(self.to.kind.size())
    }

    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        self.resized(encoded, self.to, self.from, Fault::Corrupt).ok()
    }

    fn decodes_as_is(&self) -> bool {
        self.from == self.to && !matches!(self.operation, Operation::Scale { .. })
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        let size = self.resized(src.len(), self.to, self.from, Fault::Corrupt)?;
        super::exactly(self.name(), size, dst.len())?;
        self.backward(src, dst);
        Ok(())
    }
}
