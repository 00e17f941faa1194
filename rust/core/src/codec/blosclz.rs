//! The decoder of BloscLZ, the LZ77 variant inside Blosc containers that name no other compressor.
//!
//! Written in safe code because the C decoder adds up match lengths in 32 bits and trusts the sum.

use super::lz77::{copy_literals, copy_match};

/// The distance from which offsets take two more bytes.
const FAR: usize = 8191;

/// Decode `src` into `dst`; the number of bytes made, or `None` if it is malformed or does not fit.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (&first, mut input) = src.split_first()?;
    // The first instruction is always a run of literals, whatever its upper bits say.
    let (mut control, mut at) = (first & 31, 0_usize);
    loop {
        if control < 32 {
            (at, input) = copy_literals(dst, at, input, usize::from(control).checked_add(1)?)?;
        } else {
            let (length, distance) = match_of(control, &mut input)?;
            at = copy_match(dst, at, length, distance)?;
        }
        let Some((&next, rest)) = input.split_first() else { return Some(at) };
        (control, input) = (next, rest);
    }
}

/// The length and distance of a match.
fn match_of(control: u8, input: &mut &[u8]) -> Option<(usize, usize)> {
    let mut length = usize::from(control >> 5).checked_add(2)?;
    if control >> 5 == 7 {
        loop {
            let more = next(input)?;
            length = length.checked_add(usize::from(more))?;
            if more != 255 {
                break;
            }
        }
    }
    let (high, low) = (control & 31, next(input)?);
    if (high, low) == (31, 255) {
        let far = u16::from_be_bytes([next(input)?, next(input)?]);
        return Some((length, usize::from(far).checked_add(FAR)?.checked_add(1)?));
    }
    Some((length, usize::from(u16::from_be_bytes([high, low])).checked_add(1)?))
}

fn next(input: &mut &[u8]) -> Option<u8> {
    let (&byte, rest) = input.split_first()?;
    *input = rest;
    Some(byte)
}
