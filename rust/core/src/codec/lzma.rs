//! The `lzma` codec of numcodecs: xz, the older .lzma, or raw streams, with the settings of Python's `lzma` module.

use super::lzma_filters::{LZMA1, LZMA2, LzmaFilter, chain};
use super::stream::{Progress, Stop, moved, pump};
use super::{Contexts, Step, Want, loose_bound, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};
use liblzma::stream::{Action, CONCATENATED, Check, Error, LzmaOptions, PRESET_DEFAULT, Status, Stream};

const NAME: &str = "lzma";

/// Decoders may take this much memory, enough for every preset (the largest dictionary is 64 MiB) …
const MEMORY: u64 = 96 << 20;

/// … or this many times the expected output, if that is more.
const MEMORY_RATIO: u64 = 2;

/// The container of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Auto,
    Xz,
    Alone,
    Raw,
}

/// The `lzma` codec.
#[derive(Debug, Clone)]
pub struct Lzma {
    format: Format,
    check: Check,
    preset: Option<u32>,
    filters: Option<Vec<LzmaFilter>>,
}

/// An error of the configuration.
pub(super) fn wrong(message: String) -> CodecError {
    CodecError::new(NAME, Fault::Config, message)
}

impl Lzma {
    /// A codec with the numbers of Python's `lzma` module: `format` 1 (xz), 2 (.lzma), 3 (raw), or 0, which only
    /// reads; `check` -1 (default), 0, 1, 4 or 10; either a `preset` or `filters`, which raw streams need.
    pub fn new(
        format: i32,
        check: i32,
        preset: Option<u32>,
        filters: Option<Vec<LzmaFilter>>,
    ) -> Result<Self, CodecError> {
        let format = match format {
            0 => Format::Auto,
            1 => Format::Xz,
            2 => Format::Alone,
            3 => Format::Raw,
            _ => return Err(wrong(format!("format {format} is not one of 0 to 3"))),
        };
        let check = match check {
            0 => Check::None,
            1 => Check::Crc32,
            -1 | 4 => Check::Crc64,
            10 => Check::Sha256,
            _ => return Err(wrong(format!("check {check} is not one of -1, 0, 1, 4, 10"))),
        };
        if let (Some(preset), Some(_)) = (preset, &filters) {
            return Err(wrong(format!("preset {preset} and filters are given; only one of them may be")));
        }
        let codec = Self { format, check, preset, filters };
        codec.check_chain()?;
        Ok(codec)
    }

    /// Fail early where the settings can never work.
    fn check_chain(&self) -> Result<(), CodecError> {
        if let Some(preset) = self.preset {
            LzmaOptions::new_preset(preset).map_err(|_| wrong(format!("no preset {preset}")))?;
        }
        let Some(filters) = &self.filters else {
            return if self.format == Format::Raw { Err(wrong("raw streams need filters".into())) } else { Ok(()) };
        };
        chain(filters, 0)?;
        let last = filters.last().map(|filter| filter.id);
        let fits = match self.format {
            Format::Alone => filters.len() == 1 && last == Some(LZMA1),
            Format::Xz => last == Some(LZMA2),
            Format::Auto | Format::Raw => true,
        };
        if fits { Ok(()) } else { Err(wrong("these filters do not fit the format".into())) }
    }

    fn encoder(&self) -> Result<Stream, CodecError> {
        let preset = self.preset.unwrap_or(PRESET_DEFAULT);
        let refused = |error: Error| wrong(format!("the encoder refuses its settings: {error}"));
        let filters = self.filters.as_deref();
        match (self.format, filters) {
            (Format::Xz, None) => Stream::new_easy_encoder(preset, self.check).map_err(refused),
            (Format::Xz, Some(filters)) => {
                Stream::new_stream_encoder(&chain(filters, usize::MAX)?, self.check).map_err(refused)
            }
            (Format::Alone, Some([filter])) => Stream::new_lzma_encoder(&filter.lzma(usize::MAX)?).map_err(refused),
            (Format::Alone, _) => {
                let options = LzmaOptions::new_preset(preset).map_err(refused)?;
                Stream::new_lzma_encoder(&options).map_err(refused)
            }
            (Format::Raw, Some(filters)) => Stream::new_raw_encoder(&chain(filters, usize::MAX)?).map_err(refused),
            (Format::Raw, None) | (Format::Auto, _) => Err(wrong("format 0 only reads".into())),
        }
    }

    fn decoder(&self, src: &[u8], room: usize) -> Result<Stream, CodecError> {
        let room = u64::try_from(room).unwrap_or(u64::MAX);
        let memory = room.saturating_mul(MEMORY_RATIO).max(MEMORY);
        let xz = self.format == Format::Xz || (self.format == Format::Auto && src.starts_with(b"\xFD7zXZ\0"));
        let made = match (&self.filters, self.format) {
            (Some(filters), Format::Raw) => {
                Stream::new_raw_decoder(&chain(filters, usize::try_from(room).unwrap_or(usize::MAX))?)
            }
            _ if xz => Stream::new_stream_decoder(memory, CONCATENATED),
            _ => Stream::new_lzma_decoder(memory),
        };
        made.map_err(|error| wrong(format!("the decoder refuses its settings: {error}")))
    }

    /// Decode all of `src` into `dst`.
    fn decompress(&self, src: &[u8], dst: &mut [u8]) -> Result<usize, CodecError> {
        let mut decoder = self.decoder(src, dst.len())?;
        let mut memory = false;
        let done = pump(src, dst, |input, room| {
            let result = step(&mut decoder, input, room);
            memory = matches!(result, Err(Error::MemLimit | Error::Mem));
            result.map_err(|error| error.to_string())
        });
        let (used, made) = done.map_err(|stop| match stop {
            Stop::Full => too_large(NAME, dst.len()),
            Stop::Bad(_) if memory => {
                let message = format!("its dictionary takes too much memory for {} expected bytes", dst.len());
                CodecError::new(NAME, Fault::TooLarge, message)
            }
            Stop::Bad(why) => CodecError::corrupt(NAME, format!("{} encoded bytes: {why}", src.len())),
        })?;
        if used < src.len() {
            let message = format!("the stream ends at byte {used}, but there are {}", src.len());
            return Err(CodecError::corrupt(NAME, message));
        }
        Ok(made)
    }
}

fn step(stream: &mut Stream, input: &[u8], room: &mut [u8]) -> Result<Progress, Error> {
    let before = (stream.total_in(), stream.total_out());
    let status = stream.process(input, room, Action::Finish)?;
    let (used, made) = (moved(before.0, stream.total_in()), moved(before.1, stream.total_out()));
    Ok(Progress { used, made, ended: status == Status::StreamEnd })
}

impl Step for Lzma {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        super::decode_within(NAME, dst, want, src.len().saturating_mul(8), |room| self.decompress(src, room))
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let mut encoder = self.encoder()?;
        let room = dst.space(loose_bound(src.len()));
        let done = pump(src, room, |input, room| step(&mut encoder, input, room).map_err(|error| error.to_string()));
        let (_, made) = done.map_err(|stop| match stop {
            Stop::Full => wrong(format!("cannot encode {} bytes", src.len())),
            Stop::Bad(why) => wrong(format!("cannot encode {} bytes: {why}", src.len())),
        })?;
        dst.set_len(made);
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        let made = self.decompress(src, dst)?;
        super::exactly(NAME, made, dst.len())
    }
}
