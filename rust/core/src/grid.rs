//! How an array is cut into chunks: evenly, or at places of its own along each dimension.
//!
//! Most arrays have chunks of one shape, and pay nothing for those that have not: an even grid holds no [`Edges`], and is
//! cut by division. Chunks of different lengths are kept as runs of equal ones, so that what a document says in a few
//! numbers never becomes a list as long as the array.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "places in an array whose runs were counted when the grid was made"
)]

use smallvec::SmallVec;

use crate::cell::Dims;
use crate::error::{Error, Result};

/// One dimension of a grid, as the caller describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axis {
    /// Chunks of one length; the last one may reach past the array's end.
    Even(usize),
    /// Chunks of one length; the last one ends where the array does.
    Clipped(usize),
    /// Runs of chunks: the length of each, and how many follow each other. They may reach past the array's end.
    Runs(Vec<(usize, usize)>),
    /// Runs of chunks that are stored longer than what they hold of the array: the length that counts, how many follow
    /// each other, and the length as stored. The rest of each stored chunk belongs to nothing.
    Padded(Vec<(usize, usize, usize)>),
}

/// Where the chunks of one dimension lie.
#[derive(Debug, Clone)]
pub enum Edges {
    /// Chunks of one length.
    Even {
        /// That length.
        len: usize,
        /// Where the last chunk ends.
        end: usize,
    },
    /// Runs of equal chunks, in order, none of which begins past the array's end.
    Runs(Vec<Run>),
}

/// Neighbouring chunks of one length.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Index of the first of them.
    cell: usize,
    /// Where it starts.
    start: usize,
    /// Length of each.
    len: usize,
    /// Length of each as it is stored, which is no shorter.
    stored: usize,
}

/// One chunk along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Its index in the grid.
    pub cell: usize,
    /// Where it starts.
    pub start: usize,
    /// How long it is.
    pub len: usize,
    /// How long it is stored.
    pub stored: usize,
}

impl Edges {
    fn new(axis: &Axis, size: usize) -> Result<Self> {
        match axis {
            Axis::Even(len) => Ok(Self::Even { len: *len, end: usize::MAX }),
            Axis::Clipped(len) => Ok(Self::Even { len: *len, end: size }),
            Axis::Runs(runs) => Self::of_runs(runs.iter().map(|&(len, count)| (len, count, len)), size),
            Axis::Padded(runs) => Self::of_runs(runs.iter().copied(), size),
        }
    }

    fn of_runs(lengths: impl Iterator<Item = (usize, usize, usize)>, size: usize) -> Result<Self> {
        let (mut runs, mut cell, mut start) = (Vec::new(), 0usize, 0usize);
        for (len, count, stored) in lengths {
            if start >= size {
                break;
            }
            if len == 0 || count == 0 {
                return Err(Error::Invalid("a run of chunks without length".into()));
            }
            if stored < len {
                return Err(Error::Invalid(format!("chunks of length {len} cannot be stored as {stored}")));
            }
            runs.push(Run { cell, start, len, stored });
            cell = cell.saturating_add(count);
            start = start.saturating_add(len.saturating_mul(count));
        }
        if start < size {
            return Err(Error::Invalid(format!("chunks up to {start} for a dimension of length {size}")));
        }
        Ok(Self::Runs(runs))
    }

    /// The chunk that holds the element at `at`, which lies in the array.
    pub fn holding(&self, at: usize) -> Chunk {
        let Run { cell, start, len, stored } = match self {
            Self::Even { len, .. } => Run { cell: 0, start: 0, len: *len, stored: *len },
            Self::Runs(runs) => runs[runs.partition_point(|run| run.start <= at) - 1],
        };
        let k = (at - start) / len;
        self.clipped(Chunk { cell: cell + k, start: start + k * len, len, stored })
    }

    /// The chunk at an index of the grid.
    pub fn at(&self, cell: usize) -> Chunk {
        let Run { cell: first, start, len, stored } = match self {
            Self::Even { len, .. } => Run { cell: 0, start: 0, len: *len, stored: *len },
            Self::Runs(runs) => runs[runs.partition_point(|run| run.cell <= cell) - 1],
        };
        self.clipped(Chunk { cell, start: start + (cell - first) * len, len, stored })
    }

