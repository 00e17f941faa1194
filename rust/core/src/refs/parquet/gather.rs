//! All references of an array at once, as columns.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::bad::Bad;
use super::part::Row;
use super::set::{ParquetRows, inline};
use crate::ask;
use crate::error::{Error, Result};
use crate::pool::{self, Interrupt};
use crate::refs::{INLINE, WHOLE};

/// How often a record of many parts asks whether to stop.
const POLL: Duration = Duration::from_millis(20);

/// References that are there, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Which chunks they are of.
    pub numbers: Vec<u64>,
    /// Numbers of URLs, or [`INLINE`].
    pub urls: Vec<u32>,
    /// Where each begins.
    pub offsets: Vec<u64>,
    /// How long each is, or [`WHOLE`].
    pub lengths: Vec<u64>,
    /// The bytes of those that are in the set itself.
    pub inline: Vec<u8>,
}

/// References of one record, whose URLs have numbers of their own.
#[derive(Default)]
struct Local {
    rows: Gathered,
    urls: Vec<Bytes>,
}

impl ParquetRows {
    /// Read the records from `from` up to `to`, as far as there are any.
    pub fn gather(&self, from: u64, to: u64, interrupt: Interrupt<'_>) -> Result<Gathered> {
        let records: Vec<u64> = self.records()?.into_iter().filter(|record| (from..to).contains(record)).collect();
        let mut all = Gathered::default();
        // A few at a time, so that they are not all in memory twice.
        for some in records.chunks(pool::threads().saturating_mul(4).max(1)) {
            let slots: Vec<Mutex<Local>> = some.iter().map(|_| Mutex::default()).collect();
            pool::run(some.len(), some.len() > 1, interrupt, &|i| {
                if let (Some(&record), Some(slot)) = (some.get(i), slots.get(i)) {
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = self.local(record)?;
                }
                Ok(())
            })?;
            for (slot, &record) in slots.into_iter().zip(some) {
                self.join(&mut all, slot.into_inner().unwrap_or_else(PoisonError::into_inner), record)?;
            }
        }
        Ok(all)
    }

    fn join(&self, all: &mut Gathered, local: Local, record: u64) -> Result<()> {
        let mut numbers = Vec::with_capacity(local.urls.len());
        for url in &local.urls {
            let text = std::str::from_utf8(url).map_err(|_| Bad::corrupt("a path is no text").of(&self.key(record)))?;
            numbers.push(self.urls().number(text)?);
        }
        let start = all.inline.len() as u64;
        let rows = local.rows;
        all.numbers.extend(rows.numbers);
        all.offsets.extend(
            rows.offsets.iter().zip(&rows.urls).map(
                |(&offset, &url)| {
                    if url == INLINE { offset.saturating_add(start) } else { offset }
                },
            ),
        );
        all.urls.extend(rows.urls.iter().map(|&url| numbers.get(url as usize).copied().unwrap_or(url)));
        all.lengths.extend(rows.lengths);
        all.inline.extend(rows.inline);
        Ok(())
    }

    fn local(&self, number: u64) -> Result<Local> {
        let record = self.open(number)?;
        let mut made = Local::default();
        let mut known: HashMap<Bytes, u32> = HashMap::new();
        let (mut row, end) = (0u64, self.rows_of(number));
        let first = number.saturating_mul(self.record_size());
        let mut asked = Instant::now();
        while row < end {
            let part = self.decode(&record, row)?;
            if asked.elapsed() >= POLL {
                asked = Instant::now();
                if ask::stop() {
                    return Err(Error::Interrupted);
                }
            }
            let stop = part.rows.end.min(end);
            if part.is_missing() {
                row = stop;
                continue;
            }
            // Numbers of this part's texts among the record's.
            let mut paths = vec![u32::MAX; part.paths.len()];
            for at in row..stop {
                let i = usize::try_from(at.saturating_sub(part.rows.start)).unwrap_or(usize::MAX);
                let (url, offset, length) = match part.row(i) {
                    Row::Missing => continue,
                    Row::Inline(raw) => {
                        let bytes = inline(record.key(), raw)?;
                        let offset = made.rows.inline.len() as u64;
                        made.rows.inline.extend_from_slice(&bytes);
                        (INLINE, offset, bytes.len() as u64)
                    }
                    Row::At(path, offset, length) => {
                        let mut url = paths.get(path as usize).copied().unwrap_or(u32::MAX);
                        if url == u32::MAX {
                            let text = part.paths.text(path);
                            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                            url = *known.entry(text.clone()).or_insert_with(|| {
                                made.urls.push(text);
                                next
                            });
                            if let Some(slot) = paths.get_mut(path as usize) {
                                *slot = url;
                            }
                        }
                        (url, offset, if offset == 0 && length == 0 { WHOLE } else { length })
                    }
                };
                made.rows.numbers.push(first.saturating_add(at));
                made.rows.urls.push(url);
                made.rows.offsets.push(offset);
                made.rows.lengths.push(length);
            }
            row = stop;
        }
        Ok(made)
    }
}
