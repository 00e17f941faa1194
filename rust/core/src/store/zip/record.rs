//! The records of an archive, as they are written.
//!
//! [APPNOTE](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT) 4.3: each entry is a local header and its data,
//! and the central directory at the end repeats the headers. Sizes and offsets that do not fit 32 bits stand in an extra
//! field (4.5.3), and the number of entries past 16 bits in records of its own.

use super::entry::Entry;

/// The method of entries that lie in the archive as they are.
pub(super) const STORED: u16 = 0;
/// The method of DEFLATE.
pub(super) const DEFLATED: u16 = 8;
/// The flag of entries whose bytes are encrypted.
pub(super) const ENCRYPTED: u16 = 1;
/// The flag of entries whose sizes stand behind the data.
pub(super) const DESCRIPTOR: u16 = 1 << 3;
/// The flag of names in UTF-8.
pub(super) const UTF8: u16 = 1 << 11;

/// Midnight of 1 January 1980: the same data makes the same archive, whenever it is written.
pub(super) const NO_TIME: u32 = 0x0021_0000;
/// Made on Unix, by the rules of version 4.5.
pub(super) const MADE_BY: u16 = 0x032D;
/// A plain file that its owner may write and all may read.
pub(super) const ATTRIBUTES: u32 = 0o100_644 << 16;

/// The size of a local header without name and extra fields.
pub(super) const LOCAL: u64 = 30;

const LOCAL_MAGIC: u32 = 0x0403_4B50;
const CENTRAL_MAGIC: u32 = 0x0201_4B50;
const DESCRIPTOR_MAGIC: u32 = 0x0807_4B50;
const END_MAGIC: u32 = 0x0605_4B50;
const END64_MAGIC: u32 = 0x0606_4B50;
const LOCATOR_MAGIC: u32 = 0x0706_4B50;
const ZIP64: u16 = 1;

fn low16(n: u64) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

fn low32(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn is_large(n: u64) -> bool {
    n >= u64::from(u32::MAX)
}

/// Numbers one after the other, lowest byte first.
#[derive(Default)]
struct Record(Vec<u8>);

impl Record {
    fn u16(&mut self, n: u16) -> &mut Self {
        self.bytes(&n.to_le_bytes())
    }

    fn u32(&mut self, n: u32) -> &mut Self {
        self.bytes(&n.to_le_bytes())
    }

    fn u64(&mut self, n: u64) -> &mut Self {
        self.bytes(&n.to_le_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// What both headers share, from the version to the sizes.
    fn shared(&mut self, entry: &Entry, version: u16) -> &mut Self {
        self.u16(version).u16(entry.flags).u16(entry.method).u32(entry.time).u32(entry.crc);
        self.u32(low32(entry.packed)).u32(low32(entry.size))
    }
}

/// The extra fields of an entry: what does not fit the header, then what it brought along.
fn extra(large: &[u64], own: &[u8]) -> Record {
    let mut record = Record::default();
    if !large.is_empty() {
        record.u16(ZIP64).u16(low16((large.len() as u64).saturating_mul(8)));
        for n in large {
            record.u64(*n);
        }
    }
    record.bytes(own);
    record
}

fn version(large: bool) -> u16 {
    if large { 45 } else { 20 }
}

/// The header before an entry's data.
pub(super) fn local_header(name: &[u8], entry: &Entry) -> Vec<u8> {
    let large = is_large(entry.packed) || is_large(entry.size);
    let sizes = [entry.size, entry.packed];
    let extra = extra(if large { &sizes } else { &[] }, &entry.extra);
    let mut record = Record::default();
    if large {
        // Both sizes stand in the extra field, so both are marked.
        let marked = Entry { packed: u64::MAX, size: u64::MAX, ..Entry::like(entry) };
        record.u32(LOCAL_MAGIC).shared(&marked, version(true));
    } else {
        record.u32(LOCAL_MAGIC).shared(entry, version(false));
    }
    record.u16(low16(name.len() as u64)).u16(low16(extra.0.len() as u64)).bytes(name).bytes(&extra.0);
    record.0
}

/// What follows the data of an entry with that flag; nothing for others.
pub(super) fn descriptor(entry: &Entry) -> Vec<u8> {
    let mut record = Record::default();
    if entry.flags & DESCRIPTOR != 0 {
        record.u32(DESCRIPTOR_MAGIC).u32(entry.crc);
        if is_large(entry.packed) || is_large(entry.size) {
            record.u64(entry.packed).u64(entry.size);
        } else {
            record.u32(low32(entry.packed)).u32(low32(entry.size));
        }
    }
    record.0
}

/// The entry's record in the central directory.
pub(super) fn central_header(name: &[u8], entry: &Entry, offset: u64, to: &mut Vec<u8>) {
    let large: Vec<u64> = [entry.size, entry.packed, offset].into_iter().filter(|n| is_large(*n)).collect();
    let extra = extra(&large, &entry.extra);
    let mut record = Record(std::mem::take(to));
    record.u32(CENTRAL_MAGIC).u16(entry.made_by).shared(entry, version(!large.is_empty()));
    record.u16(low16(name.len() as u64)).u16(low16(extra.0.len() as u64));
    // No comment, the first disk, no word on its contents.
    record.u16(0).u16(0).u16(0).u32(entry.attributes).u32(low32(offset)).bytes(name).bytes(&extra.0);
    *to = record.0;
}

/// What closes the archive: the directory of `count` entries takes up `size` bytes from `offset` on.
pub(super) fn end(count: u64, size: u64, offset: u64, comment: &[u8]) -> Vec<u8> {
    let mut record = Record::default();
    if count >= u64::from(u16::MAX) || is_large(size) || is_large(offset) {
        record.u32(END64_MAGIC).u64(44).u16(MADE_BY).u16(45).u32(0).u32(0);
        record.u64(count).u64(count).u64(size).u64(offset);
        record.u32(LOCATOR_MAGIC).u32(0).u64(offset.saturating_add(size)).u32(1);
    }
    record.u32(END_MAGIC).u16(0).u16(0).u16(low16(count)).u16(low16(count)).u32(low32(size)).u32(low32(offset));
    let comment = comment.get(..usize::from(u16::MAX)).unwrap_or(comment);
    // Whoever looks for the end from behind would take a comment that holds its mark for the end itself.
    let misleads = comment.windows(4).any(|four| four == END_MAGIC.to_le_bytes());
    let comment = if misleads { &[] } else { comment };
    record.u16(low16(comment.len() as u64)).bytes(comment);
    record.0
}
