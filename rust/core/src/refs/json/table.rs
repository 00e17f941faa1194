//! References as they are read, before it is known of which arrays they are: in columns, by the form of their keys.
//!
//! Documents may come last, so a key is taken apart by its own looks: `a/b/10.2` is the stem `a/b/`, the numbers 10 and 2,
//! and a dot between. All keys of one stem and the same separators are rows of one [`Group`].

use std::collections::HashMap;

/// Most numbers at the end of a key; what stands before them belongs to the stem.
const MOST_NUMBERS: usize = 64;

/// One reference: the number of a URL, or [`super::INLINE`], with a place in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The number of the URL.
    pub url: u32,
    /// Where it begins.
    pub offset: u64,
    /// How many bytes it has.
    pub length: u64,
}

/// References whose keys differ only by numbers at the end.
#[derive(Debug, Default)]
pub struct Group {
    /// What all keys begin with.
    pub stem: Vec<u8>,
    /// What stands between the numbers: one less than there are.
    pub separators: Vec<u8>,
    /// The numbers, all those of a key together.
    pub indices: Vec<u32>,
    /// The columns of [`Row`].
    pub urls: Vec<u32>,
    /// See [`Row`].
    pub offsets: Vec<u64>,
    /// See [`Row`].
    pub lengths: Vec<u64>,
}

impl Group {
    /// How many numbers each key has.
    pub fn width(&self) -> usize {
        self.separators.len().saturating_add(1)
    }

    fn push(&mut self, row: Row) {
        self.urls.push(row.url);
        self.offsets.push(row.offset);
        self.lengths.push(row.length);
    }

    /// Take the numbers of a key that begins with the stem; false, and nothing has changed, if it has others.
    pub fn take_numbers(&mut self, tail: &[u8]) -> bool {
        let before = self.indices.len();
        let mut rest = tail;
        for separator in self.separators.iter().map(Some).chain([None]) {
            let Some((number, after)) = number_at_start(rest) else { break };
            self.indices.push(number);
            match (separator, after) {
                (None, []) => return true,
                (Some(separator), [next, after @ ..]) if next == separator => rest = after,
                _ => break,
            }
        }
        self.indices.truncate(before);
        false
    }

    /// The key of a row.
    pub fn key(&self, row: usize) -> String {
        let start = row.saturating_mul(self.width());
        let numbers = self.indices.get(start..start.saturating_add(self.width())).unwrap_or_default();
        let mut key = String::from_utf8_lossy(&self.stem).into_owned();
        for (i, number) in numbers.iter().enumerate() {
            if let Some(&separator) = i.checked_sub(1).and_then(|i| self.separators.get(i)) {
                key.push(char::from(separator));
            }
            key.push_str(&number.to_string());
        }
        key
    }

    /// A row.
    pub fn row(&self, i: usize) -> Option<Row> {
        Some(Row { url: *self.urls.get(i)?, offset: *self.offsets.get(i)?, length: *self.lengths.get(i)? })
    }
}

/// The number that a text begins with, and what follows; `None` for leading zeros and what has no place in 32 bits.
fn number_at_start(text: &[u8]) -> Option<(u32, &[u8])> {
    let mut value = 0u32;
    let mut n = 0usize;
    for byte in text {
        if !byte.is_ascii_digit() {
            break;
        }
        value = value.checked_mul(10)?.checked_add(u32::from(byte.wrapping_sub(b'0')))?;
        n = n.saturating_add(1);
    }
    let plain = n == 1 || (n > 1 && text.first() != Some(&b'0'));
    if plain { Some((value, text.get(n..).unwrap_or_default())) } else { None }
}

