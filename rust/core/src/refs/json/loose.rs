//! References that are no chunks of any array, found by key.

use super::table::Row;
use crate::error::Result;
use crate::keys::Keys;
use crate::refs::{ByKey, Reference, WHOLE};

/// References in the order of their keys, each key once.
#[derive(Default)]
pub struct Loose {
    rows: Vec<(Box<str>, Row)>,
}

impl Loose {
    pub(super) fn new(rows: Vec<(Box<str>, Row)>) -> Self {
        Self { rows }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All of them: the key, the number of the URL, and a part of it, or `None` for all of it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32, Option<(u64, u64)>)> {
        let part = |row: &Row| (row.length != WHOLE).then_some((row.offset, row.length));
        self.rows.iter().map(move |(key, row)| (&**key, row.url, part(row)))
    }
}

impl ByKey for Loose {
    fn find(&self, key: &str) -> Result<Option<Reference>> {
        let found = self.rows.binary_search_by(|(one, _)| (**one).cmp(key)).ok().and_then(|i| self.rows.get(i));
        Ok(found.map(|(_, Row { url, offset, length })| match *length {
            WHOLE => Reference::Whole { url: *url },
            length => Reference::Range { url: *url, offset: *offset, length },
        }))
    }

    fn may_hold(&self, _keys: &Keys) -> bool {
        // All chunks of known arrays have been given to them.
        false
    }

    fn keys(&self, prefix: &str, most: usize) -> Result<Vec<String>> {
        let first = self.rows.partition_point(|(key, _)| &**key < prefix);
        let rows = self.rows.iter().skip(first).take_while(|(key, _)| key.starts_with(prefix));
        Ok(rows.take(most).map(|(key, _)| key.to_string()).collect())
    }
}
