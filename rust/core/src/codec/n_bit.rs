//! The n-bit filter of HDF5, for reading: of each number only the bits that its type calls significant.
//!
//! The parameters describe the type as a tree of numbers, arrays, structures and bytes that are kept as they are. Where
//! the caller says what the numbers are, they come out as values of whole bytes; else at their place among zeros.

use super::msb_bits::MsbBits;
use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "nbit";

/// The most bytes of an element; HDF5 itself allows no type of more than this many parameters by far.
const MOST_BYTES: usize = 1 << 20;
/// The most parts of an element: a few parameters can describe as many as it has bytes.
const MOST_PARTS: usize = 1 << 16;
/// Types within types.
const DEEPEST: usize = 32;

/// What a whole number is, by its place in the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberAt {
    /// The offset of its first byte.
    pub offset: usize,
    /// Whether its highest bit is a sign.
    pub signed: bool,
}

/// One thing to take from the stream, and where it goes in the element.
#[derive(Debug, Clone, Copy)]
enum Part {
    Bytes { at: usize, size: usize },
    Number { at: usize, number: Number },
}

#[derive(Debug, Clone, Copy)]
struct Number {
    size: usize,
    big: bool,
    /// Significant bits, and how many others lie below them.
    bits: u32,
    low: u32,
    /// Whether to make a value of all bytes, and then whether it has a sign.
    value: Option<bool>,
}

/// The `nbit` codec.
#[derive(Debug, Clone)]
pub struct NBit {
    parts: Vec<Part>,
    /// Bytes of an element.
    size: usize,
    /// Elements of a chunk.
    count: usize,
}

impl NBit {
    /// A codec with the parameters that the filter keeps in the file, for elements that hold these numbers.
    pub fn new(parameters: &[u32], numbers: Option<&[NumberAt]>) -> Result<Self, CodecError> {
        let wrong = || {
            CodecError::new(
                NAME,
                Fault::Config,
                "these parameters describe no type, or one of too many parts".to_owned(),
            )
        };
        let number = |n: Option<&u32>| n.and_then(|&n| usize::try_from(n).ok()).ok_or_else(wrong);
        let (count, size) = (number(parameters.get(2))?, number(parameters.get(4))?);
        let mut tree = Tree { rest: parameters.get(3..).unwrap_or_default(), parts: Vec::new(), numbers, size };
        if size == 0 || size > MOST_BYTES || parameters.get(1) != Some(&0) {
            return Err(wrong());
        }
        tree.any(0, 0).filter(|&used| used == size).ok_or_else(wrong)?;
        Ok(Self { parts: tree.parts, size, count })
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
        let mut bits = MsbBits::new(src);
        dst.fill(0);
        for element in dst.chunks_exact_mut(self.size) {
            for part in &self.parts {
                match *part {
                    Part::Bytes { at, size } => {
                        for byte in element.get_mut(at..)?.get_mut(..size)? {
                            *byte = u8::try_from(bits.take(8)?).ok()?;
                        }
                    }
                    Part::Number { at, number } => number.unpack(&mut bits, element.get_mut(at..)?)?,
                }
            }
        }
        Some(())
    }
}

impl Number {
    fn unpack(&self, bits: &mut MsbBits<'_>, out: &mut [u8]) -> Option<()> {
        let out = out.get_mut(..self.size)?;
        if self.size > 8 {
            return self.unpack_wide(bits, out);
        }
        let mut value = bits.take(self.bits)?;
        match self.value {
            Some(true) => {
                let above = 64_u32.checked_sub(self.bits)?;
                value = (value.wrapping_shl(above).cast_signed() >> above).cast_unsigned();
            }
            Some(false) => {}
            None => value = value.checked_shl(self.low)?,
        }
        out.copy_from_slice(value.to_le_bytes().get(..self.size)?);
        if self.big {
            out.reverse();
        }
        Some(())
    }

