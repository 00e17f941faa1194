//! Elements of fewer bits than their bytes have, packed: `packbits` of the registry, and that of numcodecs for booleans.
//!
//! They differ in more than the types: the registry's puts the first element into the lowest bits of a byte, numcodecs'
//! into the highest.

use super::units::Units;
use super::{Contexts, Filter, Want};
use crate::buffer::Buffer;
use crate::cell::Dims;
use crate::error::{CodecError, Fault};

const NAME: &str = "packbits";

/// Where the number of bits that fill up the last byte is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// Nowhere.
    None,
    /// In a byte of its own before all others.
    First,
    /// In a byte of its own behind all others.
    Last,
}

/// The `packbits` codec of the registry.
#[derive(Debug, Clone, Copy)]
pub struct PackBits {
    units: Units,
    components: usize,
    first: u32,
    width: u32,
    /// Up to which bit the sign is copied; `None` for numbers without one.
    extend: Option<u32>,
    padding: Padding,
}

impl PackBits {
    /// A codec for elements of `components` numbers, each of `size` bytes, of which the bits `first` to `last` are kept;
    /// the sign, if there is one, is then copied into all bits below `extend`.
    pub fn new(
        (size, big): (usize, bool),
        components: usize,
        (first, last): (u32, u32),
        extend: Option<u32>,
        padding: Padding,
    ) -> Result<Self, CodecError> {
        let wrong = |message: String| CodecError::new(NAME, Fault::Config, message);
        let units = Units::new(size, big).ok_or_else(|| wrong(format!("numbers of {size} bytes cannot be packed")))?;
        let width = last.checked_sub(first).and_then(|n| n.checked_add(1)).filter(|_| last < units.bits());
        let width = width.ok_or_else(|| wrong(format!("no bits {first} to {last} in a number of {size} bytes")))?;
        Ok(Self { units, components: components.max(1), first, width, extend, padding })
    }

    fn count(&self, shape: &[usize]) -> usize {
        shape.iter().product::<usize>().saturating_mul(self.components)
    }

    /// Whole bytes that the bits take up, and how many bits of the last are left.
    fn packed(&self, count: usize) -> (usize, u8) {
        let bits = count.saturating_mul(self.width as usize);
        let bytes = bits.div_ceil(8);
        (bytes, u8::try_from(bytes.saturating_mul(8).saturating_sub(bits)).unwrap_or(0))
    }

    /// The packed bytes, without the one that says how many bits are left over.
    fn payload<'s>(&self, src: &'s [u8], count: usize) -> Result<&'s [u8], CodecError> {
        let (bytes, left) = self.packed(count);
        let parts = match self.padding {
            Padding::None => Some((left, src)),
            Padding::First => src.split_first().map(|(stored, rest)| (*stored, rest)),
            Padding::Last => src.split_last().map(|(stored, rest)| (*stored, rest)),
        };
        let Some((stored, payload)) = parts.filter(|(_, payload)| payload.len() == bytes) else {
            let message = format!("{} bytes for {count} times {} bits", src.len(), self.width);
            return Err(CodecError::corrupt(NAME, message));
        };
        if stored == left {
            return Ok(payload);
        }
        Err(CodecError::corrupt(NAME, format!("{stored} bits are said to be left over where {left} are")))
    }

    fn is_boolean(&self) -> bool {
        self.units.size() == 1 && self.width == 1 && self.first == 0 && self.extend.is_none()
    }
}

impl Filter for PackBits {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        _: Want,
        _: &mut Contexts,
    ) -> Result<(), CodecError> {
        let count = self.count(shape);
        let payload = self.payload(src, count)?;
        let room = dst.space(count.saturating_mul(self.units.size()));
        if self.is_boolean() {
            unpack_bits(payload, room, false);
            return Ok(());
        }
        let mut reader = BitReader { bytes: payload.iter(), word: 0, held: 0 };
        let unused = 64_u32.saturating_sub(self.width);
        self.units.write(room, || {
            let value = reader.take(self.width).wrapping_shl(unused);
            let Some(bits) = self.extend else { return value.wrapping_shr(unused).wrapping_shl(self.first) };
            let extended = (value as i64).wrapping_shr(unused) as u64;
            extended.wrapping_shl(self.first) & u64::MAX.wrapping_shr(64_u32.saturating_sub(bits))
        });
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, shape: &[usize], _: &mut Contexts) -> Result<(), CodecError> {
        let count = self.count(shape);
        if src.len() != count.saturating_mul(self.units.size()) {
            let message = format!("{} bytes for {count} numbers of {} bytes", src.len(), self.units.size());
            return Err(CodecError::new(NAME, Fault::Config, message));
        }
        let (bytes, left) = self.packed(count);
        let extra = usize::from(self.padding != Padding::None);
        let room = dst.space(bytes.saturating_add(extra));
        let payload = match self.padding {
            Padding::None => room,
            Padding::First => put_first(room, left),
            Padding::Last => put_last(room, left),
        };
        if self.is_boolean() {
            pack_bits(src, payload, false);
            return Ok(());
        }
        let mut writer = BitWriter { bytes: payload.iter_mut(), word: 0, held: 0 };
        let mask = u64::MAX.wrapping_shr(64_u32.saturating_sub(self.width));
        self.units.read(src, |value| writer.put(value.wrapping_shr(self.first) & mask, self.width));
        writer.flush();
        Ok(())
    }

    fn encoded_size(&self, _: Want, shape: &[usize]) -> Want {
        let extra = usize::from(self.padding != Padding::None);
        Want::Exact(self.packed(self.count(shape)).0.saturating_add(extra))
    }
}

