//! LZF as the filter of h5py stores it: the bare stream of [LibLZF](http://oldhome.schmorp.de/marc/liblzf.html), with
//! neither a header nor a size.

use super::lz77::{copy_literals, copy_match};
use super::{Contexts, Step, Want, decode_within, loose_bound, too_large};
use crate::buffer::Buffer;
use crate::error::CodecError;

const NAME: &str = "lzf";

/// Three bytes stand for at most this many.
const MOST_TO_ONE: usize = 88;
/// Literals of one run at most.
const RUN: usize = 32;
/// Bytes of a match at most, and how far back it can begin.
const LONGEST: usize = 264;
const FARTHEST: usize = 1 << 13;
/// Bits of the encoder's table of places.
const TABLE: u32 = 14;

/// The `lzf` codec.
#[derive(Debug, Clone, Copy)]
pub struct Lzf;

/// Why a stream could not be decoded.
enum Stop {
    Full,
    Bad,
}

fn inflate(mut input: &[u8], dst: &mut [u8]) -> Result<usize, Stop> {
    let mut at = 0_usize;
    while let Some((&control, rest)) = input.split_first() {
        let code = usize::from(control);
        if code < RUN {
            let run = code.saturating_add(1);
            if run > dst.len().saturating_sub(at) {
                return Err(Stop::Full);
            }
            (at, input) = copy_literals(dst, at, rest, run).ok_or(Stop::Bad)?;
            continue;
        }
        let (more, rest) = if code >> 5 == 7 { rest.split_first().ok_or(Stop::Bad)? } else { (&0, rest) };
        let (&low, rest) = rest.split_first().ok_or(Stop::Bad)?;
        let length = (code >> 5).saturating_add(usize::from(*more)).saturating_add(2);
        let distance = ((code & 31) << 8 | usize::from(low)).saturating_add(1);
        if length > dst.len().saturating_sub(at) {
            return Err(Stop::Full);
        }
        at = copy_match(dst, at, length, distance).ok_or(Stop::Bad)?;
        input = rest;
    }
    Ok(at)
}

fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize, CodecError> {
    inflate(src, dst).map_err(|stop| match stop {
        Stop::Full => too_large(NAME, dst.len()),
        Stop::Bad => CodecError::corrupt(NAME, format!("malformed or truncated data ({} encoded bytes)", src.len())),
    })
}

/// Append the literals that no match covers.
fn put_literals(out: &mut Vec<u8>, literals: &[u8]) {
    for run in literals.chunks(RUN) {
        out.push(u8::try_from(run.len().saturating_sub(1)).unwrap_or_default());
        out.extend_from_slice(run);
    }
}

fn put_match(out: &mut Vec<u8>, length: usize, distance: usize) {
    let (back, code) = (distance.saturating_sub(1), length.saturating_sub(2));
    let byte = |n: usize| u8::try_from(n & 0xFF).unwrap_or_default();
    if code < 7 {
        out.push(byte(code << 5 | back >> 8));
    } else {
        out.push(byte(7 << 5 | back >> 8));
        out.push(byte(code.saturating_sub(7)));
    }
    out.push(byte(back));
}

/// Find matches greedily, by the last place of each three bytes.
fn deflate(src: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(src.len() / 2);
    let mut places = vec![usize::MAX; 1 << TABLE];
    let (mut at, mut literal) = (0_usize, 0_usize);
    while let Some(&[a, b, c]) = src.get(at..).and_then(|rest| rest.first_chunk::<3>()) {
        let key = u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9E37_79B1) >> 32_u32.saturating_sub(TABLE);
        let Some(slot) = usize::try_from(key).ok().and_then(|key| places.get_mut(key)) else { break };
        let from = std::mem::replace(slot, at);
        let distance = at.saturating_sub(from);
        let (old, new) = (src.get(from..).unwrap_or_default(), src.get(at..).unwrap_or_default());
        let length = old.iter().zip(new).take(LONGEST).take_while(|(a, b)| a == b).count();
        if from == usize::MAX || distance > FARTHEST || length < 3 {
            at = at.saturating_add(1);
            continue;
        }
        put_literals(&mut out, src.get(literal..at).unwrap_or_default());
        put_match(&mut out, length, distance);
        at = at.saturating_add(length);
        literal = at;
    }
    put_literals(&mut out, src.get(literal..).unwrap_or_default());
    out
}

impl Step for Lzf {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let most = Want::AtMost(want.max().min(src.len().saturating_mul(MOST_TO_ONE)));
        let want = if let Want::Exact(_) = want { want } else { most };
        decode_within(NAME, dst, want, src.len().saturating_mul(4), |room| decompress(src, room))
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        dst.assign(&deflate(src));
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        let made = decompress(src, dst)?;
        super::exactly(NAME, made, dst.len())
    }
}
