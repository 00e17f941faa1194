//! The messages that say how long a dataset is, and how its chunks are found.

use super::cursor::Cursor;
use super::file::{Found, known};
use super::header::Sizes;

/// Dimensions at most.
const MOST_DIMENSIONS: usize = 32;

/// The kinds of indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    BTree1,
    Single { length: Option<u64>, mask: u32 },
    Implicit,
    Fixed,
    Extensible,
    BTree2,
}

/// How the chunks of a dataset are found.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) chunks: Vec<u64>,
    /// Bytes of an element.
    pub(super) item: u64,
    pub(super) index: Index,
    /// Where the index is; nowhere as long as nothing was written.
    pub(super) address: Option<u64>,
    /// Whether chunks that reach beyond the shape never pass through filters.
    pub(super) edges_unfiltered: bool,
}

/// The lengths of a dataset.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) shape: Vec<u64>,
    /// How long each dimension can become; `None`: without a limit.
    pub(super) most: Vec<Option<u64>>,
}

/// Read the layout of a chunked dataset.
pub(super) fn layout(message: &[u8], sizes: Sizes) -> Found<Layout> {
    known(read_layout(Cursor(message), sizes))
}

fn read_layout(mut from: Cursor<'_>, sizes: Sizes) -> Option<Layout> {
    let version = from.byte()?;
    if from.byte()? != 2 {
        return None;
    }
    match version {
        3 => {
            let count = dimensions(from.byte()?)?;
            let address = from.address(sizes.address)?;
            let (chunks, item) = lengths(&mut from, count, 4)?;
            Some(Layout { chunks, item, index: Index::BTree1, address, edges_unfiltered: false })
        }
        4 | 5 => {
            let flags = from.byte()?;
            let count = dimensions(from.byte()?)?;
            let width = usize::from(from.byte()?);
            if flags & !3 != 0 || width == 0 || width > 8 {
                return None;
            }
            let (chunks, item) = lengths(&mut from, count, width)?;
            let index = index(&mut from, flags, sizes)?;
            let address = from.address(sizes.address)?;
            Some(Layout { chunks, item, index, address, edges_unfiltered: flags & 1 != 0 })
        }
        _ => None,
    }
}

/// One more than the dataset has: the last is the size of an element.
fn dimensions(count: u8) -> Option<usize> {
    let count = usize::from(count);
    (2..=MOST_DIMENSIONS.saturating_add(1)).contains(&count).then_some(count)
}

fn lengths(from: &mut Cursor<'_>, count: usize, width: usize) -> Option<(Vec<u64>, u64)> {
    let all: Option<Vec<u64>> = (0..count).map(|_| from.number(width).filter(|&n| n > 0)).collect();
    let mut all = all?;
    let item = all.pop()?;
    Some((all, item))
}

fn index(from: &mut Cursor<'_>, flags: u8, sizes: Sizes) -> Option<Index> {
    Some(match from.byte()? {
        1 if flags & 2 != 0 => Index::Single { length: Some(from.number(sizes.length)?), mask: from.small()? },
        1 => Index::Single { length: None, mask: 0 },
        2 => Index::Implicit,
        3 => {
            from.bytes(1)?;
            Index::Fixed
        }
        4 => {
            from.bytes(5)?;
            Index::Extensible
        }
        5 => {
            from.bytes(6)?;
            Index::BTree2
        }
        _ => return None,
    })
}

/// Read the dimensions of a dataset.
pub(super) fn space(message: &[u8], sizes: Sizes) -> Found<Space> {
    known(read_space(Cursor(message), sizes))
}

fn read_space(mut from: Cursor<'_>, sizes: Sizes) -> Option<Space> {
    let version = from.byte()?;
    let (rank, flags) = (usize::from(from.byte()?), from.byte()?);
    match version {
        1 => from.bytes(5)?,
        2 => from.bytes(1)?,
        _ => return None,
    };
    if rank == 0 || rank > MOST_DIMENSIONS {
        return None;
    }
    let mut lengths = || (0..rank).map(|_| from.number(sizes.length)).collect::<Option<Vec<u64>>>();
    let shape = lengths()?;
    let unlimited = u64::MAX.checked_shr(64_u32.checked_sub(u32::try_from(sizes.length).ok()?.checked_mul(8)?)?)?;
    let most = if flags & 1 == 0 { shape.clone() } else { lengths()? };
    Some(Space { shape, most: most.into_iter().map(|n| (n != unlimited).then_some(n)).collect() })
}
