//! A set of record files as rows of its arrays; what has been read lately is kept.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::bad::Bad;
use super::part::{Part, Row};
use super::record::Record;
use super::stamps::ParquetStamps;
use crate::buffer::Buffer;
use crate::codec::{Base64, Step, Want};
use crate::error::{Error, Result};
use crate::refs::{Reference, Rows, Urls};
use crate::scratch;
use crate::store::Store;

/// How many bytes of record files and rows are kept.
const KEPT: usize = 32 << 20;

/// No more record files than this are asked for one by one.
const MOST_ASKED: u64 = 100_000;

/// What inline bytes begin with that are text.
const BASE64: &[u8] = b"base64:";

/// The record files of one set.
pub struct ParquetSet {
    store: Arc<dyn Store>,
    prefix: String,
    record_size: u64,
    most: usize,
    urls: Arc<Urls>,
    arrays: AtomicU32,
    kept: Mutex<Kept>,
}

type Name = (u32, u64);

#[derive(Default)]
struct Kept {
    records: HashMap<Name, (Arc<Record>, i64, u64)>,
    bytes: i64,
    tick: u64,
}

impl Kept {
    fn get(&mut self, name: Name) -> Option<Arc<Record>> {
        self.tick = self.tick.wrapping_add(1);
        let (record, _, used) = self.records.get_mut(&name)?;
        *used = self.tick;
        Some(Arc::clone(record))
    }

    fn grow(&mut self, name: Name, record: &Arc<Record>, by: i64) {
        let (_, bytes, _) = self.records.entry(name).or_insert_with(|| (Arc::clone(record), 0, self.tick));
        *bytes = bytes.saturating_add(by);
        self.bytes = self.bytes.saturating_add(by);
        if self.bytes > i64::try_from(KEPT).unwrap_or(i64::MAX) {
            self.shrink(name);
        }
    }

    /// Forget the half of the records that was not used for the longest time.
    fn shrink(&mut self, but: Name) {
        let mut order: Vec<(u64, Name)> = self.records.iter().map(|(&name, &(_, _, used))| (used, name)).collect();
        order.sort_unstable();
        order.truncate(order.len().div_ceil(2));
        for (_, name) in order {
            if name != but
                && let Some((_, bytes, _)) = self.records.remove(&name)
            {
                self.bytes = self.bytes.saturating_sub(bytes);
            }
        }
    }
}

impl ParquetSet {
    /// The set whose record files lie in `store` below `prefix`; `most` bounds the bytes of a page.
    pub fn new(store: Arc<dyn Store>, prefix: String, record_size: u64, most: usize, urls: Arc<Urls>) -> Result<Self> {
        if record_size == 0 {
            return Err(Error::Invalid("a record must have at least one row".into()));
        }
        Ok(Self { store, prefix, record_size, most, urls, arrays: AtomicU32::new(0), kept: Mutex::default() })
    }

    /// The rows of an array, whose path is empty or ends in `/`, and which has `count` chunks.
    pub fn rows(self: &Arc<Self>, path: &str, count: u64) -> ParquetRows {
        let number = self.arrays.fetch_add(1, Ordering::Relaxed);
        ParquetRows { set: Arc::clone(self), number, path: format!("{}{path}", self.prefix), count }
    }

    /// The states in which its sources were scanned.
    pub fn stamps(&self) -> ParquetStamps {
        ParquetStamps::new(Arc::clone(&self.store), &self.prefix, self.most)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many bytes are kept now.
    pub fn bytes(&self) -> usize {
        usize::try_from(self.kept().bytes).unwrap_or(0)
    }
}

/// The rows of one array.
pub struct ParquetRows {
    set: Arc<ParquetSet>,
    number: u32,
    path: String,
    count: u64,
}

impl ParquetRows {
    /// How many rows a record has.
    pub fn record_size(&self) -> u64 {
        self.set.record_size
    }

    /// How many rows there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The URLs that references have numbers of.
    pub fn urls(&self) -> &Urls {
        &self.set.urls
    }

    /// The key of a record file.
    pub fn key(&self, record: u64) -> String {
        format!("{}refs.{record}.parq", self.path)
    }

    /// Open a record without keeping it.
    pub fn open(&self, record: u64) -> Result<Record> {
        Record::open(&*self.set.store, self.key(record))
    }

    /// Decode a part of a record that is not kept.
    pub fn decode(&self, record: &Record, row: u64) -> Result<Part> {
        record.decode(&*self.set.store, row, self.set.most)
    }