/// Where the numbers at the end of a key begin, and what stands between them.
pub fn split(key: &[u8]) -> Option<(usize, Vec<u8>)> {
    let mut separators = Vec::new();
    let mut found = None;
    let mut end = key.len();
    while separators.len() < MOST_NUMBERS {
        let head = key.get(..end).unwrap_or_default();
        let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let start = end.saturating_sub(digits);
        if number_at_start(head.get(start..).unwrap_or_default()).is_none() {
            break;
        }
        found = Some((start, separators.len()));
        match start.checked_sub(1).and_then(|at| Some((at, *key.get(at)?))) {
            Some((at, separator @ (b'.' | b'/'))) => {
                separators.push(separator);
                end = at;
            }
            _ => break,
        }
    }
    let (start, n) = found?;
    separators.truncate(n);
    separators.reverse();
    Some((start, separators))
}

/// All references that have numbers at the ends of their keys.
#[derive(Debug, Default)]
pub struct Table {
    /// The groups, in the order in which they were met.
    pub groups: Vec<Group>,
    /// By the stem, a byte that is in no text, and the separators.
    by_form: HashMap<Vec<u8>, usize>,
    last: usize,
    scratch: Vec<u8>,
}

fn form(stem: &[u8], separators: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(stem);
    out.push(0xff);
    out.extend_from_slice(separators);
}

impl Table {
    /// Add a reference; false if the key does not end in numbers.
    pub fn push(&mut self, key: &[u8], row: Row) -> bool {
        // Mostly it is the next chunk of the same array.
        if let Some(last) = self.groups.get_mut(self.last)
            && let Some(tail) = key.strip_prefix(last.stem.as_slice())
            && last.take_numbers(tail)
        {
            last.push(row);
            return true;
        }
        let Some((start, separators)) = split(key) else { return false };
        let (stem, tail) = key.split_at(start);
        form(stem, &separators, &mut self.scratch);
        let next = self.groups.len();
        self.last = match self.by_form.get(&self.scratch) {
            Some(&at) => at,
            None => {
                self.by_form.insert(self.scratch.clone(), next);
                self.groups.push(Group { stem: stem.to_vec(), separators, ..Group::default() });
                next
            }
        };
        let Some(group) = self.groups.get_mut(self.last) else { return false };
        let taken = group.take_numbers(tail);
        if taken {
            group.push(row);
        }
        taken
    }

    /// The group of keys that look like this one.
    pub fn find(&self, stem: &[u8], separators: &[u8]) -> Option<usize> {
        let mut name = Vec::new();
        form(stem, separators, &mut name);
        self.by_form.get(&name).copied()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_taken_apart() {
        let parts = |key: &str| {
            split(key.as_bytes()).map(|(at, with)| (key[..at].to_owned(), String::from_utf8(with).unwrap()))
        };
        let some = |stem: &str, with: &str| Some((stem.to_owned(), with.to_owned()));
        assert_eq!(parts("a/b/10.2"), some("a/b/", "."));
        assert_eq!(parts("a/c/1/2/3"), some("a/c/", "//"));
        assert_eq!(parts("0/0.0"), some("", "/."));
        assert_eq!(parts("gen_key7"), some("gen_key", ""));
        assert_eq!(parts("a/00/1"), some("a/00/", ""));
        assert_eq!(parts("a/007"), None);
        assert_eq!(parts("a/4294967296"), None);
        assert_eq!(parts("a/.zarray"), None);
        assert_eq!(parts(""), None);
    }

    #[test]
    fn rows_of_one_form_are_together() {
        let mut table = Table::default();
        let row = |url| Row { url, offset: 0, length: 0 };
        for (i, key) in ["a/0.0", "a/0.1", "b/3", "a/12.5", "a/7", "a/1.2.3"].iter().enumerate() {
            assert!(table.push(key.as_bytes(), row(u32::try_from(i).unwrap())));
        }
        assert!(!table.push(b"a/.zarray", row(9)));
        assert!(!table.push(b"a/0.01", row(9)));
        let forms: Vec<_> = table.groups.iter().map(|group| (group.width(), group.urls.len())).collect();
        assert_eq!(forms, [(2, 3), (1, 1), (1, 1), (3, 1)]);
        assert_eq!(table.groups[0].indices, [0, 0, 0, 1, 12, 5]);
        assert_eq!(table.groups[0].key(2), "a/12.5");
    }
}
