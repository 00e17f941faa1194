//! Codecs of bytes one after the other, as one codec: what codecs that hold other codecs are made of.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Contexts, Step, Want, after};
use crate::buffer::Buffer;
use crate::chain::check;
use crate::error::CodecError;

/// A list of steps, the first of which sees the decoded bytes.
pub struct Series {
    steps: Vec<Arc<dyn Step>>,
}

impl Series {
    /// The steps in the order in which they encode.
    pub fn new(steps: Vec<Arc<dyn Step>>) -> Self {
        Self { steps }
    }

    /// Whether there is no step, so that bytes stay as they are.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The steps in the order in which they encode.
    pub fn steps(&self) -> &[Arc<dyn Step>] {
        &self.steps
    }

    /// Size of what the steps make of bytes of a size.
    pub fn encoded_size(&self, want: Want) -> Want {
        self.steps.iter().fold(want, |want, step| after(&**step, want))
    }
}

impl Step for Series {
    fn name(&self) -> &str {
        self.steps.first().map_or("bytes", |step| step.name())
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, cx: &mut Contexts) -> Result<(), CodecError> {
        let mut wants: SmallVec<[Want; 4]> = SmallVec::new();
        let mut stage = want;
        for step in &self.steps {
            wants.push(stage);
            stage = after(&**step, stage);
        }
        check(src.len(), Want::AtMost(stage.max()))?;
        let Some((last, first)) = self.steps.split_last() else {
            dst.assign(src);
            return check(dst.len(), want);
        };
        let mut stages = wants.into_iter().rev();
        let mut spare = Buffer::default();
        last.decode(src, dst, stages.next().unwrap_or(want), cx)?;
        for (step, want) in first.iter().rev().zip(stages) {
            std::mem::swap(dst, &mut spare);
            step.decode(spare.as_slice(), dst, want, cx)?;
        }
        check(dst.len(), want)
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError> {
        let Some((first, rest)) = self.steps.split_first() else {
            dst.assign(src);
            return Ok(());
        };
        let mut spare = Buffer::default();
        first.encode(src, dst, cx)?;
        for step in rest {
            std::mem::swap(dst, &mut spare);
            step.encode(spare.as_slice(), dst, cx)?;
        }
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        self.steps.iter().fold(n, |n, step| step.bound(n))
    }

    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        self.steps.iter().rev().try_fold(encoded, |size, step| step.decoded_size(size))
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
        if let [only] = &*self.steps {
            return only.decode_exact(src, dst, cx);
        }
        let mut made = Buffer::default();
        self.decode(src, &mut made, Want::Exact(dst.len()), cx)?;
        super::copy_exactly(self.name(), made.as_slice(), dst)
    }
}
