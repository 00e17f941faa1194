//! DEFLATE data in its gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)) and zlib
//! ([RFC 1950](https://www.rfc-editor.org/rfc/rfc1950)) frames.

use super::{Contexts, ffi, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

/// DEFLATE cannot do better: 258 bytes for one bit each of a length and a distance code, four to a byte.
pub(crate) const BEST_RATIO: usize = 1032;

const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];

/// The frame that a codec writes; it reads both, because old writers named one and stored the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    Gzip,
    Zlib,
}

impl Frame {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zlib => "zlib",
        }
    }
}

/// The first guess of how much an encoded stream decodes to: a gzip stream ends with its size, if it has one member.
pub(super) fn guess(src: &[u8]) -> usize {
    let stored = src.last_chunk().filter(|_| src.starts_with(&GZIP_MAGIC)).map(|bytes| u32::from_le_bytes(*bytes));
    let stored = stored.and_then(|n| usize::try_from(n).ok()).unwrap_or(src.len().saturating_mul(4));
    stored.min(src.len().saturating_mul(BEST_RATIO))
}

/// The encoder's level for each level of zlib: the fastest one whose streams are on average not larger.
///
/// Measured on 1 MiB of float32 (a smooth field plus noise, rounded to two decimals), ratio and MB/s per core. On
/// fields that are not rounded all levels of both encoders lie within 2 % of 1.29.
///
/// | level  | zlib       | here             |
/// |--------|------------|------------------|
/// | 1      | 2.39 at 89 | 1: 2.48 at 228   |
/// | 2      | 2.54 at 72 | 3: 2.73 at 98    |
/// | 3      | 2.58 at 63 | 3: 2.73 at 98    |
/// | 4      | 2.71 at 56 | 3: 2.73 at 98    |
/// | 5      | 2.71 at 36 | 3: 2.73 at 98    |
/// | 6      | 2.71 at 21 | 5: 2.72 at 85    |
/// | 7      | 2.71 at 19 | 6: 2.72 at 81    |
/// | 8, 9   | 2.71 at 18 | 7: 2.72 at 82    |
///
/// The encoder's level 2 is no faster than 3, and its levels 8 and 9 lose 4 % on this sample.
const LEVELS: [u8; 10] = [0, 1, 3, 3, 3, 3, 5, 6, 7, 7];

/// Check a level of zlib (-1: its default, 6) and translate it.
pub(super) fn level(frame: Frame, level: i32) -> Result<u8, CodecError> {
    let asked = if level == -1 { 6 } else { level };
    let known = usize::try_from(asked).ok().and_then(|i| LEVELS.get(i));
    known.copied().ok_or_else(|| {
        let message = format!("level {level} is not one of 0 to 9");
        CodecError::new(frame.name(), Fault::Config, message)
    })
}

/// Decode all members of `src` one after the other into `dst`.
pub(super) fn decompress(frame: Frame, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<usize, CodecError> {
    let codec = frame.name();
    let (mut rest, mut total) = (src, 0_usize);
    loop {
        let at = src.len().saturating_sub(rest.len());
        let fail = |fault, why: &str| CodecError::new(codec, fault, format!("{why} (byte {at} of {})", src.len()));
        let (found, body) = header(rest).map_err(|why| fail(Fault::Corrupt, why))?;
        let room = dst.get_mut(total..).unwrap_or_default();
        let (used, made) = cx.inflater(codec)?.inflate(body, room).map_err(|fault| match fault {
            ffi::InflateFault::Full => too_large(codec, dst.len()),
            ffi::InflateFault::Bad => fail(Fault::Corrupt, "malformed or truncated data"),
        })?;
        let output = dst.get(total..).and_then(|out| out.get(..made)).unwrap_or_default();
        rest = trailer(found, output, body.get(used..).unwrap_or_default())
            .ok_or_else(|| fail(Fault::Checksum, &format!("{made} decoded bytes do not match the checksum")))?;
        total = total.saturating_add(made);
        // Tape and block writers pad gzip with zeros; gzip itself skips them.
        if rest.is_empty() || (found == Frame::Gzip && rest.iter().all(|&byte| byte == 0)) {
            return Ok(total);
        }
        if found == Frame::Zlib || !rest.starts_with(&GZIP_MAGIC) {
            let at = src.len().saturating_sub(rest.len());
            let message = format!("{} bytes follow the end of the stream at byte {at}", rest.len());
            return Err(CodecError::corrupt(codec, message));
        }
    }
}

/// The kind of the frame and what comes after its header.
fn header(src: &[u8]) -> Result<(Frame, &[u8]), &'static str> {
    match *src {
        [0x1F, 0x8B, ref rest @ ..] => gzip_header(rest).ok_or("malformed gzip header").map(|body| (Frame::Gzip, body)),
        // Method 8, a window of at most 32 KiB, a check sum of both bytes, no preset dictionary.
        [method, flags, ref body @ ..]
            if method & 15 == 8 && method >> 4 <= 7 && u16::from_be_bytes([method, flags]) % 31 == 0 =>
        {
            if flags & 0x20 == 0 { Ok((Frame::Zlib, body)) } else { Err("needs a preset dictionary") }
        }
        _ => Err("neither a gzip nor a zlib header"),
    }
}