    fn clipped(&self, chunk: Chunk) -> Chunk {
        match self {
            Self::Even { end, .. } => {
                let len = chunk.len.min(end - chunk.start);
                Chunk { len, stored: len, ..chunk }
            }
            Self::Runs(_) => chunk,
        }
    }

    /// Whether some chunk is stored longer than what it holds of the array.
    fn padded(&self) -> bool {
        matches!(self, Self::Runs(runs) if runs.iter().any(|run| run.stored != run.len))
    }

    /// The length of the longest chunk as stored, and the greatest common divisor of all such lengths.
    fn lengths(&self, size: usize) -> (usize, usize) {
        match self {
            Self::Even { len, end } if *end == size && *len > 0 => (*len, gcd(*len, size % len)),
            Self::Even { len, .. } => (*len, *len),
            Self::Runs(runs) => {
                runs.iter().fold((0, 0), |(most, common), run| (most.max(run.stored), gcd(common, run.stored)))
            }
        }
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A grid of chunks.
#[derive(Debug)]
pub struct Grid {
    /// The shape of every chunk; where they differ, the longest of each dimension.
    pub chunk: Dims,
    /// Chunks along each dimension.
    pub counts: Dims,
    /// The places of chunks, where these do not have one shape.
    pub uneven: Option<Vec<Edges>>,
    /// A shape of which that of every chunk is a multiple.
    pub common: Dims,
}

impl Grid {
    /// The grid of an array of a shape.
    pub fn new(shape: &[u64], axes: &[Axis]) -> Result<Self> {
        if shape.len() != axes.len() {
            return Err(Error::Invalid("shape and chunks have different numbers of dimensions".into()));
        }
        let (mut chunk, mut counts, mut common) = (Dims::new(), Dims::new(), Dims::new());
        let mut uneven = Vec::new();
        let even = axes.iter().all(|axis| matches!(axis, Axis::Even(_)));
        for (&size, axis) in shape.iter().zip(axes) {
            let size = usize::try_from(size).map_err(|_| Error::Limit(format!("a dimension of {size} elements")))?;
            let edges = Edges::new(axis, size)?;
            let (longest, shared) = edges.lengths(size);
            if longest == 0 && size > 0 {
                return Err(Error::Invalid(format!("chunks without length for a dimension of length {size}")));
            }
            counts.push(if size == 0 { 0 } else { edges.holding(size - 1).cell + 1 });
            chunk.push(longest);
            common.push(shared);
            if !even {
                uneven.push(edges);
            }
        }
        Ok(Self { chunk, counts, uneven: (!even).then_some(uneven), common })
    }

    /// Whether some chunk is stored longer than what it holds of the array: such a grid is only read.
    pub fn padded(&self) -> bool {
        self.uneven.as_ref().is_some_and(|uneven| uneven.iter().any(Edges::padded))
    }

    /// The shape of the chunk at an index, as it is stored.
    pub fn shape<'a>(&'a self, index: &[u64], spare: &'a mut Dims) -> &'a [usize] {
        let Some(uneven) = &self.uneven else { return &self.chunk };
        *spare = uneven.iter().zip(index).map(|(edges, &i)| edges.at(i as usize).stored).collect();
        spare
    }

    /// How much of the chunk at an index lies within an array of a shape.
    pub fn extent(&self, index: &[u64], shape: &[u64]) -> Dims {
        let starts: SmallVec<[(u64, usize); 6]> = match &self.uneven {
            None => index.iter().zip(&self.chunk).map(|(&i, &n)| (i.saturating_mul(n as u64), n)).collect(),
            Some(uneven) => {
                let chunks = uneven.iter().zip(index).map(|(edges, &i)| edges.at(i as usize));
                chunks.map(|chunk| (chunk.start as u64, chunk.len)).collect()
            }
        };
        starts.iter().zip(shape).map(|(&(start, n), &size)| inside(size, start, n)).collect()
    }
}

/// How much of a cell of `n` elements at `origin` lies within `size`.
pub fn inside(size: u64, origin: u64, n: usize) -> usize {
    usize::try_from(size.saturating_sub(origin)).unwrap_or(usize::MAX).min(n)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn lengths(axis: &Axis, size: usize) -> Vec<usize> {
        let grid = Grid::new(&[size as u64], std::slice::from_ref(axis)).unwrap();
        let mut spare = Dims::new();
        (0..grid.counts[0] as u64).map(|i| grid.shape(&[i], &mut spare)[0]).collect()
    }

    #[test]
    fn chunks_have_the_lengths_that_were_given() {
        let runs = Axis::Runs(vec![(3, 1), (1, 4), (10, 2)]);
        assert_eq!(lengths(&runs, 27), [3, 1, 1, 1, 1, 10, 10]);
        assert_eq!(lengths(&runs, 20), [3, 1, 1, 1, 1, 10, 10]);
        assert_eq!(lengths(&runs, 17), [3, 1, 1, 1, 1, 10]);
        assert_eq!(lengths(&runs, 3), [3]);
        assert_eq!(lengths(&runs, 0), [0usize; 0]);
        assert_eq!(lengths(&Axis::Even(4), 9), [4, 4, 4]);
        assert_eq!(lengths(&Axis::Clipped(4), 9), [4, 4, 1]);
        assert_eq!(lengths(&Axis::Clipped(4), 8), [4, 4]);
        assert_eq!(lengths(&Axis::Clipped(4), 3), [3]);
        assert_eq!(lengths(&Axis::Even(0), 0), [0usize; 0]);
    }

    #[test]
    fn every_element_lies_in_the_chunk_that_says_so() {
        let padded = Axis::Padded(vec![(2, 2, 3), (5, 1, 5), (1, 3, 8), (4, 9, 6)]);
        for axis in [Axis::Runs(vec![(2, 2), (5, 1), (1, 3), (4, 9)]), Axis::Clipped(5), Axis::Even(3), padded] {
            let edges = Edges::new(&axis, 31).unwrap();
            let mut next = 0;
            for at in 0..31 {
                let chunk = edges.holding(at);
                assert!(chunk.start <= at && at < chunk.start + chunk.len, "{axis:?} {at}");
                assert_eq!(edges.at(chunk.cell), chunk);
                if chunk.start == at {
                    assert_eq!(chunk.cell, next);
                    next += 1;
                }
            }
        }
    }

    #[test]
    fn lengths_share_a_divisor() {
        let grid = |size, axis| Grid::new(&[size], &[axis]).unwrap().common[0];
        assert_eq!(grid(30, Axis::Runs(vec![(4, 3), (6, 3)])), 2);
        assert_eq!(grid(12, Axis::Runs(vec![(4, 3), (6, 3)])), 4);
        assert_eq!(grid(30, Axis::Clipped(8)), 2);
        assert_eq!(grid(32, Axis::Clipped(8)), 8);
        assert_eq!(grid(33, Axis::Even(8)), 8);
    }

    #[test]
    fn padded_chunks_are_stored_longer() {
        let axis = Axis::Padded(vec![(4, 2, 4), (2, 1, 4), (4, 1, 4), (1, 1, 3)]);
        assert_eq!(lengths(&axis, 15), [4, 4, 4, 4, 3]);
        let grid = Grid::new(&[15], std::slice::from_ref(&axis)).unwrap();
        assert!(grid.padded());
        assert_eq!((grid.chunk[0], grid.common[0], grid.counts[0]), (4, 1, 5));
        let extents: Vec<_> = (0..5).map(|i| grid.extent(&[i], &[15])[0]).collect();
        assert_eq!(extents, [4, 4, 2, 4, 1]);
        assert!(Grid::new(&[4], &[Axis::Padded(vec![(4, 1, 3)])]).is_err());
        assert!(!Grid::new(&[4], &[Axis::Padded(vec![(4, 1, 4)])]).unwrap().padded());
    }

    #[test]
    fn runs_must_reach_the_end() {
        let new = |size, runs| Grid::new(&[size], &[Axis::Runs(runs)]);
        assert!(new(10, vec![(3, 3)]).is_err());
        assert!(new(10, vec![]).is_err());
        assert!(new(0, vec![]).is_ok());
        assert!(new(10, vec![(0, 3), (10, 1)]).is_err());
        assert!(new(10, vec![(5, usize::MAX), (usize::MAX, usize::MAX)]).is_ok());
        let far = new(1 << 62, vec![(1, 1 << 61), (1 << 40, usize::MAX)]).unwrap();
        assert_eq!(far.counts[0], (1 << 61) + (1 << 21));
        assert!(Grid::new(&[1, 1], &[Axis::Even(1)]).is_err());
        assert!(Grid::new(&[1], &[Axis::Even(0)]).is_err());
    }
}
