//! The parquet layout of fsspec's `LazyReferenceMapper`: record files of a fixed number of rows for each array.
//!
//! Record files are read by code of our own rather than a library's, because what a hostile file claims must cost nothing:
//! lists are no longer than the bytes that are left, pages no larger than allowed, and only the page that has a row is
//! decoded. Rows become compact columns; a URL gets its number when its row is asked for.

mod bad;
mod column;
mod dictionary;
mod encode;
mod footer;
mod gather;
mod marks;
mod numbers;
mod page;
mod part;
mod record;
mod runs;
mod set;
mod stamps;
#[cfg(test)]
mod tests;
mod texts;
mod thrift;
mod values;
mod writer;

pub use gather::Gathered;
pub use set::{ParquetRows, ParquetSet};
pub use stamps::ParquetStamps;
pub use writer::{ArrayWriter, ParquetWriter, Piece};
