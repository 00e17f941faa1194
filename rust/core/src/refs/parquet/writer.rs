//! A set of record files, written as its rows come.

use std::sync::Arc;

use super::encode::{RecordRows, encode};
use super::stamps::ParquetStamps;
use crate::error::{Error, Result};
use crate::pool::{self, Interrupt};
use crate::refs::{INLINE, MISSING, Urls};
use crate::store::Store;

/// A record whose rows are known.
type Ready = (u64, RecordRows);

/// Writes the record files of a set.
pub struct ParquetWriter {
    store: Arc<dyn Store>,
    prefix: String,
    record_size: u64,
    threshold: f64,
    /// The URLs that references have numbers of.
    pub urls: Arc<Urls>,
}

/// Columns of references, as a piece of an array is given; see [`crate::refs::Columns`].
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    /// How many chunks the piece stands for.
    pub count: u64,
    /// Which of these each row is, ascending; `None` if there is one row for each.
    pub numbers: Option<&'a [u64]>,
    /// Numbers of URLs, or [`INLINE`], or [`MISSING`].
    pub urls: &'a [u32],
    /// Where each begins.
    pub offsets: &'a [u64],
    /// How long each is.
    pub lengths: &'a [u64],
    /// The bytes of those that are in the set itself.
    pub inline: &'a [u8],
}

impl Piece<'_> {
    fn check(&self, urls: &Urls) -> Result<()> {
        let n = self.urls.len();
        let fits = |n: usize| u64::try_from(n).is_ok_and(|n| n <= self.count);
        let numbers = self.numbers.map_or(n as u64 == self.count, |numbers| {
            let ascending = numbers.is_sorted_by(|a, b| a < b);
            numbers.len() == n && ascending && numbers.last().is_none_or(|&last| last < self.count)
        });
        if self.offsets.len() != n || self.lengths.len() != n || !numbers || !fits(n) {
            return Err(Error::Invalid("columns of references do not fit each other".into()));
        }
        let known = urls.len();
        if self.urls.iter().any(|&url| url < INLINE && url as usize >= known) {
            return Err(Error::Invalid("a reference has the number of a URL that is not there".into()));
        }
        Ok(())
    }
}

/// The rows of an array, on their way into record files.
pub struct ArrayWriter {
    path: String,
    next: u64,
    current: Option<Ready>,
    ready: Vec<Ready>,
}

impl ParquetWriter {
    /// A writer of a set below `prefix` of `store`.
    pub fn new(store: Arc<dyn Store>, prefix: String, record_size: u64, threshold: f64) -> Result<Self> {
        if record_size == 0 || record_size > 1 << 24 {
            return Err(Error::Invalid(format!("records of {record_size} rows: there must be 1 to {}", 1 << 24)));
        }
        Ok(Self { store, prefix, record_size, threshold, urls: Arc::default() })
    }

    /// Where the states of its sources go.
    pub fn stamps(&self) -> ParquetStamps {
        ParquetStamps::new(Arc::clone(&self.store), &self.prefix, usize::MAX)
    }

    /// Begin an array, whose path is empty or ends in `/`, at the first chunk of a record.
    pub fn array(&self, path: &str, record: u64) -> ArrayWriter {
        let next = record.saturating_mul(self.record_size);
        ArrayWriter { path: format!("{}{path}", self.prefix), next, current: None, ready: Vec::new() }
    }

