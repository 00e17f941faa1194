//! Selections as integers: which chunks they touch, and which part of each.
//!
//! The whole array is treated like a chunk that is cut into cells, and so is a shard: the same two functions, [`Cut::new`]
//! and [`Cut::part`], turn a selection of either into the selections of the cells inside it. A plan holds one entry per
//! dimension, never one per chunk.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "integers of a selection that `check` has bounded by the array's shape"
)]

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::grid::Edges;

/// What is selected along one dimension of a box, and where it goes.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// Every `step`-th index from `at` on.
    Run {
        /// The first index, counted from the box's own origin.
        at: usize,
        /// Distance between indices, at least one.
        step: usize,
        /// How many.
        n: usize,
        /// Where the first one goes along the same axis of the caller's array.
        out: usize,
    },
    /// Listed indices in ascending order.
    Pick {
        /// The indices, counted from `base`.
        at: &'a [usize],
        /// Where each goes.
        out: &'a [usize],
        /// Index of the box's own origin in the frame of `at`.
        base: usize,
    },
}

impl Part<'_> {
    /// Number of selected indices.
    pub fn count(&self) -> usize {
        match self {
            Self::Run { n, .. } => *n,
            Self::Pick { at, .. } => at.len(),
        }
    }

    /// Whether the part takes each of the first `n` indices in order.
    pub fn covers(&self, n: usize) -> bool {
        matches!(self, Self::Run { at: 0, step: 1, n: m, .. } if *m >= n)
            || n == 1 && self.count() == 1 && self.first() == 0
    }

    /// The lowest selected index.
    pub fn first(&self) -> usize {
        match self {
            Self::Run { at, .. } => *at,
            Self::Pick { at, base, .. } => at.first().map_or(0, |i| i - base),
        }
    }

    /// The highest selected index.
    pub fn last(&self) -> usize {
        match self {
            Self::Run { at, step, n, .. } => at + step * n.saturating_sub(1),
            Self::Pick { at, base, .. } => at.last().map_or(0, |i| i - base),
        }
    }
}

/// One selection per dimension. (A `SmallVec` would be invariant in the lifetime and so could not be shortened.)
pub type Parts<'a> = Vec<Part<'a>>;

/// A selection along one dimension as the caller gives it.
#[derive(Debug, Clone)]
pub enum Select {
    /// `(start, step, count)`, step at least one.
    Range(usize, usize, usize),
    /// Indices in ascending order, and the place of each in the caller's array.
    List(Vec<usize>, Vec<usize>),
}

impl Select {
    /// Indices in any order, repeats included.
    pub fn list(indices: &[i64]) -> Result<Self> {
        let mut pairs = Vec::with_capacity(indices.len());
        for (place, &i) in indices.iter().enumerate() {
            let i = usize::try_from(i).map_err(|_| Error::Invalid(format!("index {i} is negative")))?;
            pairs.push((i, place));
        }
        // Stable: of two writes to one index the later one wins, as in NumPy.
        if !pairs.is_sorted_by_key(|p| p.0) {
            pairs.sort_by_key(|p| p.0);
        }
        let (at, out) = pairs.into_iter().unzip();
        Ok(Self::List(at, out))
    }

    /// The whole selection as a part of the whole dimension.
    pub fn part(&self) -> Part<'_> {
        match self {
            Self::Range(at, step, n) => Part::Run { at: *at, step: *step, n: *n, out: 0 },
            Self::List(at, out) => Part::Pick { at, out, base: 0 },
        }
    }

    /// Number of selected indices.
    pub fn count(&self) -> usize {
        self.part().count()
    }

    fn check(&self, size: u64, axis: usize) -> Result<()> {
        let top = match self {
            Self::Range(_, _, 0) => return Ok(()),
            Self::Range(at, step, n) => {
                if *step == 0 {
                    return Err(Error::Invalid(format!("step 0 along axis {axis}")));
                }
                step.checked_mul(n - 1).and_then(|d| d.checked_add(*at))
            }
            Self::List(at, _) if at.is_empty() => return Ok(()),
            Self::List(at, _) => at.last().copied(),
        };
        match top {
            Some(top) if (top as u64) < size => Ok(()),
            _ => Err(Error::Invalid(format!("selection reaches past the end of axis {axis}, whose size is {size}"))),
        }
    }
}

/// Refuse a selection that does not lie within the shape.
pub fn check(selection: &[Select], shape: &[u64]) -> Result<()> {
    if selection.len() != shape.len() {
        return Err(Error::Invalid(format!("selection has {} dimensions, the array {}", selection.len(), shape.len())));
    }
    selection.iter().zip(shape).enumerate().try_for_each(|(axis, (s, &size))| s.check(size, axis))
}

