//! The kernel of Omnizarr: fetch, decode and scatter; gather, encode and store. No Python, no Zarr documents.
//!
//! An [`engine::Engine`] is one array: a store, a key template, a grid, a fill value and a codec chain. A read takes a
//! selection per dimension and the caller's memory, finds the chunks, and decodes them into place on all cores. Sizes come
//! from the array's shape; what stored bytes claim is checked against them and never believed.

#![deny(unsafe_code)]

pub mod ask;
pub mod buffer;
pub mod cache;
pub mod cdl;
pub mod cdl_numbers;
pub mod cell;
pub mod chain;
pub mod clean;
pub mod cloud;
pub mod codec;
pub mod copying;
pub mod engine;
pub mod error;
pub mod fork;
pub mod grid;
pub mod hdf5;
pub mod json;
pub mod keys;
pub mod mem;
pub mod net;
pub mod plan;
pub mod pool;
pub mod refs;
pub mod scratch;
pub mod store;
pub mod vlen;
