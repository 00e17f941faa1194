//! The `shuffle` codec of numcodecs: the bytes of all elements regrouped by their place within the element.

use super::unshuffle::{shuffle, unshuffle};
use super::{Contexts, Step, Want, too_large};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "shuffle";

/// Elements of more bytes are put together one by one, so that no list of planes is needed.
const WIDE: usize = 256;

/// The `shuffle` codec.
#[derive(Debug, Clone, Copy)]
pub struct Shuffle {
    elementsize: usize,
}

impl Shuffle {
    /// A codec for elements of `elementsize` bytes; 0 and 1 leave the bytes in order.
    pub fn new(elementsize: usize) -> Result<Self, CodecError> {
        Ok(Self { elementsize: elementsize.max(1) })
    }

    /// The number of elements; a part of one is an error, as it is in numcodecs.
    fn elements(&self, n: usize, fault: Fault) -> Result<usize, CodecError> {
        match super::div_rem(n, self.elementsize) {
            (elements, 0) => Ok(elements),
            _ => {
                let message = format!("{n} bytes are no whole number of {}-byte elements", self.elementsize);
                Err(CodecError::new(NAME, fault, message))
            }
        }
    }
}

impl Step for Shuffle {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, cx: &mut Contexts) -> Result<(), CodecError> {
        if src.len() > want.max() {
            return Err(too_large(NAME, want.max()));
        }
        if let Want::Exact(n) = want {
            super::exactly(NAME, src.len(), n)?;
        }
        self.decode_exact(src, dst.space(src.len()), cx)
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &mut Contexts) -> Result<(), CodecError> {
        self.elements(src.len(), Fault::Config)?;
        shuffle(self.elementsize, src, dst.space(src.len()));
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        n
    }

    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        Some(encoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _: &mut Contexts) -> Result<(), CodecError> {
        let elements = self.elements(src.len(), Fault::Corrupt)?;
        if self.elementsize == 1 || elements == 0 {
            return super::copy_exactly(NAME, src, dst);
        }
        super::exactly(NAME, src.len(), dst.len())?;
        if self.elementsize > WIDE {
            for (i, element) in dst.chunks_exact_mut(self.elementsize).enumerate() {
                for (out, &byte) in element.iter_mut().zip(src.iter().skip(i).step_by(elements)) {
                    *out = byte;
                }
            }
            return Ok(());
        }
        let planes: Vec<&[u8]> = src.chunks_exact(elements).collect();
        unshuffle(&planes, 0, dst);
        Ok(())
    }
}