    fn record(&self, record: u64) -> Result<Arc<Record>> {
        let name = (self.number, record);
        if let Some(found) = self.set.kept().get(name) {
            return Ok(found);
        }
        let made = Arc::new(self.open(record)?);
        let mut kept = self.set.kept();
        if let Some(found) = kept.get(name) {
            return Ok(found);
        }
        kept.grow(name, &made, i64::try_from(made.bytes()).unwrap_or(i64::MAX));
        Ok(made)
    }

    fn part(&self, number: u64, row: u64) -> Result<(Arc<Record>, Arc<Part>)> {
        let record = self.record(number)?;
        let (part, more) = record.part(&*self.set.store, row, self.set.most, KEPT / 2)?;
        if more != 0 {
            self.set.kept().grow((self.number, number), &record, more);
        }
        Ok((record, part))
    }

    /// The numbers of the record files that are there, ascending.
    pub fn records(&self) -> Result<Vec<u64>> {
        let last = self.count.div_ceil(self.set.record_size);
        let keys = match self.set.store.list_dir(&self.path) {
            Ok((keys, _)) => keys,
            // Servers do not list what they have; each file is asked for.
            Err(Error::Foreign { .. }) if last <= MOST_ASKED => return Ok((0..last).collect()),
            Err(error) => return Err(error),
        };
        let name = |key: &String| {
            let name = key.strip_prefix(self.path.as_str())?.strip_prefix("refs.")?.strip_suffix(".parq")?;
            let number = name.parse::<u64>().ok()?;
            (number.to_string() == name && number < last).then_some(number)
        };
        let mut numbers: Vec<u64> = keys.iter().filter_map(name).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// How many rows of a record belong to the array.
    pub fn rows_of(&self, record: u64) -> u64 {
        let first = record.saturating_mul(self.set.record_size);
        self.count.saturating_sub(first).min(self.set.record_size)
    }
}

/// The bytes that a raw value stands for: as others read it, base64 is decoded.
pub fn inline(key: &str, raw: Bytes) -> Result<Bytes> {
    let Some(text) = raw.strip_prefix(BASE64) else { return Ok(raw) };
    let mut out = Buffer::default();
    let decoded = scratch::with(|work| Base64.decode(text, &mut out, Want::AtMost(text.len()), &mut work.cx));
    decoded
        .map_err(|error| Bad::corrupt(format!("an inline value that begins with base64: is none: {error}")).of(key))?;
    Ok(Bytes::copy_from_slice(out.as_slice()))
}

impl Rows for ParquetRows {
    fn find(&self, number: u64) -> Result<Option<Reference>> {
        if number >= self.count {
            return Ok(None);
        }
        let size = self.set.record_size;
        let (record, row) = (number.checked_div(size).unwrap_or(0), number.checked_rem(size).unwrap_or(0));
        let (record, part) = self.part(record, row)?;
        let i = usize::try_from(row.saturating_sub(part.rows.start)).unwrap_or(usize::MAX);
        Ok(match part.row(i) {
            Row::Missing => None,
            Row::Inline(raw) => Some(Reference::Inline(inline(record.key(), raw)?)),
            Row::At(path, offset, length) => {
                let path = part.paths.text(path);
                let text =
                    std::str::from_utf8(&path).map_err(|_| Bad::corrupt("a path is no text").of(record.key()))?;
                let url = self.set.urls.number(text)?;
                let whole = offset == 0 && length == 0;
                Some(if whole { Reference::Whole { url } } else { Reference::Range { url, offset, length } })
            }
        })
    }

    fn present(&self, from: u64, most: usize) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        let size = self.set.record_size;
        let first = from.checked_div(size).unwrap_or(0);
        for record in self.records()?.into_iter().filter(|&record| record >= first) {
            let start = record.saturating_mul(size);
            let (mut row, end) = (from.saturating_sub(start), self.rows_of(record));
            while row < end && found.len() < most {
                let (_, part) = self.part(record, row)?;
                let stop = part.rows.end.min(end);
                if !part.is_missing() {
                    for at in row..stop {
                        let i = usize::try_from(at.saturating_sub(part.rows.start)).unwrap_or(usize::MAX);
                        if part.row(i) != Row::Missing && found.len() < most {
                            found.push(start.saturating_add(at));
                        }
                    }
                }
                row = stop;
            }
        }
        Ok(found)
    }
}