fn put_first(room: &mut [u8], byte: u8) -> &mut [u8] {
    match room.split_first_mut() {
        Some((first, rest)) => {
            *first = byte;
            rest
        }
        None => &mut [],
    }
}

fn put_last(room: &mut [u8], byte: u8) -> &mut [u8] {
    match room.split_last_mut() {
        Some((last, rest)) => {
            *last = byte;
            rest
        }
        None => &mut [],
    }
}

/// Bits into bytes, the first into the lowest.
struct BitWriter<'a> {
    bytes: std::slice::IterMut<'a, u8>,
    word: u128,
    held: u32,
}

impl BitWriter<'_> {
    fn put(&mut self, value: u64, width: u32) {
        self.word |= u128::from(value).wrapping_shl(self.held);
        self.held = self.held.saturating_add(width);
        while self.held >= 8 {
            self.flush();
            self.held = self.held.saturating_sub(8);
        }
    }

    fn flush(&mut self) {
        if let Some(byte) = self.bytes.next() {
            *byte = self.word as u8;
        }
        self.word >>= 8;
    }
}

struct BitReader<'a> {
    bytes: std::slice::Iter<'a, u8>,
    word: u128,
    held: u32,
}

impl BitReader<'_> {
    fn take(&mut self, width: u32) -> u64 {
        while self.held < width {
            let byte = self.bytes.next().copied().unwrap_or(0);
            self.word |= u128::from(byte).wrapping_shl(self.held);
            self.held = self.held.saturating_add(8);
        }
        let value = self.word as u64;
        self.word = self.word.wrapping_shr(width);
        self.held = self.held.saturating_sub(width);
        value
    }
}

/// One bit for each byte that is not zero; `high`: the first into the highest bit.
fn pack_bits(src: &[u8], dst: &mut [u8], high: bool) {
    for (byte, group) in dst.iter_mut().zip(src.chunks(8)) {
        let bits = group.iter().zip(0_u32..).fold(0_u8, |bits, (&x, i)| bits | u8::from(x != 0).wrapping_shl(i));
        *byte = if high { bits.reverse_bits() } else { bits };
    }
}

fn unpack_bits(src: &[u8], dst: &mut [u8], high: bool) {
    for (&byte, group) in src.iter().zip(dst.chunks_mut(8)) {
        let bits = if high { byte.reverse_bits() } else { byte };
        group.iter_mut().zip(0_u32..).for_each(|(x, i)| *x = bits.wrapping_shr(i) & 1);
    }
}

/// The `packbits` codec of numcodecs: an array of bytes, the first of which is the number of bits left over.
#[derive(Debug, Clone, Copy, Default)]
pub struct BoolBits;

impl Filter for BoolBits {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        _: Want,
        _: &mut Contexts,
    ) -> Result<(), CodecError> {
        let count = shape.iter().product::<usize>();
        let left = count.next_multiple_of(8).saturating_sub(count);
        match src.split_first() {
            Some((&stored, bits)) if usize::from(stored) == left && bits.len() == count.div_ceil(8) => {
                unpack_bits(bits, dst.space(count), true);
                Ok(())
            }
            _ => {
                let (first, n) = (src.first().copied().unwrap_or(0), src.len());
                let message = format!("{n} bytes that begin with {first} are not {count} bits");
                Err(CodecError::corrupt(NAME, message))
            }
        }
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &[usize], _: &mut Contexts) -> Result<(), CodecError> {
        let left = src.len().next_multiple_of(8).saturating_sub(src.len());
        let room = dst.space(src.len().div_ceil(8).saturating_add(1));
        pack_bits(src, put_first(room, u8::try_from(left).unwrap_or(0)), true);
        Ok(())
    }

    fn encoded_size(&self, _: Want, shape: &[usize]) -> Want {
        Want::Exact(shape.iter().product::<usize>().div_ceil(8).saturating_add(1))
    }

    fn encoded_shape(&self, shape: &[usize]) -> Dims {
        Dims::from_slice(&[shape.iter().product::<usize>().div_ceil(8).saturating_add(1)])
    }
}
