//! The `gzip` codec of Zarr v2 and v3, through the shared DEFLATE code.

use super::deflate::{self, Frame};
use super::{Contexts, Step, Want, loose_bound};
use crate::buffer::Buffer;
use crate::error::CodecError;

/// The `gzip` codec.
#[derive(Debug, Clone, Copy)]
pub struct Gzip {
    level: u8,
}

impl Gzip {
    /// A codec that writes at a `level` of zlib: 0 (stored) to 9, or -1 for its default.
    pub fn new(level: i32) -> Result<Self, CodecError> {
        Ok(Self { level: deflate::level(Frame::Gzip, level)? })
    }
}

impl Step for Gzip {
    fn name(&self) -> &str {
        Frame::Gzip.name()
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, cx: &mut Contexts) -> Result<(), CodecError> {
        super::decode_within(self.name(), dst, want, deflate::guess(src), |room| {
            deflate::decompress(Frame::Gzip, src, room, cx)
        })
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError> {
        deflate::compress(Frame::Gzip, self.level, src, dst, cx)
    }

    fn bound(&self, n: usize) -> usize {
        loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
        let made = deflate::decompress(Frame::Gzip, src, dst, cx)?;
        super::exactly(self.name(), made, dst.len())
    }
}
