//! LZ4 as HDF5's filter 32004 stores it: a frame of blocks, those that could not be compressed as they are.

use super::hdf5_frame::{Frame, head, put_block};
use super::{Contexts, Step, Want, ffi, loose_bound, lz4_block};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "lz4h5";

/// One encoded byte never stands for more decoded bytes than this.
const BEST_RATIO: usize = 255;

/// The `lz4h5` codec.
#[derive(Debug, Clone, Copy)]
pub struct Hdf5Lz4 {
    block: usize,
}

impl Hdf5Lz4 {
    /// A codec that writes blocks of so many bytes; 0 means as many as one block can hold.
    pub fn new(block: usize) -> Result<Self, CodecError> {
        let most = ffi::MAX_INPUT;
        Ok(Self { block: if block == 0 { most } else { block.min(most) } })
    }
}

fn decompress(mut frame: Frame<'_>, dst: &mut [u8]) -> Result<(), CodecError> {
    super::exactly(NAME, frame.total, dst.len())?;
    for room in dst.chunks_mut(frame.block.max(1)) {
        let block = frame.next()?;
        if block.len() == room.len() {
            room.copy_from_slice(block);
            continue;
        }
        let made = lz4_block::decompress(block, room);
        if made != Some(room.len()) {
            let message = format!("a block of {} bytes does not decode to {} bytes", block.len(), room.len());
            return Err(CodecError::corrupt(NAME, message));
        }
    }
    Ok(())
}

impl Step for Hdf5Lz4 {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        let frame = Frame::parse(NAME, src, want.max())?;
        if let Want::Exact(n) = want {
            super::exactly(NAME, frame.total, n)?;
        }
        if frame.total > src.len().saturating_mul(BEST_RATIO) {
            let message = format!("{} encoded bytes claim to hold {}", src.len(), frame.total);
            return Err(CodecError::corrupt(NAME, message));
        }
        let room = dst.space(frame.total);
        decompress(frame, room)
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        let failed = || CodecError::new(NAME, Fault::Config, format!("cannot encode {} bytes", src.len()));
        let mut out = head(src.len(), self.block.min(src.len())).ok_or_else(failed)?;
        for block in src.chunks(self.block.max(1)) {
            let mut room = vec![0; ffi::lz4_bound(block.len()).ok_or_else(failed)?];
            let made = ffi::lz4_compress(block, &mut room, 1).filter(|&made| made < block.len());
            put_block(&mut out, made.and_then(|made| room.get(..made)).unwrap_or(block));
        }
        dst.assign(&out);
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        decompress(Frame::parse(NAME, src, dst.len())?, dst)
    }
}
