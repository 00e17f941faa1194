//! [Bitshuffle](https://github.com/kiyo-masui/bitshuffle), alone and with LZ4 or Zstandard behind it, as HDF5's filter
//! 32008 stores it.
//!
//! The bits of the elements of a block are regrouped by their place within the element. Blocks have a whole number of
//! eights of elements; what is left of the last one stays as it is.

use super::blosc_block::gather_bits;
use super::hdf5_frame::{Frame, head, put_block};
use super::unshuffle::{shuffle, transpose_bits, unshuffle};
use super::{Contexts, Step, Want, ffi, loose_bound, lz4_block, too_large, zstd};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "bitshuffle";

/// What is done to the blocks once their bits are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitshuffleCompressor {
    /// Nothing: there is no frame either.
    None,
    /// LZ4.
    Lz4,
    /// Zstandard at a level.
    Zstd(i32),
}

/// The `bitshuffle` codec.
#[derive(Debug, Clone, Copy)]
pub struct Bitshuffle {
    elementsize: usize,
    /// Elements of a block.
    block: usize,
    compressor: BitshuffleCompressor,
}

impl Bitshuffle {
    /// A codec of elements of so many bytes in blocks of so many elements; 0 lets the codec choose.
    pub fn new(elementsize: usize, block: usize, compressor: BitshuffleCompressor) -> Result<Self, CodecError> {
        let usual = (super::div_rem(8192, elementsize).0 & !7).max(128);
        let block = if block == 0 { usual } else { block };
        if elementsize == 0 || !block.is_multiple_of(8) {
            let message = format!("blocks of {block} elements of {elementsize} bytes are not possible");
            return Err(CodecError::new(NAME, Fault::Config, message));
        }
        Ok(Self { elementsize, block, compressor })
    }

    /// Decode with a frame, or without one, into exactly as many bytes as there must be.
    fn inflate(&self, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
        let (mut scratch, mut second) = (std::mem::take(&mut cx.scratch), std::mem::take(&mut cx.second));
        let made = self.blocks(src, dst, (&mut scratch, &mut second), cx);
        (cx.scratch, cx.second) = (scratch, second);
        made
    }

    fn blocks(
        &self,
        src: &[u8],
        dst: &mut [u8],
        (scratch, second): (&mut Buffer, &mut Buffer),
        cx: &mut Contexts,
    ) -> Result<(), CodecError> {
        let eights = self.elementsize.saturating_mul(8);
        let usual = self.block.saturating_mul(self.elementsize);
        let mut frame = Frame { codec: NAME, total: src.len(), block: usual, rest: src };
        if self.compressor != BitshuffleCompressor::None {
            frame = Frame::parse(NAME, src, dst.len())?;
        }
        super::exactly(NAME, frame.total, dst.len())?;
        if super::div_rem(frame.block, eights).1 != 0 {
            let message =
                format!("blocks of {} bytes hold no eights of {}-byte elements", frame.block, self.elementsize);
            return Err(CodecError::corrupt(NAME, message));
        }
        let shuffled = dst.len().saturating_sub(super::div_rem(dst.len(), eights).1);
        let (body, tail) = dst.split_at_mut_checked(shuffled).unwrap_or_default();
        for room in body.chunks_mut(frame.block.max(1)) {
            let bits: &[u8] = match self.compressor {
                BitshuffleCompressor::None => {
                    let (bits, rest) = frame.rest.split_at_checked(room.len()).unwrap_or_default();
                    frame.rest = rest;
                    bits
                }
                compressor => {
                    let bits = scratch.space(room.len());
                    decompress(compressor, frame.next()?, bits, cx)?;
                    bits
                }
            };
            let n = super::div_rem(room.len(), self.elementsize).0;
            let planes: Vec<&[u8]> = bits.chunks_exact(n.max(1)).collect();
            unshuffle(&gather_bits(&planes, n, 0..n / 8, second.space(room.len())), 0, room);
        }
        super::copy_exactly(NAME, frame.rest, tail)
    }
}

fn decompress(
    compressor: BitshuffleCompressor,
    block: &[u8],
    dst: &mut [u8],
    cx: &mut Contexts,
) -> Result<(), CodecError> {
    let made = match compressor {
        BitshuffleCompressor::Zstd(_) => zstd::decompress(block, dst, cx)?,
        _ => lz4_block::decompress(block, dst).unwrap_or_default(),
    };
    if made == dst.len() {
        return Ok(());
    }
    let message = format!("a block of {} bytes does not decode to {} bytes", block.len(), dst.len());
    Err(CodecError::corrupt(NAME, message))
}

impl Step for Bitshuffle {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, cx: &mut Contexts) -> Result<(), CodecError> {
        let total = match self.compressor {
            BitshuffleCompressor::None => src.len(),
            _ => Frame::parse(NAME, src, want.max())?.total,
        };
        match want {
            Want::Exact(n) => super::exactly(NAME, total, n)?,
            Want::AtMost(n) if total > n => return Err(too_large(NAME, n)),
            Want::AtMost(_) => {}
        }
        self.inflate(src, dst.space(total), cx)
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError> {
        let failed = || CodecError::new(NAME, Fault::Config, format!("cannot encode {} bytes", src.len()));
        let size = self.block.saturating_mul(self.elementsize);
        let framed = self.compressor != BitshuffleCompressor::None;
        let mut out = if framed { head(src.len(), size).ok_or_else(failed)? } else { Vec::new() };
        let eights = self.elementsize.saturating_mul(8);
        let shuffled = src.len().saturating_sub(super::div_rem(src.len(), eights).1);
        let (body, tail) = src.split_at_checked(shuffled).unwrap_or_default();
        for block in body.chunks(size.max(1)) {
            let bits = shuffle_bits(self.elementsize, block);
            match self.compressor {
                BitshuffleCompressor::None => out.extend_from_slice(&bits),
                BitshuffleCompressor::Lz4 => {
                    let mut room = vec![0; ffi::lz4_bound(bits.len()).ok_or_else(failed)?];
                    let made = ffi::lz4_compress(&bits, &mut room, 1).ok_or_else(failed)?;
                    put_block(&mut out, room.get(..made).unwrap_or_default());
                }
                BitshuffleCompressor::Zstd(level) => {
                    let mut room = Buffer::default();
                    zstd::Zstd::new(level, false)?.encode(&bits, &mut room, cx)?;
                    put_block(&mut out, room.as_slice());
                }
            }
        }
        out.extend_from_slice(tail);
        dst.assign(&out);
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        if self.compressor == BitshuffleCompressor::None { n } else { loose_bound(n) }
    }

    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        (self.compressor == BitshuffleCompressor::None).then_some(encoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
        self.inflate(src, dst, cx)
    }
}

/// Regroup the bits of a block of eights of elements.
fn shuffle_bits(width: usize, block: &[u8]) -> Vec<u8> {
    let n = super::div_rem(block.len(), width).0;
    let mut planes = vec![0; block.len()];
    shuffle(width, block, &mut planes);
    transpose_bits(&mut planes);
    let mut out = vec![0; block.len()];
    for (plane, rows) in planes.chunks_exact(n.max(1)).zip(out.chunks_exact_mut(n.max(1))) {
        shuffle(8, plane, rows);
    }
    out
}
