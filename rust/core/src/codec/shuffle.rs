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
    /// Whether bytes after the last whole element stay where they are.
    rest: bool,
}

impl Shuffle {
    /// A codec for elements of `elementsize` bytes; 0 and 1 leave the bytes in order.
    pub fn new(elementsize: usize) -> Result<Self, CodecError> {
        Ok(Self { elementsize: elementsize.max(1), rest: false })
    }

    /// The same for bytes that are no whole number of elements, as HDF5 has it where another filter came before.
    #[must_use]
    pub fn with_rest(self) -> Self {
        Self { rest: true, ..self }
    }

    /// The number of elements; a part of one is an error, as it is in numcodecs.
    fn elements(&self, n: usize, fault: Fault) -> Result<usize, CodecError> {
        match super::div_rem(n, self.elementsize) {
            (elements, 0) => Ok(elements),
            (elements, _) if self.rest => Ok(elements),
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
        if self.elementsize > WIDE && !self.rest {
            for (i, element) in dst.chunks_exact_mut(self.elementsize).enumerate() {
                for (out, &byte) in element.iter_mut().zip(src.iter().skip(i).step_by(elements)) {
                    *out = byte;
                }
            }
            return Ok(());
        }
        let whole = elements.saturating_mul(self.elementsize);
        let (src, rest) = src.split_at_checked(whole).unwrap_or_default();
        let (dst, tail) = dst.split_at_mut_checked(whole).unwrap_or_default();
        super::copy_exactly(NAME, rest, tail)?;
        let planes: Vec<&[u8]> = src.chunks_exact(elements).collect();
        unshuffle(&planes, 0, dst);
        Ok(())
    }
}
