//! The states of the sources of a set, in a file beside its metadata that other readers pass over: compressed lines of
//! URL, size, time of the last change and ETag, in the order of the URLs.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::bad::Bad;
use crate::buffer::Buffer;
use crate::codec::{Step, Want, Zstd};
use crate::error::{Error, Result};
use crate::refs::{Stamp, Stamps};
use crate::scratch;
use crate::store::Store;

/// The name of the file.
const NAME: &str = ".omnizarr-sources.tsv.zst";

/// States that are read when the first is asked for.
pub struct ParquetStamps {
    store: Arc<dyn Store>,
    key: String,
    most: usize,
    lines: Mutex<Option<Bytes>>,
}

impl std::fmt::Debug for ParquetStamps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ParquetStamps({:?})", self.key)
    }
}

impl ParquetStamps {
    /// The states of the set below `prefix`; `most` bounds the bytes of them all.
    pub fn new(store: Arc<dyn Store>, prefix: &str, most: usize) -> Self {
        Self { store, key: format!("{prefix}{NAME}"), most, lines: Mutex::default() }
    }

    /// Write the states, replacing those that are there.
    pub fn write(&self, mut stamps: Vec<(String, Stamp)>) -> Result<()> {
        *self.slot() = None;
        if stamps.is_empty() {
            return self.store.erase(&self.key).map(drop);
        }
        stamps.iter_mut().for_each(|(url, _)| *url = escaped(url));
        stamps.sort_unstable_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
        let mut lines = String::new();
        for (url, stamp) in &stamps {
            let size = stamp.size.map(|size| size.to_string()).unwrap_or_default();
            let modified = stamp.modified.map(|modified| modified.to_string()).unwrap_or_default();
            let etag = stamp.etag.as_deref().map(escaped).unwrap_or_default();
            lines.extend([url, "\t", size.as_str(), "\t", modified.as_str(), "\t", etag.as_str(), "\n"]);
        }
        let mut packed = Buffer::default();
        let cannot = |cause| Error::Chunk { key: self.key.clone(), cause };
        let zstd = Zstd::new(1, false).map_err(cannot)?;
        scratch::with(|work| zstd.encode(lines.as_bytes(), &mut packed, &mut work.cx)).map_err(cannot)?;
        self.store.put(&self.key, &[packed.as_slice()])
    }

    /// All states.
    pub fn all(&self) -> Result<Vec<(String, Stamp)>> {
        let lines = self.lines()?;
        lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(|line| self.parsed(line)).collect()
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Bytes>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lines(&self) -> Result<Bytes> {
        let mut slot = self.slot();
        if let Some(lines) = &*slot {
            return Ok(lines.clone());
        }
        let mut packed = Buffer::default();
        let lines = if self.store.get(&self.key, &mut packed, self.most)? {
            let mut out = Buffer::default();
            let zstd = Zstd::new(1, false);
            let want = Want::AtMost(self.most);
            let done = zstd
                .and_then(|zstd| scratch::with(|work| zstd.decode(packed.as_slice(), &mut out, want, &mut work.cx)));
            done.map_err(|error| Bad::from(error).of(&self.key))?;
            Bytes::copy_from_slice(out.as_slice())
        } else {
            Bytes::new()
        };
        *slot = Some(lines.clone());
        Ok(lines)
    }

    fn parsed(&self, line: &[u8]) -> Result<(String, Stamp)> {
        let wrong = || Bad::corrupt("a line is none of URL, size, time and ETag").of(&self.key);
        let line = std::str::from_utf8(line).map_err(|_| wrong())?;
        let mut fields = line.split('\t');
        let mut next = || fields.next().ok_or_else(wrong);
        let (url, size, modified, etag) = (next()?, next()?, next()?, next()?);
        let stamp = Stamp {
            size: (!size.is_empty()).then(|| size.parse()).transpose().map_err(|_| wrong())?,
            modified: (!modified.is_empty()).then(|| modified.parse()).transpose().map_err(|_| wrong())?,
            etag: (!etag.is_empty()).then(|| plain(etag)),
        };
        Ok((plain(url), stamp))
    }
}

impl Stamps for ParquetStamps {
    fn stamp(&self, url: &str) -> Result<Option<Stamp>> {
        let lines = self.lines()?;
        let name = escaped(url);
        // Half of the bytes at a time; the line that the middle falls into decides.
        let (mut low, mut high) = (0usize, lines.len());
        while low < high {
            let middle = low.saturating_add(high.saturating_sub(low) / 2);
            let before = lines.get(low..middle).unwrap_or_default();
            let start = before
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(low, |at| low.saturating_add(at).saturating_add(1));
            let rest = lines.get(start..high).unwrap_or_default();
            let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
            match line.split(|&byte| byte == b'\t').next().unwrap_or_default().cmp(name.as_bytes()) {
                std::cmp::Ordering::Equal => return self.parsed(line).map(|(_, stamp)| Some(stamp)),
                std::cmp::Ordering::Less => low = start.saturating_add(line.len()).saturating_add(1),
                std::cmp::Ordering::Greater => high = start,
            }
        }
        Ok(None)
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        out.push(match letter {
            '\\' => match letters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            letter => letter,
        });
    }
    out
}
