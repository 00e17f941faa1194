//! CRC-32C as a four-byte little-endian suffix: the `crc32c` codec of the Zarr v3 specification.

use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "crc32c";

/// The `crc32c` codec.
#[derive(Debug, Clone, Copy, Default)]
pub struct Crc32c;

impl Crc32c {
    /// The codec; it has no settings.
    pub fn new() -> Self {
        Self
    }
}

/// The payload, once its checksum is found right.
fn verified(src: &[u8]) -> Result<&[u8], CodecError> {
    let Some((payload, suffix)) = src.split_last_chunk::<4>() else {
        let message = format!("{} bytes are too few to end in a checksum", src.len());
        return Err(CodecError::new(NAME, Fault::Checksum, message));
    };
    let (stored, computed) = (u32::from_le_bytes(*suffix), ::crc32c::crc32c(payload));
    if stored == computed {
        return Ok(payload);
    }
    let message = format!("{} bytes have checksum {computed:08x}, but {stored:08x} is stored", payload.len());
    Err(CodecError::new(NAME, Fault::Checksum, message))
}

impl Step for Crc32c {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let payload = verified(src)?;
        if payload.len() > want.max() {
            return Err(too_large(NAME, want.max()));
        }
        if let Want::Exact(n) = want {
            super::exactly(NAME, payload.len(), n)?;
        }
        dst.assign(payload);
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let room = dst.space(src.len().saturating_add(4));
        if let Some((payload, suffix)) = room.split_last_chunk_mut::<4>() {
            payload.copy_from_slice(src);
            *suffix = ::crc32c::crc32c(src).to_le_bytes();
        }
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        n.saturating_add(4)
    }

    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        encoded.checked_sub(4)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        let payload = verified(src)?;
        super::copy_exactly(NAME, payload, dst)
    }
}
