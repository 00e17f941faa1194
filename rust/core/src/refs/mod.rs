//! Reference sets: keys that stand for byte ranges of other files, as columns.
//!
//! A set of a hundred million references must not be a hundred million objects. Each array has one [`Rows`], which finds
//! the reference of a chunk by its number in C order of the grid: columns in memory, record files of parquet that are
//! read when they are needed, or formulas that are never expanded. URLs are numbers into one table of the set.

mod addresses;
mod asked;
mod columns;
mod fetch;
mod file;
mod formula;
mod guard;
mod json;
mod opening;
mod parquet;
mod part;
mod source;
mod sources;
mod store;
mod urls;

pub use addresses::is_public;
pub use columns::{Columns, INLINE, MISSING, WHOLE};
pub use fetch::{Length, Need, Taker, fetch};
pub use file::FileSource;
pub use formula::{Bounds, Dimension, Formula, Node, Op, Value};
pub use guard::{Guard, Reach, Stamps};
pub use json::{Grid, JsonSet, Loose, Placed, PlacedArray, Writer, WrittenRows, packed, unpacked};
pub use opening::{Connect, Opener, judging};
pub use parquet::{ArrayWriter, Gathered, ParquetRows, ParquetSet, ParquetStamps, ParquetWriter, Piece};
pub(crate) use part::{Part, token_of};
pub(crate) use source::surely;
pub use source::{Done, Open, Source, Stamp};
pub use store::{ArrayRefs, ByKey, RefStore};
pub use urls::Urls;

use bytes::Bytes;

use crate::error::Result;

/// What a key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// The bytes themselves.
    Inline(Bytes),
    /// All of what a URL names.
    Whole {
        /// The number of the URL in the set's table.
        url: u32,
    },
    /// A part of what a URL names.
    Range {
        /// The number of the URL in the set's table.
        url: u32,
        /// Where the part begins, in bytes.
        offset: u64,
        /// How many bytes it has.
        length: u64,
    },
}

/// The references of the chunks of one array.
pub trait Rows: Send + Sync {
    /// What the chunk of this number stands for; `None` if there is no such chunk. Numbers count in C order of the grid.
    fn find(&self, number: u64) -> Result<Option<Reference>>;

    /// The numbers of the chunks that are there, ascending, from `from` on; no more than `most` of them.
    fn present(&self, from: u64, most: usize) -> Result<Vec<u64>>;
}
