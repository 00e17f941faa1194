//! Raw memory: the caller's arrays as strided views, and the n-d copies between them and chunks.
//!
//! This is one of the two places of the crate with `unsafe` (the other is the C library of blosc). Everything here
//! works on offsets that the planner has checked against the shapes.

#![allow(unsafe_code)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "offsets are built from checked shapes, never from stored bytes"
)]

mod block;
mod copy;
mod fill;
#[cfg(target_os = "linux")]
mod fresh;
#[cfg(target_os = "linux")]
mod pages;
mod transpose;
mod view;

pub use block::Block;
pub use copy::{Axis, Items, copy, swap_in_place};
pub use fill::{fill_axes, fill_slice, is_filled};
#[cfg(target_os = "linux")]
pub use pages::{populate, settle};
pub use view::{Rows, View};

/// Nothing to be gained where the system knows no such call.
#[cfg(not(target_os = "linux"))]
pub fn populate(_place: &mut [u8]) {}

/// As above.
#[cfg(not(target_os = "linux"))]
pub fn settle(_first: *mut u8, _item: usize, _axes: &[(usize, usize)]) {}
