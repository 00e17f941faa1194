//! The `base64` codec of numcodecs: bytes as text.

use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::CodecError;

const NAME: &str = "base64";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The `base64` codec.
#[derive(Debug, Clone, Copy, Default)]
pub struct Base64;

fn letter(bits: u32) -> u8 {
    ALPHABET.get((bits & 63) as usize).copied().unwrap_or(b'A')
}

fn value(letter: u8) -> Option<u32> {
    let from = |first: u8, base: u32| Some(u32::from(letter.wrapping_sub(first)).wrapping_add(base));
    match letter {
        b'A'..=b'Z' => from(b'A', 0),
        b'a'..=b'z' => from(b'a', 26),
        b'0'..=b'9' => from(b'0', 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// The groups of four letters without the filling of the last, and the number of bytes that they stand for.
fn parts(src: &[u8]) -> Result<(&[u8], usize), CodecError> {
    let letters = src.strip_suffix(b"==").or_else(|| src.strip_suffix(b"=")).unwrap_or(src);
    if !src.len().is_multiple_of(4) || letters.len() % 4 == 1 {
        return Err(CodecError::corrupt(NAME, format!("{} letters are no whole number of groups", src.len())));
    }
    Ok((letters, letters.len().saturating_mul(3) / 4))
}

fn decode_to(letters: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
    for (at, (group, out)) in letters.chunks(4).zip(dst.chunks_mut(3)).enumerate() {
        let mut word = 0_u32;
        for i in 0..4 {
            let bits = group.get(i).map_or(Some(0), |&letter| value(letter));
            let wrong = || CodecError::corrupt(NAME, format!("no letter of base64 in group {at}"));
            word = word << 6 | bits.ok_or_else(wrong)?;
        }
        let [_, bytes @ ..] = word.to_be_bytes();
        out.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    }
    Ok(())
}

impl Step for Base64 {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let (letters, n) = parts(src)?;
        if n > want.max() {
            return Err(too_large(NAME, want.max()));
        }
        if let Want::Exact(expected) = want {
            super::exactly(NAME, n, expected)?;
        }
        decode_to(letters, dst.space(n))
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let room = dst.space(self.bound(src.len()));
        for (group, out) in src.chunks(3).zip(room.as_chunks_mut::<4>().0) {
            let byte = |i| u32::from(group.get(i).copied().unwrap_or(0));
            let word = byte(0) << 16 | byte(1) << 8 | byte(2);
            let third = if group.len() > 1 { letter(word >> 6) } else { b'=' };
            let fourth = if group.len() > 2 { letter(word) } else { b'=' };
            *out = [letter(word >> 18), letter(word >> 12), third, fourth];
        }
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        n.div_ceil(3).saturating_mul(4)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        let (letters, n) = parts(src)?;
        if n > dst.len() {
            return Err(too_large(NAME, dst.len()));
        }
        super::exactly(NAME, n, dst.len())?;
        decode_to(letters, dst)
    }
}
