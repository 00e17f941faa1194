//! LZW as TIFF has it: codes of 9 to 12 bits, the highest bit first, each width given up one code early.

use std::collections::HashMap;

use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::CodecError;

const NAME: &str = "imagecodecs_lzw";
const CLEAR: usize = 256;
const END: usize = 257;
const FIRST: usize = 258;
const MOST: usize = 4096;

/// The LZW codec of TIFF.
#[derive(Debug, Clone, Copy, Default)]
pub struct TiffLzw;

/// A string of the table: where it lies in the output, and its length.
type Entry = (usize, usize);

/// Decode into `dst` up to its end; where the stream holds more, `more` tells whether that is an error.
fn expand(src: &[u8], dst: &mut [u8], more_is_error: bool) -> Result<usize, CodecError> {
    let corrupt = |message: &str| CodecError::corrupt(NAME, message.to_owned());
    if matches!(src, [0, second, ..] if second & 1 == 1) {
        return Err(corrupt("this is LZW of the kind that was given up in 1988, with the lowest bit first"));
    }
    let mut table: Vec<Entry> = vec![(0, 0); MOST];
    let mut bits = Codes { bytes: src.iter(), word: 0, held: 0 };
    let (mut next, mut width, mut at) = (FIRST, 9_u32, 0_usize);
    let mut last: Option<Entry> = None;
    while let Some(code) = bits.take(width) {
        if code == CLEAR {
            (next, width, last) = (FIRST, 9, None);
            continue;
        }
        if code == END {
            return Ok(at);
        }
        if at == dst.len() {
            return if more_is_error { Err(too_large(NAME, dst.len())) } else { Ok(at) };
        }
        let length = if code < CLEAR {
            if let (Some(place), Ok(byte)) = (dst.get_mut(at), u8::try_from(code)) {
                *place = byte;
            }
            1
        } else {
            let found = if code < next { table.get(code).copied() } else { None };
            // The code that is just being made: the last string and its own first byte.
            let made = last.filter(|_| code == next).map(|(start, length)| (start, length.saturating_add(1)));
            let Some((start, length)) = found.or(made) else {
                return Err(corrupt("a code that stands for nothing yet"));
            };
            repeat(dst, start, at, length);
            length
        };
        if let Some((start, length)) = last
            && next < MOST
        {
            // In the output the last string is followed by the first byte of this one.
            if let Some(entry) = table.get_mut(next) {
                *entry = (start, length.saturating_add(1));
            }
            next = next.saturating_add(1);
        }
        width = width_of(next.saturating_add(1));
        last = Some((at, length));
        let end = at.saturating_add(length);
        if end > dst.len() && more_is_error {
            return Err(too_large(NAME, dst.len()));
        }
        at = end.min(dst.len());
    }
    Ok(at)
}

/// Copy `length` bytes within the output, byte by byte where they overlap; what has no room is left out.
fn repeat(dst: &mut [u8], from: usize, to: usize, length: usize) {
    let length = length.min(dst.len().saturating_sub(to));
    let (done, rest) = dst.split_at_mut(to.min(dst.len()));
    if let (Some(source), Some(place)) = (done.get(from..from.saturating_add(length)), rest.get_mut(..length)) {
        place.copy_from_slice(source);
        return;
    }
    for i in 0..length {
        let byte = dst.get(from.saturating_add(i)).copied().unwrap_or(0);
        if let Some(place) = dst.get_mut(to.saturating_add(i)) {
            *place = byte;
        }
    }
}

/// Bits of codes when the table has, or is about to have, so many strings.
fn width_of(count: usize) -> u32 {
    match count {
        0..512 => 9,
        512..1024 => 10,
        1024..2048 => 11,
        _ => 12,
    }
}

struct Codes<'a> {
    bytes: std::slice::Iter<'a, u8>,
    word: u64,
    held: u32,
}

