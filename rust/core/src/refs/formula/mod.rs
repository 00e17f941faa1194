//! References by formula: what `gen` of a set says is looked up, and never expanded.
//!
//! A formula has dimensions, a key, a URL, and perhaps an offset and a length, each a text with expressions of the
//! dimensions. To find a key, its text is matched against that of the formula, which gives a value for each dimension;
//! the others are then evaluated.

mod dimension;
mod display;
mod finding;
mod node;
mod pattern;

pub use dimension::Dimension;
pub use finding::Formula;
pub use node::{Node, Op, Value};

/// How much a formula may ask for.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of a text.
    pub text: usize,
    /// Keys that are expanded where there is no way to solve for the dimensions.
    pub expanded: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { text: 1 << 16, expanded: 1 << 20 }
    }
}