/// One dimension of a selection, cut at the cells' borders.
enum Cuts<'a> {
    /// Neighbouring cells, `first` and the `count - 1` after it, each touched at least once.
    Dense { part: (usize, usize, usize, usize), first: usize, count: usize },
    /// A step so wide that each index has a cell of its own.
    Sparse { part: (usize, usize, usize, usize) },
    /// The cells of listed indices.
    Listed { at: &'a [usize], out: &'a [usize], base: usize, cells: Vec<Touched> },
    /// The cells of a range, where these have lengths of their own.
    Uneven { part: (usize, usize, usize, usize), cells: Vec<Touched> },
}

/// A touched cell: its index, where it starts, and the first and end of the selected positions in it.
#[derive(Clone, Copy)]
struct Touched {
    cell: usize,
    start: usize,
    begin: usize,
    end: usize,
}

/// A selection of a box, cut into selections of the box's cells.
pub struct Cut<'a> {
    dims: Vec<(Cuts<'a>, usize)>,
    total: usize,
}

impl<'a> Cut<'a> {
    /// Cut `parts` into cells of shape `cell` (no extent of which is zero).
    pub fn new(parts: &[Part<'a>], cell: &[usize]) -> Self {
        let mut total = 1usize;
        let dims = parts
            .iter()
            .zip(cell)
            .map(|(part, &len)| {
                let cuts = cut(part, len);
                total = total.saturating_mul(cuts.count());
                (cuts, len)
            })
            .collect();
        Self { dims, total }
    }

    /// Cut `parts` into cells that have lengths of their own.
    pub fn uneven(parts: &[Part<'a>], edges: &[Edges]) -> Self {
        let mut total = 1usize;
        let dims = parts
            .iter()
            .zip(edges)
            .map(|(part, edges)| {
                let (cuts, len) = match edges {
                    Edges::Even { len, .. } => (cut(part, *len), *len),
                    Edges::Runs(_) => (cut_uneven(part, edges), 0),
                };
                total = total.saturating_mul(cuts.count());
                (cuts, len)
            })
            .collect();
        Self { dims, total }
    }

    /// Number of cells touched.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The `i`-th touched cell in C order: its index in the grid, and its own selection.
    pub fn part(&self, i: usize, index: &mut SmallVec<[u64; 6]>, parts: &mut Parts<'a>) {
        index.clear();
        parts.clear();
        index.resize(self.dims.len(), 0);
        parts.resize(self.dims.len(), Part::Run { at: 0, step: 1, n: 0, out: 0 });
        let mut rest = i;
        for (d, (cuts, len)) in self.dims.iter().enumerate().rev() {
            let count = cuts.count();
            let (cell, part) = cuts.part(rest % count, *len);
            index[d] = cell as u64;
            parts[d] = part;
            rest /= count;
        }
    }
}

fn cut<'a>(part: &Part<'a>, len: usize) -> Cuts<'a> {
    match *part {
        Part::Run { at, step, n, out } => {
            if n > 1 && step >= len {
                return Cuts::Sparse { part: (at, step, n, out) };
            }
            let (first, last) = (at / len, part.last() / len);
            let count = if n == 0 { 0 } else { last - first + 1 };
            Cuts::Dense { part: (at, step, n, out), first, count }
        }
        Part::Pick { at, out, base } => {
            let mut cells: Vec<Touched> = Vec::new();
            let mut i = 0;
            while i < at.len() {
                let cell = (at[i] - base) / len;
                let stop = i + at[i..].partition_point(|&x| (x - base) / len == cell);
                cells.push(Touched { cell, start: cell * len, begin: i, end: stop });
                i = stop;
            }
            Cuts::Listed { at, out, base, cells }
        }
    }
}

fn cut_uneven<'a>(part: &Part<'a>, edges: &Edges) -> Cuts<'a> {
    let mut cells: Vec<Touched> = Vec::new();
    let mut i = 0;
    match *part {
        Part::Run { at, step, n, out } => {
            while i < n {
                let chunk = edges.holding(at + i * step);
                let stop = (chunk.start.saturating_add(chunk.len) - at).div_ceil(step).min(n);
                cells.push(Touched { cell: chunk.cell, start: chunk.start, begin: i, end: stop });
                i = stop;
            }
            Cuts::Uneven { part: (at, step, n, out), cells }
        }
        Part::Pick { at, out, base } => {
            while i < at.len() {
                let chunk = edges.holding(at[i] - base);
                let stop = i + at[i..].partition_point(|&x| x - base - chunk.start < chunk.len);
                cells.push(Touched { cell: chunk.cell, start: chunk.start, begin: i, end: stop });
                i = stop;
            }
            Cuts::Listed { at, out, base, cells }
        }
    }
}

impl<'a> Cuts<'a> {
    fn count(&self) -> usize {
        match self {
            Self::Dense { count, .. } => *count,
            Self::Sparse { part: (_, _, n, _) } => *n,
            Self::Listed { cells, .. } | Self::Uneven { cells, .. } => cells.len(),
        }
    }