/// What follows a gzip header whose two magic bytes are already taken.
fn gzip_header(src: &[u8]) -> Option<&[u8]> {
    let (fixed, mut rest) = src.split_first_chunk::<8>()?;
    let [8, flags, ..] = *fixed else { return None };
    if flags & 0xE0 != 0 {
        return None;
    }
    if flags & 4 != 0 {
        let (length, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for text in [8, 16] {
        if flags & text != 0 {
            let end = rest.iter().position(|&byte| byte == 0)?;
            rest = rest.get(end.checked_add(1)?..)?;
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

/// Check the trailer against the output; what follows it, or `None` if it is wrong or missing.
fn trailer<'a>(frame: Frame, output: &[u8], src: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, rest) = src.split_first_chunk::<4>()?;
    if frame == Frame::Zlib {
        return (u32::from_be_bytes(*sum) == ffi::adler32(output)).then_some(rest);
    }
    let (size, rest) = rest.split_first_chunk::<4>()?;
    // The size is stored modulo 2³².
    let low = u32::try_from(output.len() & 0xFFFF_FFFF).ok()?;
    (u32::from_le_bytes(*size) == low && u32::from_le_bytes(*sum) == ffi::crc32(output)).then_some(rest)
}

/// Encode into one member at an already translated level.
pub(super) fn compress(
    frame: Frame,
    level: u8,
    src: &[u8],
    dst: &mut Buffer,
    cx: &mut Contexts,
) -> Result<(), CodecError> {
    let deflater = cx.deflater(frame.name(), level)?;
    let room = dst.space(deflater.bound(src.len()));
    let made = match frame {
        Frame::Gzip => deflater.gzip(src, room),
        Frame::Zlib => deflater.zlib(src, room),
    };
    if made == 0 {
        return Err(CodecError::new(frame.name(), Fault::Config, format!("cannot encode {} bytes", src.len())));
    }
    dst.set_len(made);
    Ok(())
}

/// Decode the one DEFLATE stream without a frame that `src` is into all of `dst`.
pub(crate) fn inflate_raw(src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
    const NAME: &str = "deflate";
    let (used, made) = cx.inflater(NAME)?.inflate(src, dst).map_err(|fault| match fault {
        ffi::InflateFault::Full => too_large(NAME, dst.len()),
        ffi::InflateFault::Bad => CodecError::corrupt(NAME, "malformed or truncated data"),
    })?;
    if used != src.len() {
        return Err(CodecError::corrupt(NAME, format!("the stream ends after {used} of {} bytes", src.len())));
    }
    super::exactly(NAME, made, dst.len())
}

/// Encode into one DEFLATE stream without a frame, at the default level.
pub(crate) fn deflate_raw<'a>(src: &[u8], dst: &'a mut Buffer, cx: &mut Contexts) -> Result<&'a [u8], CodecError> {
    compress(Frame::Zlib, level(Frame::Zlib, -1)?, src, dst, cx)?;
    // Two bytes of header before it, four of checksum behind it.
    Ok(dst.as_slice().get(2..dst.len().saturating_sub(4)).unwrap_or_default())
}

/// The CRC-32 of what has the sum `before` (0: nothing), followed by `bytes`.
pub(crate) fn crc32_after(before: u32, bytes: &[u8]) -> u32 {
    ffi::crc32_after(before, bytes)
}
