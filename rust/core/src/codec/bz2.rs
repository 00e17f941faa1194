//! The `bz2` codec: bzip2 streams, one after the other.

use super::stream::{Progress, Stop, moved, pump};
use super::{Contexts, Step, Want, loose_bound, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};
use bzip2::{Action, Compress, Compression, Decompress, Status};

const NAME: &str = "bz2";

/// The `bz2` codec.
#[derive(Debug, Clone, Copy)]
pub struct Bz2 {
    level: u32,
}

impl Bz2 {
    /// A codec that writes blocks of `level` (1 to 9) times 100 kB.
    pub fn new(level: i32) -> Result<Self, CodecError> {
        match u32::try_from(level) {
            Ok(level @ 1..=9) => Ok(Self { level }),
            _ => Err(CodecError::new(NAME, Fault::Config, format!("level {level} is not one of 1 to 9"))),
        }
    }
}

impl Step for Bz2 {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        super::decode_within(NAME, dst, want, src.len().saturating_mul(8), |room| decompress(src, room))
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        // The library's own bound: one per cent and 600 bytes.
        let room = dst.space(src.len().saturating_add(src.len() / 100).saturating_add(600));
        let mut encoder = Compress::new(Compression::new(self.level), 0);
        let done = pump(src, room, |input, room| {
            let before = (encoder.total_in(), encoder.total_out());
            let status = encoder.compress(input, room, Action::Finish).map_err(|error| error.to_string())?;
            let (used, made) = (moved(before.0, encoder.total_in()), moved(before.1, encoder.total_out()));
            Ok(Progress { used, made, ended: status == Status::StreamEnd })
        });
        let (_, made) =
            done.map_err(|_| CodecError::new(NAME, Fault::Config, format!("cannot encode {} bytes", src.len())))?;
        dst.set_len(made);
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

/// Decode all streams of `src` one after the other into `dst`.
fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize, CodecError> {
    let (mut at, mut total) = (0_usize, 0_usize);
    loop {
        let rest = src.get(at..).unwrap_or_default();
        let fail = |why: &str| CodecError::corrupt(NAME, format!("{why}, in the stream at byte {at} of {}", src.len()));
        if !rest.starts_with(b"BZh") {
            return Err(fail("no bzip2 header"));
        }
        let mut decoder = Decompress::new(false);
        let done = pump(rest, dst.get_mut(total..).unwrap_or_default(), |input, room| {
            let before = (decoder.total_in(), decoder.total_out());
            let status = decoder.decompress(input, room).map_err(|_| "malformed data".to_owned())?;
            let (used, made) = (moved(before.0, decoder.total_in()), moved(before.1, decoder.total_out()));
            Ok(Progress { used, made, ended: status == Status::StreamEnd })
        });
        let (used, made) = done.map_err(|stop| match stop {
            Stop::Full => too_large(NAME, dst.len()),
            Stop::Bad(why) => fail(&why),
        })?;
        at = at.saturating_add(used);
        total = total.saturating_add(made);
        if at >= src.len() {
            return Ok(total);
        }
    }
}
