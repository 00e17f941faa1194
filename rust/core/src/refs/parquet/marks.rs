//! What has been found out about the columns of a record file while some of its rows were read: a column whose pages have
//! few rows must not be gone through from its beginning for each of them.

use std::collections::BTreeMap;

use super::dictionary::Dictionary;
use super::footer::NAMES;

/// How many pages there are from one mark to the next. A page with rows has no less than seven bytes in the file, so that
/// the marks of a column take a fifth of its bytes at most, where a list of all pages could take more than the file.
const STEP: usize = 32;

/// All marks of a file together take no more than its bytes through this, and a few more. Only columns that share their
/// bytes need more, which no writer makes.
const SHARE: u64 = 4;
const FEW: usize = 64 << 10;

/// How large dictionaries are that are kept, each. Writers make none larger, unless a row group has one page alone.
const MOST_DICTIONARY: usize = 2 << 20;

/// Which row group, and which of its columns.
pub type Name = (usize, usize);

/// A page that has rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Its first row.
    pub row: u64,
    /// Where its header begins.
    pub at: u64,
    /// Where the header of the last dictionary before it begins.
    pub dictionary: Option<u64>,
}

/// Marks of columns, and dictionaries.
#[derive(Default)]
pub struct Marks {
    columns: BTreeMap<Name, Vec<Mark>>,
    /// How much memory the marks take.
    taken: usize,
    /// The last dictionary of each column.
    dictionaries: [Dictionary; NAMES.len()],
}

fn taken(marks: &Vec<Mark>) -> usize {
    marks.capacity().saturating_mul(size_of::<Mark>()).saturating_add(64)
}

impl Marks {
    /// The last mark of a column that is not behind a row.
    pub fn before(&self, name: Name, row: u64) -> Option<Mark> {
        let marks = self.columns.get(&name)?;
        marks.get(marks.partition_point(|mark| mark.row <= row).checked_sub(1)?).copied()
    }

    /// Add a mark behind the others of its column, unless it is known; the file has `size` bytes.
    fn add(&mut self, name: Name, mark: Mark, size: u64) {
        let marks = self.columns.entry(name).or_default();
        if marks.last().is_some_and(|last| last.row >= mark.row) {
            return;
        }
        let before = if marks.is_empty() { 0 } else { taken(marks) };
        marks.push(mark);
        self.taken = self.taken.saturating_sub(before).saturating_add(taken(marks));
        if self.taken > FEW.saturating_add(usize::try_from(size / SHARE).unwrap_or(usize::MAX)) {
            self.columns.retain(|&other, _| other == name);
            self.taken = self.columns.values().map(taken).sum();
        }
    }

    /// Take the last dictionary of a column out, or an empty one.
    pub fn take(&mut self, name: Name) -> Dictionary {
        self.dictionaries.get_mut(name.1).map(std::mem::take).unwrap_or_default()
    }

    /// Keep a dictionary for who reads the next page.
    pub fn keep(&mut self, name: Name, dictionary: Dictionary) {
        if let Some(slot) = self.dictionaries.get_mut(name.1)
            && dictionary.bytes() <= MOST_DICTIONARY
        {
            *slot = dictionary;
        }
    }

    /// How much memory all of it takes.
    pub fn bytes(&self) -> usize {
        self.dictionaries.iter().fold(self.taken, |sum, one| sum.saturating_add(one.bytes()))
    }
}

/// Sets marks on the way from page to page, which begins at a mark or at the beginning of a column.
#[derive(Default)]
pub struct Marker {
    pages: usize,
}

impl Marker {
    /// Pass a page with rows, of a file of `size` bytes.
    pub fn pass(&mut self, marks: &mut Marks, name: Name, page: Mark, size: u64) {
        if self.pages == STEP {
            marks.add(name, page, size);
            self.pages = 0;
        }
        self.pages = self.pages.saturating_add(1);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn mark(row: u64) -> Mark {
        Mark { row, at: row, dictionary: None }
    }

    #[test]
    fn the_last_mark_before_a_row_is_found() {
        let mut marks = Marks::default();
        for row in [10, 20, 30, 20, 30] {
            marks.add((0, 1), mark(row), 1 << 20);
        }
        let found = |row| marks.before((0, 1), row).map(|mark| mark.row);
        assert_eq!(
            [0, 9, 10, 19, 20, 30, u64::MAX].map(found),
            [None, None, Some(10), Some(10), Some(20), Some(30), Some(30)]
        );
        assert_eq!(marks.before((0, 2), 15), None);
    }

    #[test]
    fn columns_that_share_their_bytes_take_no_memory() {
        let mut marks = Marks::default();
        for group in 0..1000 {
            for row in 0..1000 {
                marks.add((group, 0), mark(row), 50_000);
                assert!(marks.bytes() < 100_000);
            }
            assert_eq!(marks.before((group, 0), 500), Some(mark(500)));
        }
    }
}
