//! Checksums of 32 bits before or behind the bytes: `crc32`, `adler32`, `crc32c`, `fletcher32` and `jenkins_lookup3` of
//! numcodecs, all little-endian.

use super::{Contexts, Step, Want, ffi, jenkins, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

/// What is computed of the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sum {
    /// CRC-32 as in gzip.
    Crc32,
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// Adler-32 as in zlib.
    Adler32,
    /// Fletcher's sum of 16-bit words as HDF5 computes it.
    Fletcher32,
    /// Bob Jenkins' lookup3, with a seed, and bytes that are taken to stand before all others.
    JenkinsLookup3 {
        /// The seed.
        initial: u32,
        /// Bytes that count but are not stored.
        prefix: Vec<u8>,
    },
}

/// A codec that adds a checksum.
#[derive(Debug, Clone)]
pub struct Checksum {
    sum: Sum,
    at_start: bool,
}

impl Checksum {
    /// A codec that puts the sum before the bytes, or behind them.
    pub fn new(sum: Sum, at_start: bool) -> Self {
        Self { sum, at_start }
    }

    fn compute(&self, bytes: &[u8]) -> u32 {
        match &self.sum {
            Sum::Crc32 => ffi::crc32(bytes),
            Sum::Crc32c => ::crc32c::crc32c(bytes),
            Sum::Adler32 => ffi::adler32(bytes),
            Sum::Fletcher32 => fletcher32(bytes),
            Sum::JenkinsLookup3 { initial, prefix } => jenkins::lookup3(prefix, bytes, *initial),
        }
    }

    /// The payload, once its checksum is found right.
    fn verified<'s>(&self, src: &'s [u8]) -> Result<&'s [u8], CodecError> {
        let parts = if self.at_start {
            src.split_first_chunk::<4>()
        } else {
            src.split_last_chunk::<4>().map(|(payload, sum)| (sum, payload))
        };
        let Some((stored, payload)) = parts else {
            let message = format!("{} bytes are too few to hold a checksum", src.len());
            return Err(CodecError::new(self.name(), Fault::Checksum, message));
        };
        let (stored, computed) = (u32::from_le_bytes(*stored), self.compute(payload));
        if stored == computed {
            return Ok(payload);
        }
        let message = format!("{} bytes have checksum {computed:08x}, but {stored:08x} is stored", payload.len());
        Err(CodecError::new(self.name(), Fault::Checksum, message))
    }
}

impl Step for Checksum {
    fn name(&self) -> &str {
        match self.sum {
            Sum::Crc32 => "crc32",
            Sum::Crc32c => "crc32c",
            Sum::Adler32 => "adler32",
            Sum::Fletcher32 => "fletcher32",
            Sum::JenkinsLookup3 { .. } => "jenkins_lookup3",
        }
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let payload = self.verified(src)?;
        if payload.len() > want.max() {
            return Err(too_large(self.name(), want.max()));
        }
        if let Want::Exact(n) = want {
            super::exactly(self.name(), payload.len(), n)?;
        }
        dst.assign(payload);
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let room = dst.space(src.len().saturating_add(4));
        let parts = if self.at_start {
            room.split_first_chunk_mut::<4>()
        } else {
            room.split_last_chunk_mut::<4>().map(|(payload, sum)| (sum, payload))
        };
        if let Some((sum, payload)) = parts {
            payload.copy_from_slice(src);
            *sum = self.compute(src).to_le_bytes();
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
        let payload = self.verified(src)?;
        super::copy_exactly(self.name(), payload, dst)
    }
}

/// Words summed before the carries are folded: as many as 32 bits can take.
const FLETCHER_RUN: usize = 360;

fn fletcher32(bytes: &[u8]) -> u32 {
    let fold = |sum: u32| (sum & 0xFFFF).wrapping_add(sum >> 16);
    let (mut one, mut two) = (0_u32, 0_u32);
    let (words, rest) = bytes.as_chunks::<2>();
    for run in words.chunks(FLETCHER_RUN) {
        for word in run {
            one = one.wrapping_add(u32::from(u16::from_be_bytes(*word)));
            two = two.wrapping_add(one);
        }
        (one, two) = (fold(one), fold(two));
    }
    if let [last] = *rest {
        one = one.wrapping_add(u32::from(last) << 8);
        two = two.wrapping_add(one);
        (one, two) = (fold(one), fold(two));
    }
    fold(two) << 16 | fold(one)
}