    /// Byte for byte, from the highest down.
    fn unpack_wide(&self, bits: &mut MsbBits<'_>, out: &mut [u8]) -> Option<()> {
        let end = self.low.checked_add(self.bits)?;
        for place in (self.low / 8..end.div_ceil(8)).rev() {
            let first = place.checked_mul(8)?;
            let (from, to) = (first.max(self.low), first.checked_add(8)?.min(end));
            let value = bits.take(to.checked_sub(from)?)? << from.checked_sub(first)?;
            let place = usize::try_from(place).ok()?;
            let at = if self.big { self.size.checked_sub(place)?.checked_sub(1)? } else { place };
            *out.get_mut(at)? = u8::try_from(value).ok()?;
        }
        Some(())
    }
}

/// The parameters of a type on their way to parts.
struct Tree<'a> {
    rest: &'a [u32],
    parts: Vec<Part>,
    numbers: Option<&'a [NumberAt]>,
    /// Bytes of an element.
    size: usize,
}

impl Tree<'_> {
    fn next(&mut self) -> Option<usize> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        usize::try_from(first).ok()
    }

    /// Read a type whose first byte is at `at`: its size.
    fn any(&mut self, at: usize, depth: usize) -> Option<usize> {
        let class = self.next()?;
        let size = self.next()?;
        if depth > DEEPEST || size == 0 || at.checked_add(size)? > self.size {
            return None;
        }
        match class {
            1 => self.number(at, size)?,
            2 => self.array(at, size, depth)?,
            3 => self.structure(at, size, depth)?,
            4 => self.parts.push(Part::Bytes { at, size }),
            _ => return None,
        }
        Some(size)
    }

    fn number(&mut self, at: usize, size: usize) -> Option<()> {
        let big = self.next()? == 1;
        let (bits, low) = (u32::try_from(self.next()?).ok()?, u32::try_from(self.next()?).ok()?);
        let all = u32::try_from(size).ok()?.checked_mul(8)?;
        if bits == 0 || bits.checked_add(low)? > all {
            return None;
        }
        let narrow = bits < all && size <= 8;
        let known = |numbers: &[NumberAt]| numbers.iter().find(|number| number.offset == at).map(|found| found.signed);
        let value = match self.numbers {
            // What is narrow and no whole number is a float of a kind that no other program has.
            Some(numbers) if narrow => Some(known(numbers)?),
            _ => None,
        };
        self.parts.push(Part::Number { at, number: Number { size, big, bits, low, value } });
        Some(())
    }

    fn array(&mut self, at: usize, size: usize, depth: usize) -> Option<()> {
        // Of bytes that are kept, the whole array is one: the size that follows is that of an item.
        if self.rest.first() == Some(&4) {
            self.rest = self.rest.get(2..)?;
            self.parts.push(Part::Bytes { at, size });
            return Some(());
        }
        let from = self.parts.len();
        let each = self.any(at, depth.checked_add(1)?)?;
        let item: Vec<Part> = self.parts.get(from..)?.to_vec();
        let count = size.checked_div(each)?;
        if from.checked_add(item.len().checked_mul(count)?)? > MOST_PARTS {
            return None;
        }
        for i in 1..count {
            let by = i.checked_mul(each)?;
            if at.checked_add(by)?.checked_add(each)? > self.size {
                return None;
            }
            for part in &item {
                self.parts.push(part.moved(by)?);
            }
        }
        Some(())
    }

    fn structure(&mut self, at: usize, size: usize, depth: usize) -> Option<()> {
        let mut used = 0_usize;
        for _ in 0..self.next()? {
            let offset = self.next()?;
            let each = self.any(at.checked_add(offset)?, depth.checked_add(1)?)?;
            used = used.checked_add(each)?;
            if used > size || offset.checked_add(each)? > size {
                return None;
            }
        }
        Some(())
    }
}

impl Part {
    fn moved(self, by: usize) -> Option<Self> {
        Some(match self {
            Self::Bytes { at, size } => Self::Bytes { at: at.checked_add(by)?, size },
            Self::Number { at, number } => Self::Number { at: at.checked_add(by)?, number },
        })
    }
}

impl Step for NBit {
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
        n.saturating_add(8)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        self.inflate(src, dst)
    }
}
