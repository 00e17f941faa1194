//! The bit stream of zfp: words of 64 bits, of which the lowest come first.

/// Bits being written.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    word: u64,
    held: u32,
}

impl BitWriter {
    /// Write the lowest `n` bits, 64 at most.
    pub(super) fn put(&mut self, value: u64, n: u32) {
        if n == 0 {
            return;
        }
        let value = value & low(n);
        self.word |= value.wrapping_shl(self.held);
        let total = self.held.saturating_add(n);
        if total < 64 {
            self.held = total;
            return;
        }
        self.bytes.extend_from_slice(&self.word.to_le_bytes());
        let written = 64_u32.saturating_sub(self.held);
        self.word = value.checked_shr(written).unwrap_or(0);
        self.held = total.saturating_sub(64);
    }

    /// Write zeros.
    pub(super) fn pad(&mut self, mut n: u32) {
        while n > 0 {
            let some = n.min(64);
            self.put(0, some);
            n = n.saturating_sub(some);
        }
    }

    /// All bits, filled up to whole words.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.held > 0 {
            self.bytes.extend_from_slice(&self.word.to_le_bytes());
        }
        self.bytes
    }
}

/// Bits being read; behind the end there are zeros, and [`BitReader::is_past_end`] says so.
#[derive(Debug)]
pub(super) struct BitReader<'s> {
    rest: &'s [u8],
    word: u64,
    held: u32,
    /// Bits that were taken but were not there.
    missing: u32,
}

impl<'s> BitReader<'s> {
    pub(super) fn new(bytes: &'s [u8]) -> Self {
        Self { rest: bytes, word: 0, held: 0, missing: 0 }
    }

    fn refill(&mut self) -> u64 {
        if let Some((word, rest)) = self.rest.split_first_chunk::<8>() {
            self.rest = rest;
            return u64::from_le_bytes(*word);
        }
        let mut word = [0; 8];
        word.iter_mut().zip(self.rest).for_each(|(to, from)| *to = *from);
        let bits = u32::try_from(self.rest.len()).unwrap_or(0).saturating_mul(8);
        self.missing = self.missing.saturating_add(64_u32.saturating_sub(bits));
        self.rest = &[];
        u64::from_le_bytes(word)
    }

    /// Read `n` bits, 64 at most.
    pub(super) fn take(&mut self, n: u32) -> u64 {
        if n <= self.held {
            let value = self.word & low(n);
            self.word = self.word.checked_shr(n).unwrap_or(0);
            self.held = self.held.saturating_sub(n);
            return value;
        }
        let (first, have) = (self.word, self.held);
        let word = self.refill();
        let more = n.saturating_sub(have);
        self.word = word.checked_shr(more).unwrap_or(0);
        self.held = 64_u32.saturating_sub(more);
        (first | word.checked_shl(have).unwrap_or(0)) & low(n)
    }

    pub(super) fn bit(&mut self) -> bool {
        self.take(1) == 1
    }

    /// Pass over bits.
    pub(super) fn skip(&mut self, mut n: u32) {
        while n > 0 {
            let some = n.min(64);
            self.take(some);
            n = n.saturating_sub(some);
        }
    }

    /// Whether bits were taken that were not there.
    pub(super) fn is_past_end(&self) -> bool {
        // What is still held may be filling.
        self.missing > self.held
    }
}

/// The lowest `n` bits set.
fn low(n: u32) -> u64 {
    u64::MAX.checked_shr(64_u32.saturating_sub(n)).unwrap_or(0)
}
