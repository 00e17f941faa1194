//! Where the chunks of a dataset of HDF5 are, found in the file's own indexes: faster than the library lists them, and
//! with a few large reads where the file is far away.
//!
//! The [file format](https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html) has six kinds of indexes. What
//! is not known here, or does not add up, is no error: the caller has the library to ask.

mod btree1;
mod btree2;
mod cursor;
mod extensible;
mod file;
mod fixed;
mod grid;
mod header;
mod layout;

use crate::error::Result;
pub use crate::store::zip::Source;
use file::{File, Found, Stop};
use grid::{Grid, Rows};
use layout::Index;

/// What is asked for: a dataset, by the address of its header, and what the caller knows of it.
#[derive(Debug, Clone, Copy)]
pub struct Dataset<'a> {
    /// The address of the object header.
    pub address: u64,
    /// Where the addresses of the file begin: the size of its user block.
    pub base: u64,
    /// The lengths of the dimensions.
    pub shape: &'a [u64],
    /// The lengths of a chunk.
    pub chunks: &'a [u64],
    /// Bytes between two parts of an index that are read along rather than skipped.
    pub gap: u64,
}

/// The chunks of a dataset, sorted by their numbers in C order of the grid; those never written are not among them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChunkIndex {
    /// The number of each chunk.
    pub numbers: Vec<u64>,
    /// Where each begins in the file.
    pub offsets: Vec<u64>,
    /// Bytes of each.
    pub lengths: Vec<u64>,
    /// Which filters were left out, the lowest bit for the first; all bits for what is at the edge and never filtered.
    pub masks: Vec<u32>,
}

/// Find the chunks; `None` if the index is of a kind that is not known here, or contradicts itself.
pub fn chunk_index(source: &dyn Source, dataset: Dataset<'_>) -> Result<Option<ChunkIndex>> {
    match walk(source, dataset) {
        Ok(found) => Ok(Some(found)),
        Err(Stop::Unknown) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
    }
}

fn walk(source: &dyn Source, dataset: Dataset<'_>) -> Found<ChunkIndex> {
    let file = File::new(source, dataset.base, dataset.gap)?;
    let sizes = header::sizes(&file)?;
    let parts = header::messages(&file, sizes, dataset.address)?;
    let layout = layout::layout(&parts.layout, sizes)?;
    let space = layout::space(&parts.space, sizes)?;
    if space.shape != dataset.shape || layout.chunks != dataset.chunks {
        return Err(Stop::Unknown);
    }
    let grid = Grid::new(&space, &layout).ok_or(Stop::Unknown)?;
    let mut rows = Rows::new(&grid);
    if let Some(root) = layout.address {
        match layout.index {
            Index::BTree1 => btree1::walk(&file, sizes, root, &mut rows)?,
            Index::BTree2 => btree2::walk(&file, sizes, root, &mut rows)?,
            Index::Single { length, mask } => rows.add(0, root, length.unwrap_or(grid.bytes), mask)?,
            Index::Implicit => implicit(&file, root, &mut rows)?,
            Index::Fixed => fixed::walk(&file, sizes, root, &mut rows)?,
            Index::Extensible => extensible::walk(&file, sizes, root, &mut rows)?,
        }
    }
    rows.finish(dataset.base, layout.edges_unfiltered)
}

/// Chunks that lie one after the other, all that there can be.
fn implicit(file: &File<'_>, root: u64, rows: &mut Rows<'_>) -> Found<()> {
    let grid = rows.grid;
    let order = grid.fixed_order().ok_or(Stop::Unknown)?;
    let all = grid.most().ok_or(Stop::Unknown)?;
    let end = all.checked_mul(grid.bytes).and_then(|bytes| root.checked_add(bytes));
    if end.is_none_or(|end| end > file.length()) {
        return Err(Stop::Unknown);
    }
    for index in 0..all {
        if let Some(number) = order.number(index) {
            let address = index.checked_mul(grid.bytes).and_then(|at| root.checked_add(at));
            rows.add(number, address.ok_or(Stop::Unknown)?, grid.bytes, 0)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
