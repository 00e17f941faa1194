//! Raw LZ4 blocks: the C library's decoder, and one in safe code for blocks that are nearly all one long match.

use super::ffi;
use super::lz77::{copy_literals, copy_match};

/// From this ratio on matches are long, and filling them with whole copies beats the C decoder's byte patterns: the
/// exponent bytes of float32, 256 KiB out of 1 KiB, take 6 µs instead of 48.
const LONG_MATCHES: usize = 32;

/// Decode one block; the number of bytes made, or `None` if it is malformed or does not fit.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    if src.len() < dst.len() / LONG_MATCHES { long_matches(src, dst) } else { ffi::lz4_decompress(src, dst) }
}

fn long_matches(mut input: &[u8], dst: &mut [u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let (&token, rest) = input.split_first()?;
        let (run, rest) = length(token >> 4, rest)?;
        (at, input) = copy_literals(dst, at, rest, run)?;
        // A block ends with literals.
        if input.is_empty() {
            return Some(at);
        }
        let (distance, rest) = input.split_first_chunk::<2>()?;
        let (more, rest) = length(token & 15, rest)?;
        at = copy_match(dst, at, more.checked_add(4)?, usize::from(u16::from_le_bytes(*distance)))?;
        input = rest;
    }
}

/// A length of which four bits are in the token, and the rest in bytes that go on as long as they are 255.
fn length(bits: u8, mut input: &[u8]) -> Option<(usize, &[u8])> {
    let mut length = usize::from(bits);
    if bits == 15 {
        loop {
            let (&more, rest) = input.split_first()?;
            length = length.checked_add(usize::from(more))?;
            input = rest;
            if more != 255 {
                break;
            }
        }
    }
    Some((length, input))
}
