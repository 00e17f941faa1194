//! An entry of the cache, as the bytes of its file.
//!
//! ```text
//! magic (8) · CRC-32C of all that follows (4) · length of the ETag (4) · size of the object (8) · offset (8) · name (32)
//! ETag · data, to the end of the file
//! ```
//!
//! Numbers are little-endian. The name is that of the file, so that one that was moved is not taken for another.

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;

const MAGIC: &[u8; 8] = b"OZCACHE1";

/// Bytes before the ETag.
const FIXED: usize = 64;

/// ETags have some dozens of characters.
const LONGEST: usize = 1024;

/// What a file has beyond its data at most.
pub const OVERHEAD: u64 = (FIXED + LONGEST) as u64;

/// What an entry is of, as a hash that nothing can be learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name(pub [u8; 32]);

impl Name {
    /// The name of what these parts name together.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Context::new(&SHA256);
        for part in parts {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let mut name = [0; 32];
        name.iter_mut().zip(hash.finish().as_ref()).for_each(|(to, from)| *to = *from);
        Self(name)
    }

    /// In hexadecimal digits.
    pub fn hex(&self) -> String {
        let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or('0');
        self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    }

    /// From hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let digit = |at: &u8| u8::try_from(char::from(*at).to_digit(16)?).ok().filter(|_| !at.is_ascii_uppercase());
        let mut name = [0; 32];
        for (to, pair) in name.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *to = (digit(high)? << 4) | digit(low)?;
        }
        Some(Self(name))
    }
}

/// A part of an object, in a state of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The service's word for the state.
    pub etag: String,
    /// The size of the object.
    pub size: u64,
    /// Where in the object the data begin.
    pub start: u64,
    /// The data.
    pub data: Bytes,
}

/// Whether an ETag promises equal bytes, and can be sent as it is.
fn is_strong(etag: &str) -> bool {
    !etag.is_empty()
        && etag.len() <= LONGEST
        && !etag.starts_with("W/")
        && etag.bytes().all(|byte| byte.is_ascii_graphic())
}

impl Entry {
    /// What stands before the data in the file of this name; `None` for what cannot be kept.
    pub fn header(&self, name: &Name) -> Option<Vec<u8>> {
        let end = self.start.checked_add(self.data.len() as u64)?;
        if !is_strong(&self.etag) || end > self.size {
            return None;
        }
        let mut checked = Vec::with_capacity(FIXED.saturating_add(self.etag.len()));
        checked.extend_from_slice(&u32::try_from(self.etag.len()).ok()?.to_le_bytes());
        checked.extend_from_slice(&self.size.to_le_bytes());
        checked.extend_from_slice(&self.start.to_le_bytes());
        checked.extend_from_slice(&name.0);
        checked.extend_from_slice(self.etag.as_bytes());
        let sum = crc32c::crc32c_append(crc32c::crc32c(&checked), &self.data);
        Some([MAGIC.as_slice(), &sum.to_le_bytes(), &checked].concat())
    }

    /// The entry in a file of this name; `None` if anything about it is not as it must be.
    pub fn decode(name: &Name, file: Vec<u8>) -> Option<Self> {
        let (magic, rest) = file.split_first_chunk::<8>()?;
        let (sum, checked) = rest.split_first_chunk::<4>()?;
        if magic != MAGIC || u32::from_le_bytes(*sum) != crc32c::crc32c(checked) {
            return None;
        }
        let (length, rest) = checked.split_first_chunk::<4>()?;
        let (size, rest) = rest.split_first_chunk::<8>()?;
        let (start, rest) = rest.split_first_chunk::<8>()?;
        let (named, rest) = rest.split_first_chunk::<32>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let etag = std::str::from_utf8(rest.get(..length)?).ok()?.to_owned();
        let (size, start) = (u64::from_le_bytes(*size), u64::from_le_bytes(*start));
        let bytes = rest.len().checked_sub(length)? as u64;
        if *named != name.0 || !is_strong(&etag) || start.checked_add(bytes)? > size {
            return None;
        }
        let data = Bytes::from(file).slice(FIXED.checked_add(length)?..);
        Some(Self { etag, size, start, data })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry { etag: "\"abc\"".into(), size: 100, start: 10, data: Bytes::from_static(b"0123456789") }
    }

    fn file(name: &Name) -> Vec<u8> {
        [entry().header(name).unwrap(), entry().data.to_vec()].concat()
    }

    #[test]
    fn what_is_written_is_read() {
        let name = Name::of(&[b"a", b"b"]);
        assert_eq!(Entry::decode(&name, file(&name)), Some(entry()));
        assert_eq!(Name::from_hex(&name.hex()), Some(name));
        assert_ne!(Name::of(&[b"ab", b""]), name);
        assert_eq!(Name::from_hex(&name.hex().to_uppercase()), None);
    }

    #[test]
    fn any_damage_is_noticed() {
        let name = Name::of(&[b"a"]);
        let good = file(&name);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 4;
            assert_eq!(Entry::decode(&name, bad), None, "byte {at}");
            assert_eq!(Entry::decode(&name, good[..at].to_vec()), None, "cut at {at}");
        }
        assert_eq!(Entry::decode(&name, [good.clone(), vec![0]].concat()), None);
        assert_eq!(Entry::decode(&Name::of(&[b"b"]), good), None);
    }

    #[test]
    fn only_what_can_be_believed_is_kept() {
        let name = Name::of(&[]);
        for etag in ["", "W/\"a\"", "\"a\nb\"", "\"a b\"", "ü", &"x".repeat(2000)] {
            assert_eq!(Entry { etag: etag.into(), ..entry() }.header(&name), None, "{etag}");
        }
        assert_eq!(Entry { size: 19, ..entry() }.header(&name), None);
        assert_eq!(Entry { start: u64::MAX, ..entry() }.header(&name), None);
    }
}
