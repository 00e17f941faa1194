//! Mutations without any knowledge of coverage: what machines can run that have no libFuzzer.

/// Numbers without a pattern, the same for the same seed.
#[derive(Debug, Clone)]
pub struct Noise(u64);

/// Numbers that lengths, counts and offsets go wrong at.
const EDGES: [u64; 12] = [0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, u64::MAX];

impl Noise {
    /// Noise from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap_or(0) % n.max(1)
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[2]
    }

    /// A changed copy of an input, which may take a part of another.
    pub fn mutated(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut made = input.to_vec();
        for _ in 0..=self.below(3) {
            self.mutate(&mut made, other);
        }
        made
    }

    fn mutate(&mut self, made: &mut Vec<u8>, other: &[u8]) {
        // Most fields that steer a decoder are near one of the ends.
        let at = match self.below(4) {
            0 => self.below(made.len().min(48)),
            1 => made.len().saturating_sub(1 + self.below(made.len().min(48))),
            _ => self.below(made.len()),
        };
        match self.below(8) {
            0 | 1 if !made.is_empty() => made[at] ^= 1 << self.below(8),
            2 if !made.is_empty() => made[at] = self.byte(),
            3 => made.truncate(at),
            4 => made.insert(at, self.byte()),
            5 => self.overwrite(made, at),
            6 if !other.is_empty() => {
                let from = self.below(other.len());
                let part = &other[from..(from + 1 + self.below(32)).min(other.len())];
                made.splice(at..(at + self.below(part.len() + 1)).min(made.len()), part.iter().copied());
            }
            _ => {
                let part = made[at..(at + self.below(16)).min(made.len())].to_vec();
                made.splice(at..at, part);
            }
        }
    }

    /// Put a number at a place, as wide as 1 to 8 bytes and either way round.
    fn overwrite(&mut self, made: &mut [u8], at: usize) {
        let value = EDGES[self.below(EDGES.len())].wrapping_sub(u64::from(self.below(4) == 0));
        let width = 1 << self.below(4);
        let bytes = if self.below(4) == 0 { value.to_be_bytes() } else { value.to_le_bytes() };
        let bytes = if self.below(4) == 0 { &bytes[8 - width..] } else { &bytes[..width] };
        made.iter_mut().skip(at).zip(bytes).for_each(|(to, from)| *to = *from);
    }
}
