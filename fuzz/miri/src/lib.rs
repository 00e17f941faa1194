//! The parts of the kernel that move memory by pointers, for Miri: the sources are the kernel's own.
//!
//! Only `tests/copies.rs` is for Miri: it knows no mapping of memory that is given back in parts, which blocks do.
#![allow(dead_code, missing_docs)]

#[path = "../../../rust/core/src/cell.rs"]
pub mod cell;
pub mod codec;
#[path = "../../../rust/core/src/error.rs"]
pub mod error;
#[path = "../../../rust/core/src/fork.rs"]
pub mod fork;
#[path = "../../../rust/core/src/grid.rs"]
pub mod grid;
#[path = "../../../rust/core/src/mem/mod.rs"]
pub mod mem;
#[path = "../../../rust/core/src/plan.rs"]
pub mod plan;
