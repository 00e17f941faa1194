//! One record file, parts of which are decoded when they are needed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::bad::Read;
use super::footer::Footer;
use super::part::{File, Part};
use crate::error::{Error, Result};
use crate::store::Store;

/// Files up to this size are kept as they are, so that each is read once.
const SMALL: u64 = 8 << 20;

/// A record file.
pub struct Record {
    key: String,
    held: Held,
    parts: Mutex<Vec<Arc<Part>>>,
}

enum Held {
    /// There is no such file: all of its rows are missing.
    Absent,
    /// All of its bytes.
    Memory(Bytes, Footer),
    /// It is read anew each time.
    Large,
}

impl Record {
    /// Open a record file.
    pub fn open(store: &dyn Store, key: String) -> Result<Self> {
        let held = match store.open(&key)? {
            None => Held::Absent,
            Some(object) if object.size() > SMALL => Held::Large,
            Some(object) => {
                let bytes = match object.bytes() {
                    Some(bytes) => Bytes::copy_from_slice(bytes),
                    None => {
                        let mut bytes = vec![0; usize::try_from(object.size()).unwrap_or(0)];
                        object.read_at(0, &mut bytes)?;
                        bytes.into()
                    }
                };
                let footer = File::Memory(&bytes).footer().map_err(|bad| bad.of(&key))?;
                Held::Memory(bytes, footer)
            }
        };
        Ok(Self { key, held, parts: Mutex::default() })
    }

    /// The file's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether there is such a file.
    pub fn exists(&self) -> bool {
        !matches!(self.held, Held::Absent)
    }

    /// How many bytes are kept besides the parts.
    pub fn bytes(&self) -> usize {
        let held = if let Held::Memory(bytes, _) = &self.held { bytes.len() } else { 0 };
        held.saturating_add(self.key.len()).saturating_add(512)
    }

    /// Decode the rows around this one.
    pub fn decode(&self, store: &dyn Store, row: u64, most: usize) -> Result<Part> {
        let named = |read: Read<Part>| read.map_err(|bad| bad.of(&self.key));
        match &self.held {
            Held::Absent => Ok(Part::missing(0..u64::MAX)),
            Held::Memory(bytes, footer) => named(Part::read(&File::Memory(bytes), footer, row, most)),
            Held::Large => {
                let Some(object) = store.open(&self.key)? else {
                    return Err(Error::Store {
                        key: self.key.clone(),
                        op: "get",
                        message: "the record file has gone".into(),
                        errno: None,
                    });
                };
                let file = File::Stored(&*object);
                // Not kept: the file may have been replaced by a longer one, and both must be of one file.
                named(file.footer().and_then(|footer| Part::read(&file, &footer, row, most)))
            }
        }
    }

    /// The part that has a row, decoded now if it is not kept; and how many bytes more are kept than before. No more
    /// than `room` bytes of parts are kept.
    pub fn part(&self, store: &dyn Store, row: u64, most: usize, room: usize) -> Result<(Arc<Part>, i64)> {
        // Whoever needs the same file waits here rather than decode it once more.
        let mut parts = self.lock();
        if let Some(part) = parts.iter().find(|part| part.rows.contains(&row)) {
            return Ok((Arc::clone(part), 0));
        }
        let part = Arc::new(self.decode(store, row, most)?);
        let before = total(&parts);
        if before.saturating_add(part.bytes()) > room {
            parts.clear();
        }
        parts.push(Arc::clone(&part));
        let more = i64::try_from(total(&parts)).unwrap_or(i64::MAX);
        Ok((part, more.saturating_sub(i64::try_from(before).unwrap_or(i64::MAX))))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Part>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn total(parts: &[Arc<Part>]) -> usize {
    parts.iter().fold(0, |sum, part| sum.saturating_add(part.bytes()))
}