impl Codes<'_> {
    fn take(&mut self, width: u32) -> Option<usize> {
        while self.held < width {
            let byte = *self.bytes.next()?;
            self.word = self.word.wrapping_shl(8) | u64::from(byte);
            self.held = self.held.saturating_add(8);
        }
        self.held = self.held.saturating_sub(width);
        let mask = 1_u64.wrapping_shl(width).wrapping_sub(1);
        usize::try_from(self.word.wrapping_shr(self.held) & mask).ok()
    }
}

struct Writer<'a> {
    dst: &'a mut Buffer,
    word: u64,
    held: u32,
}

impl Writer<'_> {
    fn put(&mut self, code: usize, width: u32) {
        self.word = self.word.wrapping_shl(width) | code as u64;
        self.held = self.held.saturating_add(width);
        while self.held >= 8 {
            self.held = self.held.saturating_sub(8);
            self.dst.extend(&[self.word.wrapping_shr(self.held) as u8]);
        }
    }

    fn flush(&mut self) {
        if self.held > 0 {
            let unused = 8_u32.saturating_sub(self.held);
            self.put(0, unused);
        }
    }
}

fn compress(src: &[u8], dst: &mut Buffer) {
    dst.space(0);
    let mut writer = Writer { dst, word: 0, held: 0 };
    let mut table: HashMap<(usize, u8), usize> = HashMap::new();
    let (mut next, mut width) = (FIRST, 9);
    writer.put(CLEAR, width);
    let mut prefix: Option<usize> = None;
    for &byte in src {
        let Some(code) = prefix else {
            prefix = Some(usize::from(byte));
            continue;
        };
        if let Some(&longer) = table.get(&(code, byte)) {
            prefix = Some(longer);
            continue;
        }
        writer.put(code, width);
        table.insert((code, byte), next);
        next = next.saturating_add(1);
        width = width_of(next);
        if next >= MOST.saturating_sub(2) {
            writer.put(CLEAR, width);
            table.clear();
            (next, width) = (FIRST, 9);
        }
        prefix = Some(usize::from(byte));
    }
    if let Some(code) = prefix {
        writer.put(code, width);
        width = width_of(next.saturating_add(1));
    }
    writer.put(END, width);
    writer.flush();
}

impl Step for TiffLzw {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let more_is_error = matches!(want, Want::AtMost(_));
        super::decode_within(NAME, dst, want, src.len().saturating_mul(4), |room| expand(src, room, more_is_error))
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        compress(src, dst);
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        super::loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        super::exactly(NAME, expand(src, dst, false)?, dst.len())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn round_trip(data: &[u8]) {
        let (mut packed, mut back, mut cx) = (Buffer::default(), Buffer::default(), Contexts::default());
        TiffLzw.encode(data, &mut packed, &mut cx).unwrap();
        for want in [Want::Exact(data.len()), Want::AtMost(data.len().saturating_add(9))] {
            TiffLzw.decode(packed.as_slice(), &mut back, want, &mut cx).unwrap();
            assert_eq!(back.as_slice(), data);
        }
    }

    #[test]
    fn everything_comes_back() {
        round_trip(b"");
        round_trip(b"a");
        round_trip(&[7; 100_000]);
        let mut state = 1_u32;
        for modulus in [2, 5, 255] {
            let noise: Vec<u8> = (0..50_000)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    u8::try_from((state >> 16) % modulus).unwrap()
                })
                .collect();
            round_trip(&noise);
        }
    }

    #[test]
    fn garbage_is_refused_or_bounded() {
        let mut cx = Contexts::default();
        let mut out = Buffer::default();
        // CLEAR, then a code beyond the table.
        assert!(TiffLzw.decode(&[0x80, 0x7F, 0xFF, 0xFF], &mut out, Want::AtMost(10), &mut cx).is_err());
        assert!(TiffLzw.decode(&[0, 1, 2, 3], &mut out, Want::AtMost(10), &mut cx).is_err());
        assert!(TiffLzw.decode(&[0x80], &mut out, Want::Exact(3), &mut cx).is_err());
    }
}
