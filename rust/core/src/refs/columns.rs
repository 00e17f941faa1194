//! References in memory, column by column.

use bytes::Bytes;

use super::{Reference, Rows};
use crate::error::{Error, Result};

/// In place of a URL's number: there is no such chunk.
pub const MISSING: u32 = u32::MAX;

/// In place of a URL's number: the bytes are in the set itself, offset and length say where.
pub const INLINE: u32 = u32::MAX - 1;

/// In place of a length: everything that the URL names.
pub const WHOLE: u64 = u64::MAX;

/// References in memory: 20 bytes each, or 28 where most of the grid is missing.
pub struct Columns {
    numbers: Option<Vec<u64>>,
    urls: Vec<u32>,
    offsets: Vec<u64>,
    lengths: Vec<u64>,
    inline: Bytes,
}

impl Columns {
    /// Check the columns against each other.
    ///
    /// `numbers` are those of the chunks, ascending and each once; `None` stands for 0, 1, 2 and so on.
    pub fn new(
        numbers: Option<Vec<u64>>,
        urls: Vec<u32>,
        offsets: Vec<u64>,
        lengths: Vec<u64>,
        inline: Bytes,
        count_of_urls: usize,
    ) -> Result<Self> {
        let n = urls.len();
        if offsets.len() != n || lengths.len() != n || numbers.as_ref().is_some_and(|numbers| numbers.len() != n) {
            return Err(Error::Invalid("columns of references have different lengths".into()));
        }
        if numbers.as_ref().is_some_and(|numbers| !numbers.is_sorted_by(|a, b| a < b)) {
            return Err(Error::Invalid("numbers of chunks are not in ascending order".into()));
        }
        let known = |url: u32| url >= INLINE || usize::try_from(url).is_ok_and(|url| url < count_of_urls);
        if !urls.iter().all(|&url| known(url)) {
            return Err(Error::Invalid("a reference has the number of a URL that is not there".into()));
        }
        let made = Self { numbers, urls, offsets, lengths, inline };
        for (i, &url) in made.urls.iter().enumerate() {
            if url == INLINE {
                made.at(i)?;
            }
        }
        Ok(made)
    }

    fn at(&self, i: usize) -> Result<Option<Reference>> {
        let (Some(&url), Some(&offset), Some(&length)) = (self.urls.get(i), self.offsets.get(i), self.lengths.get(i))
        else {
            return Ok(None);
        };
        Ok(match (url, length) {
            (MISSING, _) => None,
            (INLINE, _) => {
                let start = usize::try_from(offset).ok();
                let end = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
                match (start, end) {
                    (Some(start), Some(end)) if end <= self.inline.len() => {
                        Some(Reference::Inline(self.inline.slice(start..end)))
                    }
                    _ => return Err(Error::Invalid("an inline reference lies outside the inline bytes".into())),
                }
            }
            (_, WHOLE) => Some(Reference::Whole { url }),
            _ => Some(Reference::Range { url, offset, length }),
        })
    }
}

impl Rows for Columns {
    fn find(&self, number: u64) -> Result<Option<Reference>> {
        match &self.numbers {
            None => usize::try_from(number).map_or(Ok(None), |i| self.at(i)),
            Some(numbers) => numbers.binary_search(&number).map_or(Ok(None), |i| self.at(i)),
        }
    }

    fn present(&self, from: u64, most: usize) -> Result<Vec<u64>> {
        let first = match &self.numbers {
            None => usize::try_from(from).unwrap_or(usize::MAX),
            Some(numbers) => numbers.partition_point(|&number| number < from),
        };
        let rows = self.urls.iter().enumerate().skip(first).filter(|(_, url)| **url != MISSING).take(most);
        Ok(rows
            .filter_map(|(i, _)| match &self.numbers {
                None => u64::try_from(i).ok(),
                Some(numbers) => numbers.get(i).copied(),
            })
            .collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn columns(numbers: Option<Vec<u64>>) -> Result<Columns> {
        let urls = vec![0, MISSING, INLINE, 1];
        Columns::new(numbers, urls, vec![5, 0, 1, 0], vec![7, 0, 2, WHOLE], Bytes::from_static(b"abcd"), 2)
    }

    #[test]
    fn dense_and_sparse_rows_are_found() {
        let dense = columns(None).unwrap();
        assert_eq!(dense.find(0).unwrap(), Some(Reference::Range { url: 0, offset: 5, length: 7 }));
        assert_eq!(dense.find(1).unwrap(), None);
        assert_eq!(dense.find(2).unwrap(), Some(Reference::Inline(Bytes::from_static(b"bc"))));
        assert_eq!(dense.find(3).unwrap(), Some(Reference::Whole { url: 1 }));
        assert_eq!(dense.find(u64::MAX).unwrap(), None);
        assert_eq!(dense.present(1, 9).unwrap(), [2, 3]);
        let sparse = columns(Some(vec![3, 10, 1 << 60, u64::MAX])).unwrap();
        assert_eq!(sparse.find(1 << 60).unwrap(), dense.find(2).unwrap());
        assert_eq!(sparse.find(4).unwrap(), None);
        assert_eq!(sparse.present(4, 1).unwrap(), [1 << 60]);
    }

    #[test]
    fn columns_that_contradict_each_other_are_refused() {
        assert!(columns(Some(vec![3, 3, 4, 5])).is_err());
        assert!(columns(Some(vec![3])).is_err());
        assert!(Columns::new(None, vec![2], vec![0], vec![0], Bytes::new(), 2).is_err());
        assert!(Columns::new(None, vec![INLINE], vec![u64::MAX], vec![2], Bytes::new(), 0).is_err());
    }
}
