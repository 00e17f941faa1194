//! References as JSON, a piece of an array at a time.

use std::fmt::Write;

use super::text::{Coder, quote};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::refs::{INLINE, MISSING, WHOLE};

/// Columns of an array, or a piece of them.
pub struct Rows<'a> {
    /// How many chunks there are along each dimension.
    pub counts: &'a [u64],
    /// Numbers of the chunks; `None`: from `first` on.
    pub numbers: Option<&'a [u64]>,
    /// The number of the first chunk where there are no numbers.
    pub first: u64,
    /// Numbers of URLs.
    pub urls: &'a [u32],
    /// Where chunks begin.
    pub offsets: &'a [u64],
    /// How many bytes they have.
    pub lengths: &'a [u64],
    /// The bytes of inline references.
    pub inline: &'a [u8],
}

/// Writes the references of one set.
pub struct Writer {
    /// Each with its quotes.
    urls: Vec<String>,
    coder: Coder,
}

impl Writer {
    /// A writer of references to these URLs.
    pub fn new<'a>(urls: impl Iterator<Item = &'a str>) -> Self {
        let quoted = |url: &str| {
            let mut text = String::new();
            quote(url, &mut text);
            text
        };
        Self { urls: urls.map(quoted).collect(), coder: Coder::default() }
    }

    /// Members of an object, each followed by a comma: the references of chunks.
    pub fn rows(&mut self, keys: &Keys, rows: &Rows<'_>) -> Result<String> {
        let mut out = String::with_capacity(rows.urls.len().saturating_mul(64));
        let mut index = vec![0u64; rows.counts.len()];
        let mut key = String::new();
        let columns = rows.urls.iter().zip(rows.offsets).zip(rows.lengths);
        for (i, ((&url, &offset), &length)) in columns.enumerate() {
            let number = match rows.numbers {
                Some(numbers) => numbers.get(i).copied(),
                None => rows.first.checked_add(i as u64),
            };
            if url == MISSING {
                continue;
            }
            let number = number.ok_or_else(|| Error::Invalid("columns of references have different lengths".into()))?;
            place(number, rows.counts, &mut index)?;
            keys.write(&index, &mut key);
            quote(&key, &mut out);
            out.push(':');
            self.value(url, offset, length, rows.inline, &mut out)?;
            out.push(',');
        }
        Ok(out)
    }

    /// A reference.
    fn value(&mut self, url: u32, offset: u64, length: u64, inline: &[u8], out: &mut String) -> Result<()> {
        if url == INLINE {
            let start = usize::try_from(offset).ok();
            let end = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
            let bytes = start.zip(end).and_then(|(start, end)| inline.get(start..end));
            let outside = || Error::Invalid("an inline reference lies outside the inline bytes".into());
            self.coder.quote(bytes.ok_or_else(outside)?, out);
            return Ok(());
        }
        let text = usize::try_from(url).ok().and_then(|url| self.urls.get(url));
        let text =
            text.ok_or_else(|| Error::Invalid("a reference has the number of a URL that is not there".into()))?;
        out.push('[');
        out.push_str(text);
        if length != WHOLE {
            // Writing to a String cannot fail.
            let _ = write!(out, ",{offset},{length}");
        }
        out.push(']');
        Ok(())
    }

    /// Bytes as the text that stands for them, with quotes.
    pub fn bytes(&mut self, bytes: &[u8]) -> String {
        let mut out = String::new();
        self.coder.quote(bytes, &mut out);
        out
    }
}

/// The place in the grid of a number.
fn place(number: u64, counts: &[u64], index: &mut [u64]) -> Result<()> {
    let mut rest = number;
    for (i, &count) in index.iter_mut().zip(counts).rev() {
        let outside = || Error::Invalid(format!("there is no chunk of number {number}"));
        *i = rest.checked_rem(count).ok_or_else(outside)?;
        rest = rest.checked_div(count).unwrap_or(0);
    }
    if rest == 0 { Ok(()) } else { Err(Error::Invalid(format!("there is no chunk of number {number}"))) }
}