    fn part(&self, k: usize, len: usize) -> (usize, Part<'a>) {
        match self {
            Self::Dense { part: (at, step, n, out), first, .. } => {
                let cell = first + k;
                let (low, high) = (cell * len, (cell + 1) * len);
                // Positions i with low ≤ at + i·step < high.
                let begin = low.saturating_sub(*at).div_ceil(*step);
                let end = (high - at).div_ceil(*step).min(*n);
                (cell, Part::Run { at: at + begin * step - low, step: *step, n: end - begin, out: out + begin })
            }
            Self::Sparse { part: (at, step, _, out) } => {
                let index = at + k * step;
                (index / len, Part::Run { at: index % len, step: 1, n: 1, out: out + k })
            }
            Self::Listed { at, out, base, cells } => {
                let Touched { cell, start, begin, end } = cells[k];
                (cell, Part::Pick { at: &at[begin..end], out: &out[begin..end], base: base + start })
            }
            Self::Uneven { part: (at, step, _, out), cells } => {
                let Touched { cell, start, begin, end } = cells[k];
                (cell, Part::Run { at: at + begin * step - start, step: *step, n: end - begin, out: out + begin })
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::grid::{Axis, Grid};

    /// Every index must land where the selection says, exactly once.
    fn replay(select: &Select, size: usize, axis: &Axis) {
        check(std::slice::from_ref(select), &[size as u64]).unwrap();
        let grid = Grid::new(&[size as u64], std::slice::from_ref(axis)).unwrap();
        let mut expected: Vec<(usize, usize)> = match select {
            Select::Range(at, step, n) => (0..*n).map(|i| (i, at + i * step)).collect(),
            Select::List(at, out) => out.iter().copied().zip(at.iter().copied()).collect(),
        };
        let plan = match &grid.uneven {
            Some(edges) => Cut::uneven(&[select.part()], edges),
            None => Cut::new(&[select.part()], &grid.chunk),
        };
        let (mut index, mut parts, mut got) = (SmallVec::new(), Parts::new(), Vec::new());
        for i in 0..plan.total() {
            plan.part(i, &mut index, &mut parts);
            assert!(parts[0].count() > 0);
            let cell = index[0] as usize;
            let origin = grid.uneven.as_ref().map_or(cell * grid.chunk[0], |edges| edges[0].at(cell).start);
            let mut spare = crate::cell::Dims::new();
            assert!(parts[0].last() < grid.shape(&index, &mut spare)[0]);
            match parts[0] {
                Part::Run { at, step, n, out } => got.extend((0..n).map(|k| (out + k, origin + at + k * step))),
                Part::Pick { at, out, base } => {
                    got.extend(at.iter().zip(out).map(|(a, o)| (*o, origin + a - base)));
                }
            }
        }
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected, "{select:?} in cells of {axis:?}");
    }

    fn replay_all(size: usize, axis: &Axis) {
        for at in 0..size {
            for step in 1..=size + 1 {
                let most = (size - at).div_ceil(step);
                (0..=most).for_each(|n| replay(&Select::Range(at, step, n), size, axis));
            }
        }
        replay(&Select::list(&[0, 0, size as i64 - 1, size as i64 / 2, 0]).unwrap(), size, axis);
        replay(&Select::list(&[]).unwrap(), size, axis);
    }

    #[test]
    fn ranges_and_lists_are_cut_exactly() {
        for size in [1usize, 5, 12, 13] {
            for len in 1..=size + 2 {
                replay_all(size, &Axis::Even(len));
                replay_all(size, &Axis::Clipped(len));
            }
        }
    }

    #[test]
    fn uneven_cells_are_cut_exactly() {
        for runs in [
            vec![(1, 13)],
            vec![(13, 1)],
            vec![(2, 2), (1, 5), (7, 3)],
            vec![(20, 1), (1, 1)],
            vec![(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)],
        ] {
            let padded = runs.iter().enumerate().map(|(i, &(len, count))| (len, count, len + i % 3)).collect();
            for axis in [Axis::Runs(runs), Axis::Padded(padded)] {
                [1usize, 5, 12, 13].into_iter().for_each(|size| replay_all(size, &axis));
            }
        }
    }

    #[test]
    fn selections_outside_the_shape_are_refused() {
        assert!(check(&[Select::Range(0, 1, 11)], &[10]).is_err());
        assert!(check(&[Select::Range(0, usize::MAX, 3)], &[10]).is_err());
        assert!(check(&[Select::Range(0, 0, 1)], &[10]).is_err());
        assert!(Select::list(&[-1]).is_err());
        assert!(check(&[Select::list(&[10]).unwrap()], &[10]).is_err());
        assert!(check(&[], &[10]).is_err());
    }
}
