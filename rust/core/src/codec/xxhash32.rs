//! The hash xxHash32.

const ONE: u32 = 0x9E37_79B1;
const TWO: u32 = 0x85EB_CA77;
const THREE: u32 = 0xC2B2_AE3D;
const FOUR: u32 = 0x27D4_EB2F;
const FIVE: u32 = 0x1656_67B1;

/// The hash of bytes under a seed.
pub(super) fn xxhash32(bytes: &[u8], seed: u32) -> u32 {
    let (stripes, rest) = bytes.as_chunks::<16>();
    let mut hash = if stripes.is_empty() {
        seed.wrapping_add(FIVE)
    } else {
        let mut lanes =
            [seed.wrapping_add(ONE).wrapping_add(TWO), seed.wrapping_add(TWO), seed, seed.wrapping_sub(ONE)];
        for stripe in stripes {
            for (lane, word) in lanes.iter_mut().zip(stripe.as_chunks::<4>().0) {
                let sum = lane.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(TWO));
                *lane = sum.rotate_left(13).wrapping_mul(ONE);
            }
        }
        let turned = lanes.iter().zip([1, 7, 12, 18]).map(|(lane, by)| lane.rotate_left(by));
        turned.fold(0, u32::wrapping_add)
    };
    hash = hash.wrapping_add(bytes.len() as u32);
    let (words, rest) = rest.as_chunks::<4>();
    for word in words {
        hash = hash.wrapping_add(u32::from_le_bytes(*word).wrapping_mul(THREE));
        hash = hash.rotate_left(17).wrapping_mul(FOUR);
    }
    for &byte in rest {
        hash = hash.wrapping_add(u32::from(byte).wrapping_mul(FIVE));
        hash = hash.rotate_left(11).wrapping_mul(ONE);
    }
    hash = (hash ^ (hash >> 15)).wrapping_mul(TWO);
    hash = (hash ^ (hash >> 13)).wrapping_mul(THREE);
    hash ^ (hash >> 16)
}
