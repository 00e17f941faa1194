//! Strings and bytes of any length: the engine moves fixed-size records, the text stays in arenas.
//!
//! So every selection, grid and shard works for strings as it does for numbers. On disk a chunk is a count (u32, little
//! endian), then for each element its length (u32) and its bytes.

use std::sync::{Arc, PoisonError, RwLock};

use crate::buffer::Buffer;
use crate::error::CodecError;

/// Bytes of a record.
pub const RECORD: usize = 16;

/// The arena that holds the fill value.
pub const FILL: u32 = 0;

/// The arena that holds what the caller writes.
pub const VALUES: u32 = 1;

const NAME: &str = "vlen";

/// Where an element's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Which arena.
    pub arena: u32,
    /// Number of bytes.
    pub len: u32,
    /// First byte.
    pub offset: u64,
}

impl Record {
    /// As the engine moves it.
    pub fn to_bytes(self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        let (arena, rest) = bytes.split_at_mut(4);
        let (len, offset) = rest.split_at_mut(4);
        arena.copy_from_slice(&self.arena.to_ne_bytes());
        len.copy_from_slice(&self.len.to_ne_bytes());
        offset.copy_from_slice(&self.offset.to_ne_bytes());
        bytes
    }

    /// The inverse of [`Record::to_bytes`].
    pub fn from_bytes(bytes: &[u8; RECORD]) -> Self {
        let [a, b, c, d, e, f, g, h, rest @ ..] = *bytes;
        Self {
            arena: u32::from_ne_bytes([a, b, c, d]),
            len: u32::from_ne_bytes([e, f, g, h]),
            offset: u64::from_ne_bytes(rest),
        }
    }
}

/// The bytes that records point to, for the length of one call.
#[derive(Default)]
pub struct Arenas(RwLock<Vec<Arc<[u8]>>>);

impl Arenas {
    /// Arenas that start with the fill value and the caller's values.
    pub fn new(fill: &[u8], values: Vec<u8>) -> Self {
        Self(RwLock::new(vec![Arc::from(fill), Arc::from(values)]))
    }

    /// Keep bytes; returns the arena's number.
    pub fn push(&self, bytes: &[u8]) -> u32 {
        let mut list = self.0.write().unwrap_or_else(PoisonError::into_inner);
        list.push(Arc::from(bytes));
        u32::try_from(list.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Look at all arenas at once.
    pub fn with<T>(&self, f: impl FnOnce(&[Arc<[u8]>]) -> T) -> T {
        f(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The bytes of a record.
pub fn text(arenas: &[Arc<[u8]>], record: Record) -> &[u8] {
    let start = usize::try_from(record.offset).unwrap_or(usize::MAX);
    let end = start.saturating_add(record.len as usize);
    arenas.get(record.arena as usize).and_then(|arena| arena.get(start..end)).unwrap_or_default()
}

/// Records of a chunk of `n` elements; `src` itself becomes the arena.
pub fn decode(src: &[u8], n: usize, arenas: &Arenas, dst: &mut Buffer) -> Result<(), CodecError> {
    let (count, _) = number(src, 0)?;
    if count as usize != n {
        return Err(CodecError::corrupt(NAME, format!("{count} items where the chunk has {n}")));
    }
    let arena = arenas.push(src);
    let (records, _) = dst.space(n.saturating_mul(RECORD)).as_chunks_mut::<RECORD>();
    let mut at = 4;
    for record in records {
        let (len, start) = number(src, at)?;
        at = start.saturating_add(len as usize);
        if at > src.len() {
            let message = format!("an item of {len} bytes at {start} passes the chunk's end at {}", src.len());
            return Err(CodecError::corrupt(NAME, message));
        }
        *record = Record { arena, len, offset: start as u64 }.to_bytes();
    }
    if at != src.len() {
        return Err(CodecError::corrupt(NAME, format!("{} bytes behind the last item", src.len().saturating_sub(at))));
    }
    Ok(())
}

/// The u32 at `at`, and where it ends.
fn number(src: &[u8], at: usize) -> Result<(u32, usize), CodecError> {
    let end = at.saturating_add(4);
    let bytes = src.get(at..end).and_then(|b| <[u8; 4]>::try_from(b).ok());
    let bytes =
        bytes.ok_or_else(|| CodecError::corrupt(NAME, format!("the chunk ends at {} within a length", src.len())))?;
    Ok((u32::from_le_bytes(bytes), end))
}

/// The chunk of the records in `src`.
pub fn encode(src: &[u8], arenas: &Arenas, dst: &mut Buffer) -> Result<(), CodecError> {
    let (records, _) = src.as_chunks::<RECORD>();
    let count =
        u32::try_from(records.len()).map_err(|_| CodecError::corrupt(NAME, "more than 2³² items in one chunk"))?;
    dst.assign(&count.to_le_bytes());
    arenas.with(|arenas| {
        for record in records.iter().map(Record::from_bytes) {
            dst.extend(&record.len.to_le_bytes());
            dst.extend(text(arenas, record));
        }
    });
    Ok(())
}

/// Whether every record's text is the fill value.
pub fn is_filled(src: &[u8], fill: &[u8], arenas: &Arenas) -> bool {
    let (records, _) = src.as_chunks::<RECORD>();
    arenas.with(|arenas| records.iter().map(Record::from_bytes).all(|record| text(arenas, record) == fill))
}
