//! Elements of fewer bits than their byte has: whatever other bits are stored, readers get one of the type's values.

/// How bytes become values of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clean {
    /// 0 is false, and everything else is true.
    Bool,
    /// The lowest bits count; of signed numbers the highest of them fills the rest of the byte.
    Bits {
        /// How many.
        bits: u32,
        /// Whether the type has a sign.
        signed: bool,
    },
}

/// Bytes looked at before it is decided whether they need a change.
const RUN: usize = 4096;

impl Clean {
    /// Whether bytes need no change.
    pub fn is_clean(self, data: &[u8]) -> bool {
        match self {
            // Without a way out of the loop, so that many bytes are compared at once.
            Self::Bool => data.chunks(RUN).all(|run| run.iter().fold(0, |all, &byte| all | byte) <= 1),
            Self::Bits { .. } => data.chunks(RUN).all(|run| run.iter().all(|&byte| self.value(byte) == byte)),
        }
    }

    /// Make all bytes values of the type.
    pub fn apply(self, data: &mut [u8]) {
        for run in data.chunks_mut(RUN) {
            if !self.is_clean(run) {
                run.iter_mut().for_each(|byte| *byte = self.value(*byte));
            }
        }
    }

    fn value(self, byte: u8) -> u8 {
        match self {
            Self::Bool => u8::from(byte != 0),
            Self::Bits { bits, signed } => {
                let unused = 8_u32.saturating_sub(bits);
                let high = byte.wrapping_shl(unused);
                if signed { high.cast_signed().wrapping_shr(unused).cast_unsigned() } else { high.wrapping_shr(unused) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
    use super::Clean;

    #[test]
    fn bytes_become_values() {
        let mut data = [0, 1, 2, 0x80, 0xFF];
        Clean::Bool.apply(&mut data);
        assert_eq!(data, [0, 1, 1, 1, 1]);
        let mut data = [0x18, 0x07, 0xF8, 0xF0, 0x0F];
        Clean::Bits { bits: 4, signed: true }.apply(&mut data);
        assert_eq!(data, [0xF8, 0x07, 0xF8, 0x00, 0xFF]);
        Clean::Bits { bits: 4, signed: false }.apply(&mut data);
        assert_eq!(data, [0x08, 0x07, 0x08, 0x00, 0x0F]);
    }

    #[test]
    fn one_bad_byte_among_many_is_found() {
        for at in [0, 4095, 4096, 9999] {
            let mut data = vec![1; 10_000];
            assert!(Clean::Bool.is_clean(&data));
            data[at] = 3;
            assert!(!Clean::Bool.is_clean(&data));
            Clean::Bool.apply(&mut data);
            assert!(data.iter().all(|&byte| byte == 1));
        }
    }
}
