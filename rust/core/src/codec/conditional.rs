//! The `conditional` codec: codecs of bytes, of which each chunk says in its header which were applied to it.

use std::sync::Arc;

use super::{Contexts, Series, Step, Want, after};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "conditional";

/// The `conditional` codec.
pub struct Conditional {
    steps: Vec<Arc<dyn Step>>,
    header: usize,
}

impl Conditional {
    /// A codec around others, with a header of so many bits: a multiple of 8, and one bit for each codec at least.
    pub fn new(steps: Vec<Arc<dyn Step>>, header_bits: usize) -> Result<Self, CodecError> {
        if !header_bits.is_multiple_of(8) || header_bits < steps.len() {
            let message = format!("a header of {header_bits} bits for {} codecs", steps.len());
            return Err(CodecError::new(NAME, Fault::Config, message));
        }
        Ok(Self { steps, header: header_bits / 8 })
    }

    /// The steps that a header names, and the bytes behind it.
    fn applied<'s>(&self, src: &'s [u8]) -> Result<(Series, &'s [u8]), CodecError> {
        let Some((mask, payload)) = src.split_at_checked(self.header) else {
            let message = format!("{} bytes are too few for a header of {}", src.len(), self.header);
            return Err(CodecError::corrupt(NAME, message));
        };
        let bits = mask.iter().flat_map(|&byte| (0_u32..8).map(move |i| byte.wrapping_shr(i) & 1 == 1));
        let mut steps = Vec::new();
        for (i, set) in bits.enumerate() {
            match self.steps.get(i) {
                Some(step) if set => steps.push(Arc::clone(step)),
                None if set => {
                    let message = format!("codec {i} was applied, but there are only {}", self.steps.len());
                    return Err(CodecError::corrupt(NAME, message));
                }
                _ => {}
            }
        }
        Ok((Series::new(steps), payload))
    }
}

/// Whether a step makes as many bytes of all data of a size: it is applied whatever the data.
fn is_fixed(step: &dyn Step, n: usize) -> bool {
    matches!(after(step, Want::Exact(n)), Want::Exact(_))
}

impl Step for Conditional {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, cx: &mut Contexts) -> Result<(), CodecError> {
        let (series, payload) = self.applied(src)?;
        series.decode(payload, dst, want, cx)
    }

    /// Compressors are applied where they save bytes, all else always.
    fn encode(&self, src: &[u8], dst: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError> {
        let mut mask = vec![0_u8; self.header];
        let (mut data, mut made) = (Buffer::default(), Buffer::default());
        data.assign(src);
        for (i, step) in self.steps.iter().enumerate() {
            step.encode(data.as_slice(), &mut made, cx)?;
            if made.len() < data.len() || is_fixed(&**step, data.len()) {
                std::mem::swap(&mut data, &mut made);
                let (byte, bit) = super::div_rem(i, 8);
                if let Some(byte) = mask.get_mut(byte) {
                    *byte |= 1_u8.wrapping_shl(u32::try_from(bit).unwrap_or(0));
                }
            }
        }
        dst.assign(&mask);
        dst.extend(data.as_slice());
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        self.steps.iter().fold(n, |n, step| n.max(step.bound(n))).saturating_add(self.header)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
        let (series, payload) = self.applied(src)?;
        series.decode_exact(payload, dst, cx)
    }
}
