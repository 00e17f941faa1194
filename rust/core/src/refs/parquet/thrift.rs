//! The [compact protocol](https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md) of Thrift, as
//! far as parquet needs it. Whatever a length claims, nothing is taken that is not there.

use super::bad::{Bad, Read};

/// Types of fields.
pub const TRUE: u8 = 1;
pub const FALSE: u8 = 2;
pub const I32: u8 = 5;
pub const I64: u8 = 6;
pub const BINARY: u8 = 8;
pub const LIST: u8 = 9;
pub const STRUCT: u8 = 12;

/// Deepest nesting that is followed.
const MOST_DEEP: usize = 24;

/// A reader of values, one after the other.
pub struct Input<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Start at the beginning.
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// How many bytes have been read.
    pub fn at(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Read<u8> {
        let byte = self.data.get(self.at).copied().ok_or_else(|| Bad::corrupt("metadata ends too early"))?;
        self.at = self.at.saturating_add(1);
        Ok(byte)
    }

    /// An unsigned number of variable length.
    pub fn varint(&mut self) -> Read<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Bad::corrupt("a number in metadata is too long"))
    }

    /// A signed number.
    #[allow(clippy::cast_possible_wrap, reason = "zigzag is defined on the bits")]
    pub fn number(&mut self) -> Read<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ ((value & 1) as i64).wrapping_neg())
    }

    /// Bytes with their length in front.
    pub fn binary(&mut self) -> Read<&'a [u8]> {
        let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        let end = self.at.saturating_add(length);
        let bytes = self.data.get(self.at..end).ok_or_else(|| Bad::corrupt("metadata ends too early"))?;
        self.at = end;
        Ok(bytes)
    }

    /// The type of a list's items and their number, which is no larger than the number of bytes that are left.
    pub fn list(&mut self) -> Read<(u8, usize)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).unwrap_or(usize::MAX),
            count => usize::from(count),
        };
        if count > self.data.len().saturating_sub(self.at) {
            return Err(Bad::corrupt("a list in metadata is longer than the metadata"));
        }
        Ok((head & 15, count))
    }

    /// Go through the fields of a struct: `each` gets number and type, and says whether it has read the value.
    pub fn fields(&mut self, mut each: impl FnMut(&mut Self, i64, u8) -> Read<bool>) -> Read<()> {
        let mut id = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.number()?,
                step => id.saturating_add(i64::from(step)),
            };
            let kind = head & 15;
            let before = self.at;
            if !each(self, id, kind)? {
                if self.at != before {
                    return Err(Bad::corrupt("a field of metadata has another type than it must have"));
                }
                self.skip(kind, 0)?;
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Read<()> {
        let inner = depth.saturating_add(1);
        if depth > MOST_DEEP {
            return Err(Bad::corrupt("metadata is nested too deeply"));
        }
        match kind {
            TRUE | FALSE => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => {
                for _ in 0..8 {
                    self.byte()?;
                }
            }
            BINARY => drop(self.binary()?),
            LIST | 10 => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    self.skip_item(kind, inner)?;
                }
            }
            11 => {
                let count = self.varint()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..count {
                        self.skip_item(kinds >> 4, inner)?;
                        self.skip_item(kinds & 15, inner)?;
                    }
                }
            }
            STRUCT => loop {
                let head = self.byte()?;
                if head == 0 {
                    break;
                }
                if head >> 4 == 0 {
                    self.number()?;
                }
                self.skip(head & 15, inner)?;
            },
            _ => return Err(Bad::corrupt("metadata has a field of unknown type")),
        }
        Ok(())
    }
}

impl Input<'_> {
    /// Skip an item of a list or map, where a truth value has a byte of its own.
    fn skip_item(&mut self, kind: u8, depth: usize) -> Read<()> {
        match kind {
            TRUE | FALSE => self.byte().map(drop),
            _ => self.skip(kind, depth),
        }
    }
}

/// A writer of structs.
#[derive(Default)]
pub struct Output {
    /// What is written so far.
    pub data: Vec<u8>,
    last: Vec<u8>,
    id: u8,
}

impl Output {
    fn head(&mut self, id: u8, kind: u8) {
        let step = id.saturating_sub(self.id);
        self.id = id;
        self.data.push((step & 15) << 4 | kind);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.data.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.data.push(value.to_le_bytes()[0]);
    }

    fn number(&mut self, value: i64) {
        self.varint((value.wrapping_shl(1) ^ (value >> 63)).cast_unsigned());
    }

    /// A field of 32 bits. Fields come in the order of their numbers, steps no larger than 15.
    pub fn i32(&mut self, id: u8, value: i64) {
        self.head(id, I32);
        self.number(value);
    }

    /// A field of 64 bits.
    pub fn i64(&mut self, id: u8, value: i64) {
        self.head(id, I64);
        self.number(value);
    }

    /// A field of bytes.
    pub fn binary(&mut self, id: u8, value: &[u8]) {
        self.head(id, BINARY);
        self.item(value);
    }

    /// An item of a list of bytes.
    pub fn item(&mut self, value: &[u8]) {
        self.varint(value.len() as u64);
        self.data.extend_from_slice(value);
    }

    /// An item of a list of numbers.
    pub fn item_number(&mut self, value: i64) {
        self.number(value);
    }

    /// The beginning of a list, whose items follow.
    pub fn list(&mut self, id: u8, kind: u8, count: usize) {
        self.head(id, LIST);
        match u8::try_from(count) {
            Ok(count) if count < 15 => self.data.push(count << 4 | kind),
            _ => {
                self.data.push(0xf0 | kind);
                self.varint(count as u64);
            }
        }
    }

    /// A field that is a struct.
    pub fn structure(&mut self, id: u8, write: impl FnOnce(&mut Self)) {
        self.head(id, STRUCT);
        self.inner(write);
    }

    /// A struct without a field number: an item of a list, or the outermost.
    pub fn inner(&mut self, write: impl FnOnce(&mut Self)) {
        self.last.push(self.id);
        self.id = 0;
        write(self);
        self.data.push(0);
        self.id = self.last.pop().unwrap_or(0);
    }
}
