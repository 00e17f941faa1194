//! Numbers of a few bytes each, the low byte first, one after the other.

use crate::codec::lookup3;

/// What is left of some bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (now, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(now)
    }

    /// A number of `n` bytes, at most eight.
    pub(super) fn number(&mut self, n: usize) -> Option<u64> {
        let bytes = self.bytes(n)?;
        if let Ok(eight) = bytes.try_into() {
            return Some(u64::from_le_bytes(eight));
        }
        let mut whole = [0; 8];
        whole.get_mut(..n)?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(whole))
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    pub(super) fn small(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    /// An address of `n` bytes; all bits set mean that there is none.
    pub(super) fn address(&mut self, n: usize) -> Option<Option<u64>> {
        let value = self.number(n)?;
        let none = u64::MAX.checked_shr(64_u32.checked_sub(u32::try_from(n).ok()?.checked_mul(8)?)?)?;
        Some((value != none).then_some(value))
    }

    /// Whether these bytes come next.
    pub(super) fn expect(&mut self, bytes: &[u8]) -> Option<()> {
        (self.bytes(bytes.len())? == bytes).then_some(())
    }
}

/// What comes before a checksum at the end, if that is right.
pub(super) fn checked(bytes: &[u8]) -> Option<Cursor<'_>> {
    let (body, sum) = bytes.split_last_chunk::<4>()?;
    (lookup3(&[], body, 0) == u32::from_le_bytes(*sum)).then_some(Cursor(body))
}
