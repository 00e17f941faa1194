//! Bits of a stream, the highest of each byte first.

/// What is left of a stream.
pub(super) struct MsbBits<'a> {
    rest: &'a [u8],
    /// Bits that were taken from the stream already, at the high end.
    held: u64,
    count: u32,
}

impl<'a> MsbBits<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest, held: 0, count: 0 }
    }

    fn refill(&mut self) {
        while self.count <= 56 {
            let Some((&byte, rest)) = self.rest.split_first() else { return };
            self.rest = rest;
            self.held |= u64::from(byte) << 56_u32.wrapping_sub(self.count);
            self.count = self.count.wrapping_add(8);
        }
    }

    /// The next `n` bits, at most 64, as a number; `None` where the stream ends.
    pub(super) fn take(&mut self, n: u32) -> Option<u64> {
        if n > 32 {
            let high = self.few(n.checked_sub(32)?)?;
            return Some(high << 32 | self.few(32)?);
        }
        self.few(n)
    }

    fn few(&mut self, n: u32) -> Option<u64> {
        if n == 0 {
            return Some(0);
        }
        if self.count < n {
            self.refill();
        }
        self.count = self.count.checked_sub(n)?;
        let value = self.held >> 64_u32.checked_sub(n)?;
        self.held <<= n;
        Some(value)
    }
}
