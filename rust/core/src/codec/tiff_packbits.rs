//! The run-length code of TIFF and of old Macintosh programs, which they call PackBits.

use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::CodecError;

const NAME: &str = "imagecodecs_packbits";
const MOST: usize = 128;

/// The PackBits codec of TIFF.
#[derive(Debug, Clone, Copy, Default)]
pub struct TiffPackBits;

/// Decode into `dst` up to its end; where the stream holds more, `more_is_error` tells what that is.
fn expand(src: &[u8], dst: &mut [u8], more_is_error: bool) -> Result<usize, CodecError> {
    let (mut rest, mut at) = (src, 0_usize);
    while let Some((&head, tail)) = rest.split_first() {
        rest = tail;
        if head == 128 {
            continue;
        }
        if at == dst.len() && !more_is_error {
            break;
        }
        let literal = head < 128;
        let count = if literal { usize::from(head).saturating_add(1) } else { 257_usize.saturating_sub(head.into()) };
        let room = dst.len().saturating_sub(at);
        if count > room && more_is_error {
            return Err(too_large(NAME, dst.len()));
        }
        let fits = count.min(room);
        let end = at.saturating_add(fits);
        let cut = || CodecError::corrupt(NAME, "the stream ends within a run".to_owned());
        let used = if literal { count } else { 1 };
        let (run, tail) = rest.split_at_checked(used).ok_or_else(cut)?;
        rest = tail;
        if let Some(place) = dst.get_mut(at..end) {
            match (literal, run.first()) {
                (false, Some(&byte)) => place.fill(byte),
                _ => place.copy_from_slice(run.get(..fits).ok_or_else(cut)?),
            }
        }
        at = end;
    }
    Ok(at)
}

fn compress(src: &[u8], dst: &mut Buffer) {
    dst.space(0);
    for group in src.chunk_by(|a, b| a == b) {
        // Runs of two cost no more than literals do, and the decoder is the same for both.
        for run in group.chunks(MOST) {
            let Some(&byte) = run.first() else { continue };
            let head = 257_usize.saturating_sub(run.len()).min(255);
            if run.len() == 1 {
                dst.extend(&[0, byte]);
            } else {
                dst.extend(&[u8::try_from(head).unwrap_or(255), byte]);
            }
        }
    }
}

impl Step for TiffPackBits {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let more_is_error = matches!(want, Want::AtMost(_));
        super::decode_within(NAME, dst, want, src.len().saturating_mul(2), |room| expand(src, room, more_is_error))
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        compress(src, dst);
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        n.saturating_mul(2).saturating_add(64 << 10)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        super::exactly(NAME, expand(src, dst, false)?, dst.len())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_literals() {
        // The example of Apple's note TN1023.
        let packed = [0xFE, 0xAA, 0x02, 0x80, 0x00, 0x2A, 0xFD, 0xAA, 0x03, 0x80, 0x00, 0x2A, 0x22, 0xF7, 0xAA];
        let mut out = vec![0; 24];
        TiffPackBits.decode_exact(&packed, &mut out, &mut Contexts::default()).unwrap();
        assert_eq!(out.get(..8).unwrap(), [0xAA, 0xAA, 0xAA, 0x80, 0x00, 0x2A, 0xAA, 0xAA]);
        assert!(TiffPackBits.decode_exact(&packed[..4], &mut out, &mut Contexts::default()).is_err());
    }

    #[test]
    fn everything_comes_back() {
        let data: Vec<u8> = (0..2000_u32).map(|i| u8::try_from((i * i / 300) % 256).unwrap()).collect();
        let (mut packed, mut back, mut cx) = (Buffer::default(), Buffer::default(), Contexts::default());
        TiffPackBits.encode(&data, &mut packed, &mut cx).unwrap();
        TiffPackBits.decode(packed.as_slice(), &mut back, Want::AtMost(5000), &mut cx).unwrap();
        assert_eq!(back.as_slice(), data);
    }
}
