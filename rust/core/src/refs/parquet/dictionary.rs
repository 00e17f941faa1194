//! Dictionaries of columns, decoded.

use std::ops::Range;

use super::bad::Read;
use super::footer::Kind;
use super::values::{plain, plain_bytes};

/// A dictionary: of integers, or of texts.
#[derive(Default)]
pub struct Dictionary {
    /// The row group and the place of the header that it was read from.
    pub from: Option<(usize, u64)>,
    /// Its integers.
    pub values: Vec<i64>,
    data: Vec<u8>,
    spans: Vec<Range<usize>>,
}

impl Dictionary {
    /// Decode a page with `count` values.
    pub fn new(from: (usize, u64), kind: Kind, data: Vec<u8>, count: usize) -> Read<Self> {
        let mut made = Self { from: Some(from), ..Self::default() };
        let mut rest = data.as_slice();
        if kind != Kind::Bytes {
            for _ in 0..count {
                let (value, after) = plain(rest, kind)?;
                made.values.push(value);
                rest = after;
            }
            return Ok(made);
        }
        for _ in 0..count {
            let (text, after) = plain_bytes(rest)?;
            let end = data.len().saturating_sub(after.len());
            made.spans.push(end.saturating_sub(text.len())..end);
            rest = after;
        }
        made.data = data;
        Ok(made)
    }

    /// How many texts it has.
    pub fn texts(&self) -> usize {
        self.spans.len()
    }

    /// A text by its number.
    pub fn text(&self, number: usize) -> Option<&[u8]> {
        self.data.get(self.spans.get(number)?.clone())
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        let (values, spans) = (self.values.capacity().saturating_mul(8), self.spans.capacity().saturating_mul(16));
        self.data.capacity().saturating_add(values).saturating_add(spans)
    }
}
