//! Zstandard: [RFC 8878](https://www.rfc-editor.org/rfc/rfc8878) frames, and the 0.7 frames of 2016 on reading.

use super::{Contexts, Step, Want, loose_bound, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};
use zstd_safe::CParameter;

const NAME: &str = "zstd";

/// Frames that claim to grow more than this have to prove it.
const LIKELY_RATIO: usize = 256;

/// The `zstd` codec.
#[derive(Debug, Clone, Copy)]
pub struct Zstd {
    level: i32,
    checksum: bool,
}

impl Zstd {
    /// A codec that writes at `level` (-131072 to 22), with a content checksum if asked; it reads every frame.
    pub fn new(level: i32, checksum: bool) -> Result<Self, CodecError> {
        let known = zstd_safe::min_c_level()..=zstd_safe::max_c_level();
        if known.contains(&level) {
            return Ok(Self { level, checksum });
        }
        let message = format!("level {level} is not one of {} to {}", known.start(), known.end());
        Err(CodecError::new(NAME, Fault::Config, message))
    }
}

impl Step for Zstd {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, cx: &mut Contexts) -> Result<(), CodecError> {
        // The header's claim only sizes the first try, and not past what the encoded bytes make likely.
        let claim = zstd_safe::get_frame_content_size(src).ok().flatten();
        let guess = claim.and_then(|n| usize::try_from(n).ok()).unwrap_or(src.len().saturating_mul(8));
        let guess = guess.min(src.len().saturating_mul(LIKELY_RATIO));
        super::decode_within(NAME, dst, want, guess, |room| decompress(src, room, cx))
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError> {
        let encoder = cx.zstd_encoder()?;
        let failed = |code: usize| {
            let why = zstd_safe::get_error_name(code);
            CodecError::new(NAME, Fault::Config, format!("cannot encode {} bytes: {why}", src.len()))
        };
        encoder.set_parameter(CParameter::CompressionLevel(self.level)).map_err(failed)?;
        encoder.set_parameter(CParameter::ChecksumFlag(self.checksum)).map_err(failed)?;
        let room = dst.space(zstd_safe::compress_bound(src.len()));
        let made = encoder.compress2(room, src).map_err(failed)?;
        dst.set_len(made);
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
        let made = decompress(src, dst, cx)?;
        super::exactly(NAME, made, dst.len())
    }
}

/// Decode all frames of `src` one after the other into `dst`.
pub(super) fn decompress(src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<usize, CodecError> {
    check_frames(src)?;
    let room = dst.len();
    cx.zstd_decoder()?.decompress(dst, src).map_err(|code| {
        let why = format!("{} encoded bytes for {room}: {}", src.len(), zstd_safe::get_error_name(code));
        // The library returns its error numbers negated.
        match code.wrapping_neg() {
            22 => CodecError::new(NAME, Fault::Checksum, why),
            70 => too_large(NAME, room),
            _ => CodecError::corrupt(NAME, why),
        }
    })
}

/// Walk over the frames without decoding: the library would also take formats older than 0.7, whose decoders are
/// not hardened, and no Zarr writer ever used them.
fn check_frames(src: &[u8]) -> Result<(), CodecError> {
    let mut at = 0;
    loop {
        let rest = src.get(at..).unwrap_or_default();
        let magic = rest.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let known = magic.is_some_and(|m| matches!(m, 0xFD2F_B527 | 0xFD2F_B528 | 0x184D_2A50..=0x184D_2A5F));
        if !known {
            let message = format!("no frame begins at byte {at} of {}", src.len());
            return Err(CodecError::corrupt(NAME, message));
        }
        let frame = zstd_safe::find_frame_compressed_size(rest).map_err(|code| {
            let why = zstd_safe::get_error_name(code);
            CodecError::corrupt(NAME, format!("frame at byte {at} of {}: {why}", src.len()))
        })?;
        at = at.saturating_add(frame.max(1));
        if at >= src.len() {
            return Ok(());
        }
    }
}
