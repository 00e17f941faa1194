//! One entry: where its bytes are, and how they become a value.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use smallvec::{SmallVec, smallvec};

use super::super::{Object, Token};
use super::record::{ATTRIBUTES, DEFLATED, ENCRYPTED, LOCAL, MADE_BY, NO_TIME, STORED};
use super::source::Source;
use crate::buffer::Buffer;
use crate::codec::{BEST_RATIO, Bz2, Contexts, Lzma, Step, Want, Zstd, crc32_after, inflate_raw};
use crate::error::{ArchiveFault, CodecError, Error, Fault, Result};
use crate::scratch;

/// Where an entry's bytes are.
pub(super) enum Place {
    /// Not in an archive yet: the value itself.
    Memory(Arc<[u8]>),
    /// Behind the local header at `header`, and before `end`.
    File {
        /// The file that holds it.
        source: Arc<dyn Source>,
        /// Where the local header is.
        header: u64,
        /// Where the next thing is.
        end: u64,
        /// Where the data begins; 0 as long as nobody has looked.
        data: AtomicU64,
        /// Length and CRC-32 of the name, which the local header repeats.
        name: (u16, u32),
    },
    /// Nowhere: only the numbers matter.
    Nowhere,
}

/// An entry of an archive.
pub(super) struct Entry {
    pub(super) place: Place,
    pub(super) method: u16,
    pub(super) flags: u16,
    pub(super) time: u32,
    pub(super) crc: u32,
    /// Size in the archive.
    pub(super) packed: u64,
    /// Size of the value.
    pub(super) size: u64,
    pub(super) made_by: u16,
    pub(super) attributes: u32,
    /// Extra fields without which the data could not be read.
    pub(super) extra: Box<[u8]>,
    /// No other state of any value has it.
    pub(super) number: u64,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A number that nothing had before.
pub(super) fn fresh() -> u64 {
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// An error of one entry.
pub(super) fn fault(key: &str, fault: ArchiveFault, message: impl Into<String>, hint: &'static str) -> Error {
    Error::Archive { key: key.into(), fault, message: message.into(), hint }
}

/// What to do about bytes that are not what was written.
pub(super) const COPY_AGAIN: &str = "The archive is damaged: copy it again from where it came from.";

fn corrupt(key: &str, message: impl Into<String>) -> Error {
    fault(key, ArchiveFault::Corrupt, message, COPY_AGAIN)
}

impl Entry {
    /// A new value, not compressed.
    pub(super) fn stored(place: Place, crc: u32, size: u64, flags: u16) -> Self {
        Self {
            place,
            method: STORED,
            flags,
            time: NO_TIME,
            crc,
            packed: size,
            size,
            made_by: MADE_BY,
            attributes: ATTRIBUTES,
            extra: Box::default(),
            number: fresh(),
        }
    }

    /// The same numbers, for bytes that are elsewhere.
    pub(super) fn like(other: &Self) -> Self {
        Self { place: Place::Nowhere, extra: other.extra.clone(), ..*other }
    }

    pub(super) fn token(&self) -> Option<Token> {
        Some(Token([self.number, 0, 0, 0]))
    }

    /// The file that holds the data, and where in it they are.
    pub(super) fn locate(&self, key: &str) -> Result<(&dyn Source, u64)> {
        let Place::File { source, header, end, data, name: (length, sum) } = &self.place else {
            return Err(Error::Invalid("the value is not in a file".into()));
        };
        let known = data.load(Ordering::Relaxed);
        if known != 0 {
            return Ok((&**source, known));
        }
        let mut head: SmallVec<[u8; 128]> = smallvec![0; usize::from(*length).saturating_add(30)];
        source.read_at(*header, &mut head)?;
        let Some(([b'P', b'K', 3, 4, .., n0, n1, e0, e1], name)) = head.split_first_chunk::<30>() else {
            return Err(corrupt(key, format!("the entry has no local header at byte {header}")));
        };
        if u16::from_le_bytes([*n0, *n1]) != *length || crc32_after(0, name) != *sum {
            return Err(corrupt(key, "the entry has another name in the directory than before its data"));
        }
        let (name, extra) = (*length, u16::from_le_bytes([*e0, *e1]));
        let begin = header.saturating_add(LOCAL).saturating_add(u64::from(name)).saturating_add(u64::from(extra));
        if begin.checked_add(self.packed).is_none_or(|last| last > *end) {
            let message = format!("the entry claims {} bytes from byte {begin} on, past its end at {end}", self.packed);
            return Err(corrupt(key, message));
        }
        data.store(begin, Ordering::Relaxed);
        Ok((&**source, begin))
    }

    /// Refuse what cannot be decoded, before anything is allocated for it.
    fn check(&self, key: &str, limit: u64) -> Result<()> {
        let unsupported = |message: String, hint| Err(fault(key, ArchiveFault::Unsupported, message, hint));
        if self.flags & ENCRYPTED != 0 {
            return unsupported("the entry is encrypted".into(), "Unpack the archive with the password first.");
        }
        match self.method {
            STORED if self.packed == self.size => return Ok(()),
            STORED => {
                let message = format!("the entry is stored in {} bytes and claims to have {}", self.packed, self.size);
                return Err(corrupt(key, message));
            }
            DEFLATED if self.size > self.packed.saturating_add(1).saturating_mul(BEST_RATIO as u64) => {
                let message = format!("{} bytes cannot inflate to the {} that are claimed", self.packed, self.size);
                return Err(corrupt(key, message));
            }
            DEFLATED | 12 | 14 | 20 | 93 | 95 => {}
            other => {
                let message = format!("the entry is compressed by method {other}, which is not to be had");
                return unsupported(message, "Unpack the archive, and pack it with the methods store or deflate.");
            }
        }
        if self.size > limit {
            let message = format!("the entry decompresses to {} bytes, more than {limit}", self.size);
            let hint = "If it is to be trusted, open ZipStore(path, limits=Limits(max_entry_bytes=...)).";
            return Err(fault(key, ArchiveFault::TooLarge, message, hint));
        }
        Ok(())
    }

    fn check_sum(&self, key: &str, value: &[u8]) -> Result<()> {
        let sum = crc32_after(0, value);
        if sum == self.crc {
            return Ok(());
        }
        let message = format!("the entry's CRC-32 is {sum:08x} where the archive says {:08x}", self.crc);
        Err(fault(key, ArchiveFault::Checksum, message, COPY_AGAIN))
    }

    /// Decompress a whole entry of any method but stored.
    fn unpack(&self, key: &str, dst: &mut Buffer, cx: &mut Contexts, packed: &mut Buffer) -> Result<()> {
        let too_large = |_| fault(key, ArchiveFault::TooLarge, "the entry does not fit into memory", "");
        let size = usize::try_from(self.size).map_err(too_large)?;
        let (source, at) = self.locate(key)?;
        // The data lie before the entry's end, so the file is at least as long as this.
        let src = packed.space(usize::try_from(self.packed).map_err(too_large)?);
        source.read_at(at, src)?;
        let want = Want::Exact(size);
        let done = match self.method {
            DEFLATED => inflate_raw(src, dst.space(size), cx),
            12 => Bz2::new(9).and_then(|codec| codec.decode(src, dst, want, cx)),
            14 => alone(src).and_then(|src| Lzma::new(2, -1, None, None)?.decode(&src, dst, want, cx)),
            20 | 93 => Zstd::new(1, false).and_then(|codec| codec.decode(src, dst, want, cx)),
            _ => Lzma::new(1, -1, None, None).and_then(|codec| codec.decode(src, dst, want, cx)),
        };
        done.map_err(|error| corrupt(key, format!("the entry does not decompress: {error}")))?;
        self.check_sum(key, dst.as_slice())
    }

    /// Read the value, though no more than `most + 1` bytes of one that is not compressed.
    pub(super) fn get(&self, key: &str, dst: &mut Buffer, most: usize, limit: u64) -> Result<()> {
        if let Place::Memory(bytes) = &self.place {
            dst.assign(bytes.get(..most.saturating_add(1)).unwrap_or(bytes));
            return Ok(());
        }
        self.check(key, limit)?;
        if self.method != STORED {
            if self.size > most as u64 {
                return Err(corrupt(key, format!("the entry has {} bytes where at most {most} can be", self.size)));
            }
            return scratch::with(|work| self.unpack(key, dst, &mut work.cx, &mut work.enc));
        }
        let (source, at) = self.locate(key)?;
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        let n = size.min(most.saturating_add(1));
        source.read_at(at, dst.space(n))?;
        if n == size { self.check_sum(key, dst.as_slice()) } else { Ok(()) }
    }
}

/// The stream of method 14 as the .lzma file that it would be: version and size of the properties come before them there.
fn alone(src: &[u8]) -> std::result::Result<Vec<u8>, CodecError> {
    match src {
        [_, _, 5, 0, properties @ ..] if properties.len() >= 5 => {
            let (properties, stream) = properties.split_at(5);
            // The size is unknown: the stream has a mark at its end, as Python and 7-Zip write it.
            Ok([properties, &[0xFF; 8], stream].concat())
        }
        _ => Err(CodecError::new("lzma", Fault::Corrupt, "malformed properties")),
    }
}

/// An entry that is open for reading parts of it.
pub(super) struct Opened {
    pub(super) entry: Arc<Entry>,
    pub(super) key: String,
    pub(super) limit: u64,
    /// The whole value, where parts of it cannot be read alone.
    pub(super) whole: OnceLock<Buffer>,
}

impl Opened {
    pub(super) fn new(entry: Arc<Entry>, key: &str, limit: u64) -> Result<Self> {
        if !matches!(entry.place, Place::Memory(_)) {
            entry.check(key, limit)?;
        }
        Ok(Self { entry, key: key.into(), limit, whole: OnceLock::new() })
    }

    fn whole(&self) -> Result<&[u8]> {
        if self.whole.get().is_none() {
            let mut value = Buffer::default();
            self.entry.get(&self.key, &mut value, usize::MAX, self.limit)?;
            let _ = self.whole.set(value);
        }
        Ok(self.whole.get().map(Buffer::as_slice).unwrap_or_default())
    }
}

impl Object for Opened {
    fn size(&self) -> u64 {
        self.entry.size
    }

    fn token(&self) -> Option<Token> {
        self.entry.token()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let past = || Error::Invalid("read past the end of a value".into());
        let last = offset.checked_add(dst.len() as u64).filter(|last| *last <= self.entry.size).ok_or_else(past)?;
        let memory = match &self.entry.place {
            Place::Memory(bytes) => Some(&**bytes),
            _ if self.entry.method != STORED => Some(self.whole()?),
            _ => None,
        };
        if let Some(bytes) = memory {
            let range = usize::try_from(offset).ok().zip(usize::try_from(last).ok());
            dst.copy_from_slice(range.and_then(|(from, to)| bytes.get(from..to)).ok_or_else(past)?);
            return Ok(());
        }
        let (source, at) = self.entry.locate(&self.key)?;
        source.read_at(at.saturating_add(offset), dst)?;
        let whole = dst.len() as u64 == self.entry.size;
        if whole { self.entry.check_sum(&self.key, dst) } else { Ok(()) }
    }
}
