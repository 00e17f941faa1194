//! LZ4 as N5 has it: the blocks of lz4-java's `LZ4BlockOutputStream`, each with sizes and a checksum.

use super::xxhash32::xxhash32;
use super::{Contexts, Step, Want, ffi, loose_bound, lz4_block, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "n5.lz4";
const MAGIC: &[u8; 8] = b"LZ4Block";
const RAW: u8 = 0x10;
const PACKED: u8 = 0x20;
const SEED: u32 = 0x9747_B28C;
/// lz4-java keeps the lower 28 bits of the hash.
const SUM_BITS: u32 = 0x0FFF_FFFF;
/// Magic, token, compressed size, size, checksum.
const HEADER: usize = 21;

/// The `n5.lz4` codec.
#[derive(Debug, Clone, Copy)]
pub struct N5Lz4 {
    block: usize,
}

struct Block<'s> {
    method: u8,
    size: usize,
    sum: u32,
    payload: &'s [u8],
}

impl N5Lz4 {
    /// A codec that writes blocks of 64 bytes to 32 MiB each.
    pub fn new(block: usize) -> Result<Self, CodecError> {
        if (64..=32 << 20).contains(&block) {
            return Ok(Self { block });
        }
        Err(CodecError::new(NAME, Fault::Config, format!("blocks of {block} bytes are not in 64 … 33554432")))
    }

    /// The token's lower half: the size of blocks in powers of two, from 1 KiB on.
    fn level(self) -> u8 {
        let bits = usize::BITS.saturating_sub(self.block.saturating_sub(1).leading_zeros());
        u8::try_from(bits.saturating_sub(10)).unwrap_or(0)
    }
}

fn cut(src: &[u8]) -> CodecError {
    CodecError::corrupt(NAME, format!("the {} bytes end within a block", src.len()))
}

/// The block at the start of `src`, and what follows it.
fn next(src: &[u8]) -> Result<(Block<'_>, &[u8]), CodecError> {
    let (header, rest) = src.split_first_chunk::<HEADER>().ok_or_else(|| cut(src))?;
    let [m0, m1, m2, m3, m4, m5, m6, m7, token, c0, c1, c2, c3, n0, n1, n2, n3, s0, s1, s2, s3] = *header;
    if [m0, m1, m2, m3, m4, m5, m6, m7] != *MAGIC {
        return Err(CodecError::corrupt(NAME, "no block begins where one should"));
    }
    let packed = usize::try_from(u32::from_le_bytes([c0, c1, c2, c3])).unwrap_or(usize::MAX);
    let (payload, rest) = rest.split_at_checked(packed).ok_or_else(|| cut(src))?;
    let size = usize::try_from(u32::from_le_bytes([n0, n1, n2, n3])).unwrap_or(usize::MAX);
    Ok((Block { method: token & 0xF0, size, sum: u32::from_le_bytes([s0, s1, s2, s3]), payload }, rest))
}

fn unpack(block: &Block<'_>, dst: &mut [u8]) -> Result<(), CodecError> {
    let made = match block.method {
        RAW if block.payload.len() == dst.len() => {
            dst.copy_from_slice(block.payload);
            Some(dst.len())
        }
        PACKED => lz4_block::decompress(block.payload, dst),
        _ => None,
    };
    if made != Some(block.size) {
        let message = format!("a block of {} bytes does not give {}", block.payload.len(), block.size);
        return Err(CodecError::corrupt(NAME, message));
    }
    let sum = xxhash32(dst, SEED) & SUM_BITS;
    if sum == block.sum {
        return Ok(());
    }
    let message = format!("{} bytes have checksum {sum:08x}, but {:08x} is stored", dst.len(), block.sum);
    Err(CodecError::new(NAME, Fault::Checksum, message))
}

fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize, CodecError> {
    let (mut rest, mut at) = (src, 0_usize);
    loop {
        let (block, behind) = next(rest)?;
        if block.size == 0 {
            // The mark of the end; what a writer put behind it does not count, as in lz4-java.
            return if block.payload.is_empty() { Ok(at) } else { Err(cut(src)) };
        }
        let limit = dst.len();
        let end = at.saturating_add(block.size);
        unpack(&block, dst.get_mut(at..end).ok_or_else(|| too_large(NAME, limit))?)?;
        (rest, at) = (behind, end);
    }
}

impl Step for N5Lz4 {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        super::decode_within(NAME, dst, want, src.len().saturating_mul(4), |room| decompress(src, room))
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        dst.space(0);
        let mut room = vec![0_u8; ffi::lz4_bound(self.block.min(src.len())).unwrap_or(0)];
        let empty: &[u8] = &[];
        for part in src.chunks(self.block).chain([empty]) {
            let made = if part.is_empty() { None } else { ffi::lz4_compress(part, &mut room, 1) };
            let packed = made.and_then(|n| room.get(..n)).filter(|packed| packed.len() < part.len());
            let (method, payload) = packed.map_or((RAW, part), |packed| (PACKED, packed));
            let sum = if part.is_empty() { 0 } else { xxhash32(part, SEED) & SUM_BITS };
            dst.extend(MAGIC);
            dst.extend(&[method | self.level()]);
            for number in [payload.len() as u32, part.len() as u32, sum] {
                dst.extend(&number.to_le_bytes());
            }
            dst.extend(payload);
        }
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        // Others may have written blocks of 64 bytes.
        loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        let made = decompress(src, dst)?;
        super::exactly(NAME, made, dst.len())
    }
}
