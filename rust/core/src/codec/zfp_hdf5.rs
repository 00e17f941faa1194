//! zfp as HDF5's filter 32013 stores it: the header of zfp among the parameters of the filter, and the blocks alone in
//! the chunks.

use super::zfp::{Coded, Zfp, read_header};
use super::zfp_bits::BitReader;
use super::zfp_field::{Blocks, Params};
use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "zfp";

/// The `zfp` codec of HDF5.
#[derive(Debug, Clone)]
pub struct Hdf5Zfp {
    codec: Zfp,
    blocks: Blocks,
    params: Params,
    size: usize,
}

impl Hdf5Zfp {
    /// A codec with the parameters that the filter keeps in the file: versions, then the header in words of 32 bits.
    pub fn new(parameters: &[u32]) -> Result<Self, CodecError> {
        let wrong = || CodecError::new(NAME, Fault::Config, format!("no header of zfp in {parameters:?}"));
        let words = parameters.get(1..).unwrap_or_default();
        // What a machine wrote that has the high byte first looks swapped, and so do its numbers.
        for big in [false, true] {
            let bytes = |word: &u32| if big { word.to_be_bytes() } else { word.to_le_bytes() };
            let header: Vec<u8> = words.iter().flat_map(bytes).chain([0; 8]).collect();
            for kind in [Coded::Int32, Coded::Int64, Coded::Float32, Coded::Float64] {
                let Ok((shape, params)) = read_header(&mut BitReader::new(&header), kind) else { continue };
                let blocks = Blocks::new(&shape).ok_or_else(wrong)?;
                let elements = shape.iter().try_fold(1_usize, |n, &m| n.checked_mul(m)).ok_or_else(wrong)?;
                let codec = Zfp::coded(kind, big);
                let size = elements.checked_mul(codec.item()).ok_or_else(wrong)?;
                return Ok(Self { codec, blocks, params, size });
            }
        }
        Err(wrong())
    }

    fn inflate(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        super::exactly(NAME, self.size, dst.len())?;
        let mut reader = BitReader::new(src);
        self.codec.take_all(&mut reader, dst, &self.blocks, self.params);
        if reader.is_past_end() {
            return Err(CodecError::corrupt(NAME, format!("{} bytes end too early", src.len())));
        }
        Ok(())
    }
}

impl Step for Hdf5Zfp {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, _: &mut Contexts) -> Result<(), CodecError> {
        if self.size > want.max() {
            return Err(too_large(NAME, want.max()));
        }
        if let Want::Exact(n) = want {
            super::exactly(NAME, self.size, n)?;
        }
        self.inflate(src, dst.space(self.size))
    }

    fn encode(&self, _: &[u8], _: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        Err(super::for_reading(NAME))
    }

    fn bound(&self, n: usize) -> usize {
        // A block of few numbers may be padded to the size of a whole one, and beyond where the rate says so.
        let bits = self.params.minbits as usize;
        super::loose_bound(n).saturating_mul(4).saturating_add(self.blocks.count().saturating_mul(bits.div_ceil(8)))
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        self.inflate(src, dst)
    }
}
