//! The grid of chunks, and the chunks that were found in it.

use super::ChunkIndex;
use super::file::{Found, Stop};
use super::layout::{Layout, Space};

/// The grid of a dataset's chunks.
pub(super) struct Grid {
    pub(super) chunks: Vec<u64>,
    shape: Vec<u64>,
    /// Chunks along each dimension.
    counts: Vec<u64>,
    /// Chunks that there can be along each dimension.
    most: Vec<Option<u64>>,
    /// Chunks in all.
    pub(super) total: u64,
    /// Bytes of a chunk before any filter.
    pub(super) bytes: u64,
}

impl Grid {
    /// The grid; `None` if it is too large.
    pub(super) fn new(space: &Space, layout: &Layout) -> Option<Self> {
        if space.shape.len() != layout.chunks.len() {
            return None;
        }
        let counts: Vec<u64> = space.shape.iter().zip(&layout.chunks).map(|(n, c)| n.div_ceil(*c)).collect();
        let along = |(n, c): (&Option<u64>, &u64)| n.map(|n| n.div_ceil(*c));
        Some(Self {
            most: space.most.iter().zip(&layout.chunks).map(along).collect(),
            total: counts.iter().try_fold(1_u64, |n, &m| n.checked_mul(m))?,
            bytes: layout.chunks.iter().try_fold(layout.item, |n, &m| n.checked_mul(m))?,
            chunks: layout.chunks.clone(),
            shape: space.shape.clone(),
            counts,
        })
    }

    /// Chunks that there can be; `None` if that has no end.
    pub(super) fn most(&self) -> Option<u64> {
        self.most.iter().try_fold(1_u64, |n, m| n.checked_mul((*m)?))
    }

    /// The number of the chunk at these places along each dimension; `None` if it is outside.
    pub(super) fn number(&self, places: impl Iterator<Item = u64>) -> Option<u64> {
        let mut number = 0_u64;
        for (place, &count) in places.zip(&self.counts) {
            if place >= count {
                return None;
            }
            number = number.checked_mul(count)?.checked_add(place)?;
        }
        Some(number)
    }

    /// The order of chunks in an index with a place for each that there can be.
    pub(super) fn fixed_order(&self) -> Option<Order> {
        self.most()?;
        self.order(None)
    }

    /// The order of chunks in an index that grows along the one dimension without a limit.
    pub(super) fn growing_order(&self) -> Option<Order> {
        let mut unlimited = self.most.iter().enumerate().filter(|(_, most)| most.is_none());
        let (axis, _) = unlimited.next()?;
        if unlimited.next().is_some() {
            return None;
        }
        self.order(Some(axis))
    }

    fn order(&self, first: Option<usize>) -> Option<Order> {
        let mut stride = 1_u64;
        let mut axes = Vec::with_capacity(self.counts.len());
        for (&count, most) in self.counts.iter().zip(&self.most).rev() {
            axes.push(Axis { count, most: most.unwrap_or(u64::MAX), stride });
            stride = stride.checked_mul(count.max(1))?;
        }
        axes.reverse();
        let slowest = axes.len().checked_sub(1).filter(|_| first.is_some_and(|axis| axis > 0));
        if let (Some(_), Some(axis)) = (slowest, first) {
            let moved = axes.remove(axis);
            axes.insert(0, moved);
        }
        let plain = first.is_none_or(|axis| axis == 0) && axes.iter().skip(1).all(|axis| axis.count == axis.most);
        axes.reverse();
        Some(Order { axes, plain: plain.then_some(self.total) })
    }
}

struct Axis {
    count: u64,
    most: u64,
    /// By how much the number of a chunk grows along it.
    stride: u64,
}

/// From places in an index to numbers of chunks.
pub(super) struct Order {
    /// The fastest first.
    axes: Vec<Axis>,
    /// Where the two are the same, how many there are.
    plain: Option<u64>,
}

impl Order {
    /// The number of the chunk at a place; `None` if it is outside of the shape.
    pub(super) fn number(&self, place: u64) -> Option<u64> {
        if let Some(total) = self.plain {
            return (place < total).then_some(place);
        }
        let (mut rest, mut number) = (place, 0_u64);
        for axis in &self.axes {
            let at = rest.checked_rem(axis.most)?;
            rest = rest.checked_div(axis.most)?;
            if at >= axis.count {
                return None;
            }
            number = number.checked_add(at.checked_mul(axis.stride)?)?;
        }
        (rest == 0).then_some(number)
    }
}

#[derive(Clone, Copy)]
struct Row {
    number: u64,
    address: u64,
    length: u64,
    mask: u32,
}

/// The chunks that were found.
pub(super) struct Rows<'a> {
    pub(super) grid: &'a Grid,
    rows: Vec<Row>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(grid: &'a Grid) -> Self {
        Self { grid, rows: Vec::new() }
    }

    /// Add a chunk; more than the grid has are a sign of damage.
    pub(super) fn add(&mut self, number: u64, address: u64, length: u64, mask: u32) -> Found<()> {
        if number >= self.grid.total || self.rows.len() as u64 >= self.grid.total {
            return Err(Stop::Unknown);
        }
        self.rows.push(Row { number, address, length, mask });
        Ok(())
    }

    /// Sort the chunks, none of which may be there twice.
    pub(super) fn finish(mut self, base: u64, edges_unfiltered: bool) -> Found<ChunkIndex> {
        if !self.rows.is_sorted_by(|a, b| a.number < b.number) {
            self.rows.sort_unstable_by_key(|row| row.number);
            if !self.rows.is_sorted_by(|a, b| a.number < b.number) {
                return Err(Stop::Unknown);
            }
        }
        if edges_unfiltered {
            for row in &mut self.rows {
                row.mask = if self.grid.reaches_beyond(row.number) { u32::MAX } else { row.mask };
            }
        }
        let mut offsets = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            offsets.push(base.checked_add(row.address).ok_or(Stop::Unknown)?);
        }
        Ok(ChunkIndex {
            numbers: self.rows.iter().map(|row| row.number).collect(),
            offsets,
            lengths: self.rows.iter().map(|row| row.length).collect(),
            masks: self.rows.iter().map(|row| row.mask).collect(),
        })
    }
}

impl Grid {
    /// Whether a chunk goes on where the dataset ends.
    fn reaches_beyond(&self, number: u64) -> bool {
        let mut rest = number;
        let mut beyond = false;
        for ((&count, &chunk), &length) in self.counts.iter().zip(&self.chunks).zip(&self.shape).rev() {
            let place = rest.checked_rem(count).unwrap_or_default();
            rest = rest.checked_div(count).unwrap_or_default();
            beyond |= place.saturating_add(1).saturating_mul(chunk) > length;
        }
        beyond
    }
}
