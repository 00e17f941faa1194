//! Texts of many rows, each different one after another once.

use bytes::Bytes;

/// In place of the number of a text: there is none.
pub const NONE: u32 = u32::MAX;

/// Texts of rows that are being read.
#[derive(Default)]
pub struct TextsBuilder {
    data: Vec<u8>,
    spans: Vec<(u32, u32)>,
    rows: Vec<u32>,
    /// How many rows without a text come before the first that has one.
    none: usize,
}

impl TextsBuilder {
    /// Add a text; its number. `None` if there are too many bytes.
    pub fn add(&mut self, text: &[u8]) -> Option<u32> {
        let start = u32::try_from(self.data.len()).ok()?;
        let length = u32::try_from(text.len()).ok()?;
        let number = u32::try_from(self.spans.len()).ok().filter(|&number| number != NONE)?;
        start.checked_add(length)?;
        self.data.extend_from_slice(text);
        self.spans.push((start, length));
        Some(number)
    }

    /// Add a row with a text, which is not stored again if the row before has the same.
    pub fn push(&mut self, text: &[u8]) -> Option<()> {
        let last = self.spans.last().and_then(|&(start, length)| {
            let start = start as usize;
            self.data.get(start..start.checked_add(length as usize)?)
        });
        let number =
            if last == Some(text) { u32::try_from(self.spans.len().checked_sub(1)?).ok()? } else { self.add(text)? };
        self.push_numbers(number, 1);
        Some(())
    }

    /// Add rows with the text of a number.
    pub fn push_numbers(&mut self, number: u32, count: usize) {
        if self.rows.is_empty() && count > 0 {
            self.rows.resize(std::mem::take(&mut self.none), NONE);
        }
        self.rows.extend(std::iter::repeat_n(number, count));
    }

    /// Add rows without a text.
    pub fn push_none(&mut self, count: usize) {
        // Most columns of inline values have none at all, for which nothing is to be kept.
        if self.rows.is_empty() {
            self.none = self.none.saturating_add(count);
        } else {
            self.rows.extend(std::iter::repeat_n(NONE, count));
        }
    }

    /// The texts, ready to be asked.
    pub fn finish(self) -> Texts {
        Texts { data: self.data.into(), spans: self.spans, rows: self.rows }
    }
}

/// Texts of rows.
#[derive(Default)]
pub struct Texts {
    data: Bytes,
    spans: Vec<(u32, u32)>,
    rows: Vec<u32>,
}

impl Texts {
    /// The number of the text of a row.
    pub fn number(&self, row: usize) -> Option<u32> {
        self.rows.get(row).copied().filter(|&number| number != NONE)
    }

    /// The text of a number.
    pub fn text(&self, number: u32) -> Bytes {
        let span = self.spans.get(number as usize).copied().unwrap_or_default();
        let (start, end) = (span.0 as usize, (span.0 as usize).saturating_add(span.1 as usize));
        if end <= self.data.len() { self.data.slice(start..end) } else { Bytes::new() }
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// How much memory they take.
    pub fn bytes(&self) -> usize {
        let rows = self.rows.len().saturating_mul(4);
        self.data.len().saturating_add(self.spans.len().saturating_mul(8)).saturating_add(rows)
    }
}
