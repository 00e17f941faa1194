//! Numbers of 1, 2, 4 or 8 bytes as 64-bit words, whatever their byte order.

/// How numbers lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Units {
    /// Bytes of one number: 1, 2, 4 or 8.
    size: usize,
    /// Whether the most significant byte comes first.
    big: bool,
}

macro_rules! by_size {
    ($units:expr, $each:ident) => {
        match $units.size {
            1 => $each!(u8, 1),
            2 => $each!(u16, 2),
            4 => $each!(u32, 4),
            _ => $each!(u64, 8),
        }
    };
}

impl Units {
    /// Single bytes.
    pub(super) const BYTES: Self = Self { size: 1, big: false };

    /// Numbers of `size` bytes; `None` for other sizes than 1, 2, 4 and 8.
    pub(super) fn new(size: usize, big: bool) -> Option<Self> {
        matches!(size, 1 | 2 | 4 | 8).then_some(Self { size, big })
    }

    pub(super) fn size(self) -> usize {
        self.size
    }

    pub(super) fn is_big(self) -> bool {
        self.big
    }

    /// Bits of one number.
    pub(super) fn bits(self) -> u32 {
        match self.size {
            1 => 8,
            2 => 16,
            4 => 32,
            _ => 64,
        }
    }

    /// Read numbers one after the other.
    pub(super) fn read(self, src: &[u8], mut take: impl FnMut(u64)) {
        macro_rules! each {
            ($t:ty, $n:literal) => {
                for bytes in src.as_chunks::<$n>().0 {
                    let word = if self.big { <$t>::from_be_bytes(*bytes) } else { <$t>::from_le_bytes(*bytes) };
                    take(u64::from(word));
                }
            };
        }
        by_size!(self, each);
    }

    /// Write numbers one after the other, of each the bits that there is room for.
    pub(super) fn write(self, dst: &mut [u8], mut give: impl FnMut() -> u64) {
        macro_rules! each {
            ($t:ty, $n:literal) => {
                for bytes in dst.as_chunks_mut::<$n>().0 {
                    let word = give() as $t;
                    *bytes = if self.big { word.to_be_bytes() } else { word.to_le_bytes() };
                }
            };
        }
        by_size!(self, each);
    }

    /// Change each number of `src` into one of `dst`.
    pub(super) fn map(self, src: &[u8], dst: &mut [u8], change: impl Fn(u64) -> u64) {
        macro_rules! each {
            ($t:ty, $n:literal) => {
                for (from, to) in src.as_chunks::<$n>().0.iter().zip(dst.as_chunks_mut::<$n>().0) {
                    let word = if self.big { <$t>::from_be_bytes(*from) } else { <$t>::from_le_bytes(*from) };
                    let word = change(u64::from(word)) as $t;
                    *to = if self.big { word.to_be_bytes() } else { word.to_le_bytes() };
                }
            };
        }
        by_size!(self, each);
    }
}
