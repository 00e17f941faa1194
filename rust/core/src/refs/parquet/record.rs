//! One record file, parts of which are decoded when they are needed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::bad::Read;
use super::footer::Footer;
use super::marks::Marks;
use super::part::{File, Part};
use crate::error::{Error, Result};
use crate::store::{Store, Token};

/// Files up to this size are kept as they are, so that each is read once.
const SMALL: u64 = 8 << 20;

/// A record file.
pub struct Record {
    key: String,
    held: Held,
    found: Mutex<Found>,
}

/// What has been read of a file.
#[derive(Default)]
struct Found {
    /// Decoded rows by the first of them.
    parts: BTreeMap<u64, Arc<Part>>,
    /// How much memory they take.
    taken: usize,
    marks: Marks,
    /// Of a large file: the footer, and the state to which that and the marks belong.
    footer: Option<(Token, Footer)>,
}

impl Found {
    fn part(&self, row: u64) -> Option<&Arc<Part>> {
        let (_, part) = self.parts.range(..=row).next_back()?;
        Some(part).filter(|part| part.rows.contains(&row))
    }

    fn keep(&mut self, part: &Arc<Part>, room: usize) {
        if self.taken.saturating_add(part.bytes()) > room {
            self.parts.clear();
            self.taken = 0;
        }
        self.taken = self.taken.saturating_add(part.bytes());
        // A file that has been replaced may have had another part there.
        if let Some(old) = self.parts.insert(part.rows.start, Arc::clone(part)) {
            self.taken = self.taken.saturating_sub(old.bytes());
        }
    }

    fn bytes(&self) -> usize {
        let footer = self.footer.as_ref().map_or(0, |(_, footer)| footer.bytes());
        self.taken.saturating_add(self.marks.bytes()).saturating_add(footer)
    }

    /// Decode rows of a large file.
    fn decode(&mut self, file: &File<'_>, token: Option<Token>, row: u64, most: usize) -> Read<Part> {
        // The file may have been replaced, and all that is used must be of one.
        let known = self.footer.take().filter(|(of, _)| Some(*of) == token);
        let footer = match known {
            Some((_, footer)) => footer,
            None => {
                self.marks = Marks::default();
                file.footer()?
            }
        };
        let part = Part::read(file, &footer, row, most, &mut self.marks);
        self.footer = token.map(|token| (token, footer));
        part
    }
}

enum Held {
    /// There is no such file: all of its rows are missing.
    Absent,
    /// All of its bytes.
    Memory(Bytes, Footer),
    /// It is opened anew each time.
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
        Ok(Self { key, held, found: Mutex::default() })
    }

    /// The file's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether there is such a file.
    pub fn exists(&self) -> bool {
        !matches!(self.held, Held::Absent)
    }

    /// How many bytes are kept besides what [`Self::part`] tells.
    pub fn bytes(&self) -> usize {
        let held = if let Held::Memory(bytes, _) = &self.held { bytes.len() } else { 0 };
        held.saturating_add(self.key.len()).saturating_add(512)
    }

    /// Decode the rows around this one.
    pub fn decode(&self, store: &dyn Store, row: u64, most: usize) -> Result<Part> {
        self.read(&mut self.lock(), store, row, most)
    }

    fn read(&self, found: &mut Found, store: &dyn Store, row: u64, most: usize) -> Result<Part> {
        let named = |read: Read<Part>| read.map_err(|bad| bad.of(&self.key));
        match &self.held {
            Held::Absent => Ok(Part::missing(0..u64::MAX)),
            Held::Memory(bytes, footer) => named(Part::read(&File::Memory(bytes), footer, row, most, &mut found.marks)),
            Held::Large => {
                let Some(object) = store.open(&self.key)? else {
                    return Err(Error::Store {
                        key: self.key.clone(),
                        op: "get",
                        message: "the record file has gone".into(),
                        errno: None,
                    });
                };
                named(found.decode(&File::Stored(&*object), object.token(), row, most))
            }
        }
    }

    /// The part that has a row, decoded now if it is not kept; and how many bytes more are kept than before. No more
    /// than `room` bytes of parts are kept.
    pub fn part(&self, store: &dyn Store, row: u64, most: usize, room: usize) -> Result<(Arc<Part>, i64)> {
        // Whoever needs the same file waits here rather than decode it once more.
        let mut found = self.lock();
        if let Some(part) = found.part(row) {
            return Ok((Arc::clone(part), 0));
        }
        let before = found.bytes();
        let part = Arc::new(self.read(&mut found, store, row, most)?);
        found.keep(&part, room);
        let more = i64::try_from(found.bytes()).unwrap_or(i64::MAX);
        Ok((part, more.saturating_sub(i64::try_from(before).unwrap_or(i64::MAX))))
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
