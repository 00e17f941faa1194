//! `reshape` of the registry and `zarrs.squeeze`: the same elements in the same order, as an array of another shape.

use crate::cell::Dims;
use crate::error::{CodecError, Fault};

/// The length of one dimension of what comes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Length {
    /// Always the same.
    Fixed(usize),
    /// What is left for it; at most one dimension has this.
    Rest,
    /// The product of some dimensions of what goes in.
    Of(Vec<usize>),
}

/// A change of shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reshape {
    /// To these lengths.
    To(Vec<Length>),
    /// To the same without the dimensions of length 1.
    Squeeze,
}

impl Reshape {
    /// The codec's name, as users write it.
    pub fn name(&self) -> &str {
        match self {
            Self::To(_) => "reshape",
            Self::Squeeze => "zarrs.squeeze",
        }
    }

    /// The shape of what it makes of an array of a shape, if it can.
    pub fn shape(&self, shape: &[usize]) -> Option<Dims> {
        let Self::To(lengths) = self else {
            return Some(shape.iter().copied().filter(|&n| n != 1).collect());
        };
        let total: usize = shape.iter().product();
        let known = |length: &Length| match length {
            Length::Fixed(n) => Some(*n),
            Length::Rest => Some(1),
            Length::Of(dims) => dims.iter().map(|&d| shape.get(d).copied()).product(),
        };
        let sizes: Option<Dims> = lengths.iter().map(known).collect();
        let mut sizes = sizes?;
        let product = sizes.iter().try_fold(1_usize, |n, &m| n.checked_mul(m))?;
        for (size, _) in sizes.iter_mut().zip(lengths).filter(|(_, length)| **length == Length::Rest) {
            *size = total.checked_div(product).unwrap_or(0);
        }
        (sizes.iter().try_fold(1_usize, |n, &m| n.checked_mul(m))? == total).then_some(sizes)
    }

    /// As [`Reshape::shape`], or why it cannot be.
    pub fn apply(&self, shape: &[usize]) -> Result<Dims, CodecError> {
        let message = || format!("an array of shape {shape:?} cannot be given the shape that is asked for");
        self.shape(shape).ok_or_else(|| CodecError::new(self.name(), Fault::Config, message()))
    }
}