    /// Add a piece: the chunks that follow on those before.
    pub fn append(&self, array: &mut ArrayWriter, piece: Piece<'_>, interrupt: Interrupt<'_>) -> Result<()> {
        piece.check(&self.urls)?;
        let first = array.next;
        array.next =
            first.checked_add(piece.count).ok_or_else(|| Error::Invalid("an array has too many chunks".into()))?;
        let number = |i: usize| match piece.numbers {
            None => first.saturating_add(i as u64),
            Some(numbers) => first.saturating_add(numbers.get(i).copied().unwrap_or(0)),
        };
        let mut i = 0;
        while i < piece.urls.len() {
            let record = number(i).checked_div(self.record_size).unwrap_or(0);
            let start = record.saturating_mul(self.record_size);
            let limit = start.saturating_add(self.record_size);
            let left = piece.urls.len().saturating_sub(i);
            let n = match piece.numbers {
                None => usize::try_from(limit.saturating_sub(number(i))).unwrap_or(usize::MAX).min(left),
                Some(numbers) => {
                    numbers.get(i..).unwrap_or_default().partition_point(|&number| first.saturating_add(number) < limit)
                }
            };
            if array.current.as_ref().is_some_and(|(other, _)| *other != record) {
                array.ready.extend(array.current.take());
                if array.ready.len() >= pool::threads().saturating_mul(2) {
                    self.flush(array, interrupt)?;
                }
            }
            let (_, rows) = array.current.get_or_insert_with(|| (record, RecordRows::default()));
            extend(rows, &piece, i..i.saturating_add(n), |i| number(i).saturating_sub(start))?;
            i = i.saturating_add(n);
        }
        Ok(())
    }

    /// Write what is left of an array; the last record file last. How many chunks the array has now.
    pub fn finish(&self, mut array: ArrayWriter, interrupt: Interrupt<'_>) -> Result<u64> {
        array.ready.extend(array.current.take());
        self.flush(&mut array, interrupt)?;
        Ok(array.next)
    }

    fn flush(&self, array: &mut ArrayWriter, interrupt: Interrupt<'_>) -> Result<()> {
        let ready = std::mem::take(&mut array.ready);
        let size = usize::try_from(self.record_size).unwrap_or(usize::MAX);
        pool::run(ready.len(), ready.len() > 1, interrupt, &|i| {
            let Some((record, rows)) = ready.get(i) else { return Ok(()) };
            if rows.urls.iter().all(|&url| url == MISSING) {
                return Ok(());
            }
            let key = format!("{}refs.{record}.parq", array.path);
            self.store.put(&key, &[&encode(rows, &self.urls, size, self.threshold)?])
        })
    }
}

/// Add rows of a piece to a record; `place` says where in the record each belongs.
fn extend(
    rows: &mut RecordRows,
    piece: &Piece<'_>,
    range: std::ops::Range<usize>,
    place: impl Fn(usize) -> u64,
) -> Result<()> {
    let outside = || Error::Invalid("an inline reference lies outside the inline bytes".into());
    let (Some(urls), Some(offsets), Some(lengths)) =
        (piece.urls.get(range.clone()), piece.offsets.get(range.clone()), piece.lengths.get(range.clone()))
    else {
        return Err(Error::Invalid("columns of references do not fit each other".into()));
    };
    let first = usize::try_from(place(range.start)).unwrap_or(usize::MAX);
    pad(rows, first);
    if piece.numbers.is_none() && !urls.contains(&INLINE) {
        rows.urls.extend_from_slice(urls);
        rows.offsets.extend_from_slice(offsets);
        rows.lengths.extend_from_slice(lengths);
        return Ok(());
    }
    for (((&url, &offset), &length), i) in urls.iter().zip(offsets).zip(lengths).zip(range) {
        pad(rows, usize::try_from(place(i)).unwrap_or(usize::MAX));
        let mut offset = offset;
        if url == INLINE {
            let end = offset.checked_add(length).ok_or_else(outside)?;
            let bounds = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
            let bytes = bounds.and_then(|(start, end)| piece.inline.get(start..end)).ok_or_else(outside)?;
            offset = rows.inline.len() as u64;
            rows.inline.extend_from_slice(bytes);
        }
        rows.urls.push(url);
        rows.offsets.push(offset);
        rows.lengths.push(length);
    }
    Ok(())
}

fn pad(rows: &mut RecordRows, to: usize) {
    if to > rows.urls.len() {
        rows.urls.resize(to, MISSING);
        rows.offsets.resize(to, 0);
        rows.lengths.resize(to, 0);
    }
}
