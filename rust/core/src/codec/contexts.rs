//! What a thread keeps from chunk to chunk: the libraries' states and scratch memory, made when first needed.

use super::ffi::{Deflater, Inflater};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

/// Levels that the DEFLATE encoder knows: 0 to 12.
const DEFLATE_LEVELS: usize = 13;

/// Reusable state of the codecs; one per thread, shared by all arrays.
#[derive(Default)]
pub struct Contexts {
    zstd_in: Option<zstd_safe::DCtx<'static>>,
    zstd_out: Option<zstd_safe::CCtx<'static>>,
    inflater: Option<Inflater>,
    deflaters: [Option<Deflater>; DEFLATE_LEVELS],
    pub(super) snappy_in: snap::raw::Decoder,
    pub(super) scratch: Buffer,
    pub(super) second: Buffer,
    pub(super) packed: Buffer,
}

impl Contexts {
    pub(super) fn zstd_decoder(&mut self) -> Result<&mut zstd_safe::DCtx<'static>, CodecError> {
        made(&mut self.zstd_in, "zstd", zstd_safe::DCtx::try_create)
    }

    pub(super) fn zstd_encoder(&mut self) -> Result<&mut zstd_safe::CCtx<'static>, CodecError> {
        made(&mut self.zstd_out, "zstd", zstd_safe::CCtx::try_create)
    }

    pub(super) fn inflater(&mut self, codec: &str) -> Result<&mut Inflater, CodecError> {
        made(&mut self.inflater, codec, Inflater::new)
    }

    pub(super) fn deflater(&mut self, codec: &str, level: u8) -> Result<&mut Deflater, CodecError> {
        let slot = self.deflaters.get_mut(usize::from(level));
        let slot = slot.ok_or_else(|| CodecError::new(codec, Fault::Config, format!("no level {level}")))?;
        made(slot, codec, || Deflater::new(level))
    }

    /// Give back scratch memory that is too large to keep.
    pub fn trim(&mut self) {
        self.scratch.reset();
        self.second.reset();
        self.packed.reset();
    }
}

/// The value in the slot, made now if it is empty.
fn made<'a, T>(
    slot: &'a mut Option<T>,
    codec: &str,
    make: impl FnOnce() -> Option<T>,
) -> Result<&'a mut T, CodecError> {
    if slot.is_none() {
        *slot = make();
    }
    slot.as_mut().ok_or_else(|| CodecError::new(codec, Fault::TooLarge, "no memory for the codec's own state"))
}
