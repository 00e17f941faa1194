//! Reference sets as JSON, in one pass straight into columns.
//!
//! [`JsonSet::read`] takes version 0 and 1 with keys in any order; [`JsonSet::place`] then gives each reference to the array
//! whose chunk it is, when the caller has learned from the documents what arrays there are.

mod cursor;
mod loose;
mod packing;
mod placing;
mod reading;
mod table;
mod text;
mod writing;

pub use loose::Loose;
pub use packing::{packed, unpacked};
pub use placing::{Grid, Placed, PlacedArray};
pub use table::Row;
pub use writing::{Rows as WrittenRows, Writer};

use std::collections::HashMap;
use std::sync::Arc;

use table::Table;

use super::{INLINE, Urls, WHOLE};
use crate::error::{Error, Result};

/// A set as it was read: references by key, not yet by array.
#[derive(Default)]
pub struct JsonSet {
    urls: Arc<Urls>,
    table: Table,
    /// References under keys that do not end in numbers.
    odd: Vec<(Box<str>, Row)>,
    inline: Vec<u8>,
    /// Members of the set besides the references, as they stand: templates, formulas and what is our own.
    pub members: Vec<(String, Vec<u8>)>,
    /// Names of members that mean nothing.
    pub strange: Vec<String>,
}

impl JsonSet {
    /// Read a set.
    ///
    /// Of keys that are there twice the last one counts, as everywhere in JSON. `target` is what stands for a URL that is
    /// `null`.
    pub fn read(text: &[u8], target: Option<&str>) -> Result<Self> {
        reading::read(text, target)
    }

    /// Add the bytes that a key stands for.
    pub fn push_inline(&mut self, key: &str, bytes: &[u8]) {
        let row = inlined(&mut self.inline, bytes);
        self.push(key, row);
    }

    /// Add a reference to a part of what a URL names, or to all of it.
    pub fn push_part(&mut self, key: &str, url: &str, part: Option<(u64, u64)>) -> Result<()> {
        let (offset, length) = part.unwrap_or((0, WHOLE));
        let row = Row { url: self.urls.number(url)?, offset, length };
        self.push(key, row);
        Ok(())
    }

    fn push(&mut self, key: &str, row: Row) {
        if !self.table.push(key.as_bytes(), row) {
            self.odd.push((key.into(), row));
        }
    }

    /// Values that are in the set itself under keys that do not end in numbers: documents are among them.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.odd.iter().filter(|(_, row)| row.url == INLINE).map(|(key, row)| (&**key, self.bytes(row)))
    }

    fn bytes(&self, row: &Row) -> &[u8] {
        let place = usize::try_from(row.offset).ok().zip(usize::try_from(row.length).ok());
        let part = place.and_then(|(start, n)| self.inline.get(start..start.checked_add(n)?));
        part.unwrap_or_default()
    }

    /// The table of its URLs.
    pub fn urls(&self) -> Arc<Urls> {
        Arc::clone(&self.urls)
    }

    /// How many references there are.
    pub fn len(&self) -> usize {
        self.table.groups.iter().map(|group| group.urls.len()).sum::<usize>().saturating_add(self.odd.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The URLs with braces that may be those of a template.
    pub fn templated(&self) -> Vec<(u32, Arc<str>)> {
        let all = (0..u32::try_from(self.urls.len()).unwrap_or(u32::MAX)).filter_map(|i| Some((i, self.urls.get(i)?)));
        all.filter(|(_, url)| ["{{", "{%", "{#"].iter().any(|mark| url.contains(mark))).collect()
    }

    /// A key that refers to a URL.
    pub fn key_of(&self, url: u32) -> String {
        if let Some((key, _)) = self.odd.iter().find(|(_, row)| row.url == url) {
            return key.to_string();
        }
        let rows = self.table.groups.iter().map(|group| (group, group.urls.iter().position(|&one| one == url)));
        rows.into_iter().find_map(|(group, at)| Some(group.key(at?))).unwrap_or_default()
    }

    /// Put other URLs in place of some.
    pub fn replace_urls(&mut self, by: &HashMap<u32, String>) -> Result<()> {
        let urls = Urls::default();
        let mut numbers = Vec::with_capacity(self.urls.len());
        for i in 0..u32::try_from(self.urls.len()).unwrap_or(u32::MAX) {
            let new = match by.get(&i) {
                Some(text) => urls.number(text)?,
                None => urls.number(&self.urls.get(i).unwrap_or_default())?,
            };
            numbers.push(new);
        }
        let rows = self.odd.iter_mut().map(|(_, row)| &mut row.url);
        for url in self.table.groups.iter_mut().flat_map(|group| group.urls.iter_mut()).chain(rows) {
            if let Some(&new) = usize::try_from(*url).ok().and_then(|old| numbers.get(old)) {
                *url = new;
            }
        }
        self.urls = Arc::new(urls);
        Ok(())
    }
}

/// Put bytes behind those that are there.
fn inlined(inline: &mut Vec<u8>, bytes: &[u8]) -> Row {
    let offset = inline.len() as u64;
    inline.extend_from_slice(bytes);
    Row { url: INLINE, offset, length: bytes.len() as u64 }
}

fn malformed(key: &str, message: impl Into<String>) -> Error {
    Error::Metadata { key: key.into(), message: message.into() }
}
