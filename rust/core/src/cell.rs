//! A selection inside one chunk, shard or inner chunk, and the moves between it and the caller's array.

#![allow(unsafe_code)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "integers of a selection that `plan::check` has bounded by the array's shape"
)]

use smallvec::SmallVec;

use crate::codec::{RowSink, Stores};
use crate::grid::{Edges, Grid};
use crate::mem::{self, Axis, Items, Rows, View};
use crate::plan::{Cut, Part, Parts};

/// Extents or indices, one per dimension.
pub type Dims = SmallVec<[usize; 6]>;

/// What is selected of a cell.
#[derive(Debug, Clone)]
pub enum Sel<'a> {
    /// A part of each dimension.
    Box(Parts<'a>),
    /// Single elements.
    Points(Points<'a>),
}

/// Single elements: each has a coordinate per dimension and a place in the caller's one-dimensional array.
#[derive(Debug, Clone)]
pub struct Points<'a> {
    /// All points' coordinates, dimension by dimension.
    pub coordinates: Vec<&'a [i64]>,
    /// Where the cell starts in the frame of the coordinates.
    pub origin: Dims,
    /// Which of the points lie in this cell, in the order of writing.
    pub ids: &'a [usize],
}

impl Points<'_> {
    fn offset(&self, id: usize, strides: &[isize]) -> isize {
        let axes = self.coordinates.iter().zip(&self.origin).zip(strides);
        axes.map(|((c, &o), &stride)| (c[id] as usize - o) as isize * stride).sum()
    }
}

/// Byte strides of a dense array in C order.
pub fn strides(shape: &[usize], item: usize) -> SmallVec<[isize; 6]> {
    let mut strides: SmallVec<[isize; 6]> = SmallVec::from_elem(0, shape.len());
    let mut at = item as isize;
    for d in (0..shape.len()).rev() {
        strides[d] = at;
        at *= shape[d] as isize;
    }
    strides
}

/// Spans beyond this number are not worth listing: the whole cell is read.
const MOST_SPANS: usize = 1024;

impl<'a> Sel<'a> {
    /// The whole of a cell.
    pub fn all(shape: &[usize]) -> Self {
        Self::Box(shape.iter().map(|&n| Part::Run { at: 0, step: 1, n, out: 0 }).collect())
    }

    /// Number of selected elements.
    pub fn count(&self) -> usize {
        match self {
            Self::Box(parts) => parts.iter().map(Part::count).product(),
            Self::Points(points) => points.ids.len(),
        }
    }

    /// Whether it takes every element of the first `extent`, in order.
    pub fn covers(&self, extent: &[usize]) -> bool {
        match self {
            Self::Box(parts) => parts.iter().zip(extent).all(|(part, &n)| part.covers(n)),
            Self::Points(_) => false,
        }
    }

    /// The same selection with the axes of the cell in another order.
    #[must_use]
    pub fn permuted(&self, order: &[usize]) -> Self {
        match self {
            Self::Box(parts) => Self::Box(order.iter().map(|&a| parts[a]).collect()),
            Self::Points(p) => Self::Points(Points {
                coordinates: order.iter().map(|&a| p.coordinates[a]).collect(),
                origin: order.iter().map(|&a| p.origin[a]).collect(),
                ids: p.ids,
            }),
        }
    }

    /// The view of the caller's array that belongs to [`Sel::permuted`].
    pub fn permuted_view(&self, view: &View, order: &[usize]) -> View {
        match self {
            Self::Box(_) => view.permuted(order),
            Self::Points(_) => view.clone(),
        }
    }

    /// Copy the selected elements of the dense cell `data` to the caller's array.
    pub fn scatter(&self, data: &[u8], shape: &[usize], item: usize, swap: usize, out: &View) {
        assert!(data.len() >= shape.iter().product::<usize>() * item, "cell shorter than its shape");
        let cell = strides(shape, item);
        let stores = Stores::new(out.is_far());
        let items = Items { size: item, swap, stores: &stores };
        match self {
            Self::Box(parts) => {
                let (from, to, axes) = axes(parts, &cell, out, false);
                let (src, dst) = (data.as_ptr().wrapping_offset(from), out.ptr().wrapping_offset(to));
                // SAFETY: parts lie within the cell, whose length was checked; the caller's view reaches every place.
                unsafe { mem::copy(&axes, items, src, dst) }
            }
            Self::Points(points) => {
                for &id in points.ids {
                    let src = data.as_ptr().wrapping_offset(points.offset(id, &cell));
                    let dst = out.ptr().wrapping_offset(id as isize * out.strides[0]);
                    // SAFETY: as above.
                    unsafe { mem::copy(&[], items, src, dst) }
                }
            }
        }
    }

    /// Copy the selected elements from the caller's array into the dense cell `data`.
    pub fn gather(&self, data: &mut [u8], shape: &[usize], item: usize, src: &View) {
        assert!(data.len() >= shape.iter().product::<usize>() * item, "cell shorter than its shape");
        let cell = strides(shape, item);
        let items = Items { size: item, swap: 0, stores: &Stores::NEAR };
        match self {
            Self::Box(parts) => {
                let (to, from, axes) = axes(parts, &cell, src, true);
                let (from, to) = (src.ptr().wrapping_offset(from), data.as_mut_ptr().wrapping_offset(to));
                // SAFETY: parts lie within the cell, whose length was checked; the caller's view reaches every place.
                unsafe { mem::copy(&axes, items, from, to) }
            }
            Self::Points(points) => {
                for &id in points.ids {
                    let to = data.as_mut_ptr().wrapping_offset(points.offset(id, &cell));
                    let from = src.ptr().wrapping_offset(id as isize * src.strides[0]);
                    // SAFETY: as above.
                    unsafe { mem::copy(&[], items, from, to) }
                }
            }
        }
    }

    /// Write `value` to every selected place of the caller's array.
    pub fn fill(&self, value: &[u8], out: &View) {
        let stores = Stores::new(out.is_far());
        match self {
            Self::Box(parts) => {
                self.settle(value.len(), out);
                let zero: SmallVec<[isize; 6]> = SmallVec::from_elem(0, parts.len());
                let (_, to, axes) = axes(parts, &zero, out, false);
                // SAFETY: the caller's view reaches every place of the selection.
                unsafe { mem::fill_axes(&axes, value, &stores, out.ptr().wrapping_offset(to)) }
            }
            Self::Points(points) => {
                for &id in points.ids {
                    let to = out.ptr().wrapping_offset(id as isize * out.strides[0]);
                    // SAFETY: as above.
                    unsafe { mem::fill_axes(&[], value, &stores, to) }
                }
            }
        }
    }

    /// Where a fully selected cell lies in the caller's array, if without gaps and in C order.
    fn solid(&self, shape: &[usize], item: usize, view: &View) -> Option<*mut u8> {
        let Self::Box(parts) = self else { return None };
        let dense = strides(shape, item);
        let mut ptr = view.ptr();
        for (d, part) in parts.iter().enumerate() {
            let Part::Run { at: 0, step, n, out } = *part else { return None };
            if n != shape[d] || n > 1 && (step != 1 || view.strides[d] != dense[d]) {
                return None;
            }
            ptr = ptr.wrapping_offset(out as isize * view.strides[d]);
        }
        Some(ptr)
    }

    /// The caller's memory as one slice, where the whole cell lies there in one piece.
    pub fn slice(&self, shape: &[usize], item: usize, view: &View) -> Option<&'a [u8]> {
        let ptr = self.solid(shape, item, view)?;
        // SAFETY: a whole dense cell of the caller's array, alive and unchanged during the call.
        Some(unsafe { std::slice::from_raw_parts(ptr, shape.iter().product::<usize>() * item) })
    }

    /// The caller's memory as slices that make up the whole cell in its order, where these are few and each has `least`
    /// bytes or more.
    pub fn slices(&self, shape: &[usize], item: usize, view: &View, least: usize) -> Option<Vec<&'a [u8]>> {
        if let Some(whole) = self.slice(shape, item, view) {
            return Some(vec![whole]);
        }
        let mut rows = self.rows(shape, item, view)?;
        let size = rows.row_bytes();
        let count = (shape.iter().product::<usize>() * item).checked_div(size)?;
        if size < least || count > MOST_SPANS {
            return None;
        }
        // SAFETY: rows of a whole cell of the caller's array, alive and unchanged during the call.
        Some((0..count).map(|i| unsafe { std::slice::from_raw_parts(rows.row(i).as_ptr(), size) }).collect())
    }

    /// As [`Sel::slice`], for writing.
    #[allow(clippy::mut_from_ref, reason = "the memory is the caller's; no other task has this cell")]
    pub fn slice_mut(&self, shape: &[usize], item: usize, view: &View) -> Option<&'a mut [u8]> {
        let ptr = self.solid(shape, item, view)?;
        // SAFETY: a whole dense cell of the caller's array that belongs to this task alone.
        Some(unsafe { std::slice::from_raw_parts_mut(ptr, shape.iter().product::<usize>() * item) })
    }

    /// The caller's memory as one slice, where what is selected lies in one piece both there and in the dense cell, of
    /// which `spans` are the selected bytes.
    #[allow(clippy::mut_from_ref, reason = "as `slice_mut`")]
    pub fn strip_mut(&self, spans: &[(usize, usize)], item: usize, view: &View) -> Option<&'a mut [u8]> {
        let (Self::Box(parts), &[(low, high)]) = (self, spans) else { return None };
        let mut ptr = view.ptr();
        let mut expected = item;
        for (part, &stride) in parts.iter().zip(&view.strides).rev() {
            let Part::Run { step, n, out, .. } = *part else { return None };
            if n > 1 && (step != 1 || stride != expected as isize) {
                return None;
            }
            ptr = ptr.wrapping_offset(out as isize * stride);
            expected = expected.saturating_mul(n);
        }
        // SAFETY: the selected elements, without gaps, which belong to this task alone.
        (expected == high - low).then(|| unsafe { std::slice::from_raw_parts_mut(ptr, expected) })
    }

    /// Prepare the caller's memory for what is selected, where nobody has written to it yet.
    pub fn settle(&self, item: usize, view: &View) {
        let Self::Box(parts) = self else { return };
        let mut first = view.ptr();
        let mut axes: SmallVec<[(usize, usize); 6]> = SmallVec::new();
        for (part, &stride) in parts.iter().zip(&view.strides) {
            let Part::Run { n, out, .. } = *part else { return };
            let (0.., 1..) = (stride, n) else { return };
            first = first.wrapping_offset(out as isize * stride);
            axes.push((n, stride.unsigned_abs()));
        }
        axes.sort_unstable_by_key(|&(_, stride)| std::cmp::Reverse(stride));
        mem::settle(first, item, &axes);
    }

    /// The caller's memory as rows, where the whole cell is selected and its last axis lies there without gaps.
    pub fn rows(&self, shape: &[usize], item: usize, view: &View) -> Option<Rows> {
        let Self::Box(parts) = self else { return None };
        let mut base = view.ptr();
        for (d, part) in parts.iter().enumerate() {
            let Part::Run { at: 0, step, n, out } = *part else { return None };
            if n != shape[d] || n > 1 && step != 1 {
                return None;
            }
            base = base.wrapping_offset(out as isize * view.strides[d]);
        }
        // Trailing axes that follow each other without a gap make one long row.
        let mut row = item;
        let mut d = shape.len();
        while d > 0 && (shape[d - 1] == 1 || view.strides[d - 1] == row as isize) {
            row *= shape[d - 1];
            d -= 1;
        }
        if row == item && d > 0 {
            return None;
        }
        let outer = (0..d).map(|k| (shape[k], view.strides[k])).collect();
        // SAFETY: the whole cell is selected, so every row belongs to the caller's array and to this task.
        Some(unsafe { Rows::new(base, row, outer, view.is_far()) })
    }

    /// The half-open byte spans of the dense cell that hold the selection, gaps up to `gap` read over; `None` if it is
    /// simpler to take the whole cell.
    pub fn spans(&self, shape: &[usize], item: usize, gap: usize) -> Option<Vec<(usize, usize)>> {
        let total = shape.iter().product::<usize>() * item;
        if self.count().saturating_mul(item).saturating_mul(4) > total {
            return None;
        }
        let cell = strides(shape, item);
        let mut spans: Vec<(usize, usize)> = Vec::new();
        match self {
            Self::Box(parts) => {
                let rows: usize = parts.iter().rev().skip(1).map(Part::count).product();
                if rows > MOST_SPANS * 16 {
                    return None;
                }
                let (last, outer) = parts.split_last()?;
                let (low, high) = (last.first() * item, (last.last() + 1) * item);
                let mut index: Dims = SmallVec::from_elem(0, outer.len());
                for _ in 0..rows {
                    let row: usize =
                        outer.iter().zip(&index).zip(&cell).map(|((p, &i), &s)| place(p, i) * s as usize).sum();
                    push(&mut spans, row + low, row + high, gap);
                    for d in (0..outer.len()).rev() {
                        index[d] += 1;
                        if index[d] < outer[d].count() {
                            break;
                        }
                        index[d] = 0;
                    }
                }
            }
            Self::Points(points) => {
                if points.ids.len() > MOST_SPANS {
                    return None;
                }
                let mut at: Vec<usize> = points.ids.iter().map(|&id| points.offset(id, &cell) as usize).collect();
                at.sort_unstable();
                at.iter().for_each(|&o| push(&mut spans, o, o + item, gap));
            }
        }
        let covered: usize = spans.iter().map(|(a, b)| b - a).sum();
        (spans.len() <= MOST_SPANS && covered.saturating_mul(2) < total).then_some(spans)
    }

    /// Cut into the selections of smaller cells of one shape.
    pub fn cut(&self, cell: &[usize], grid: &[usize]) -> Cells<'a> {
        match self {
            Self::Box(parts) => Cells::Box(Cut::new(parts, cell)),
            Self::Points(points) => {
                let near = |d: usize, at: usize| at / cell[d];
                Cells::group(points, Lengths::Even(SmallVec::from_slice(cell)), grid, near)
            }
        }
    }

    /// Cut into the selections of the chunks of a grid.
    pub fn cut_at(&self, grid: &'a Grid) -> Cells<'a> {
        match (self, &grid.uneven) {
            (_, None) => self.cut(&grid.chunk, &grid.counts),
            (Self::Box(parts), Some(edges)) => Cells::Box(Cut::uneven(parts, edges)),
            (Self::Points(points), Some(edges)) => {
                Cells::group(points, Lengths::Uneven(edges), &grid.counts, |d, at| edges[d].holding(at).cell)
            }
        }
    }
}

/// Where the selection starts in the caller's array, and the axes of a copy between it and a dense cell.
fn axes<'a>(
    parts: &[Part<'a>],
    cell: &[isize],
    view: &View,
    into_cell: bool,
) -> (isize, isize, SmallVec<[Axis<'a>; 6]>) {
    let (mut from, mut to) = (0, 0);
    let axes = parts.iter().zip(cell).zip(&view.strides);
    let axes = axes
        .map(|((part, &c), &v)| match *part {
            Part::Run { at, step, n, out } => {
                from += at as isize * c;
                to += out as isize * v;
                let c = step as isize * c;
                if into_cell { Axis::Run { n, src: v, dst: c } } else { Axis::Run { n, src: c, dst: v } }
            }
            Part::Pick { at, out, base } => {
                from -= base as isize * c;
                if into_cell {
                    Axis::Pick { src: (out, v), dst: (at, c) }
                } else {
                    Axis::Pick { src: (at, c), dst: (out, v) }
                }
            }
        })
        .collect();
    (from, to, axes)
}

fn place(part: &Part<'_>, i: usize) -> usize {
    match *part {
        Part::Run { at, step, .. } => at + i * step,
        Part::Pick { at, base, .. } => at[i] - base,
    }
}

fn push(spans: &mut Vec<(usize, usize)>, low: usize, high: usize, gap: usize) {
    match spans.last_mut() {
        Some((_, end)) if low <= end.saturating_add(gap) && high >= *end => *end = high,
        Some((start, end)) if low >= *start && high <= *end => {}
        _ => spans.push((low, high)),
    }
}

/// The cells that a selection touches.
#[allow(clippy::large_enum_variant, reason = "one per call, never in a list")]
pub enum Cells<'a> {
    /// Of a box.
    Box(Cut<'a>),
    /// Of points: per touched cell its index and a range of `ids`.
    Points {
        /// All points of the selection that was cut.
        points: Points<'a>,
        /// The points, cell by cell.
        ids: Vec<usize>,
        /// Touched cells.
        groups: Vec<(u64, usize, usize)>,
        /// The cells' shape.
        cell: Lengths<'a>,
        /// Cells along each dimension.
        grid: Dims,
    },
}

/// The shape of cells.
pub enum Lengths<'a> {
    /// The same for all.
    Even(Dims),
    /// Depending on the cell.
    Uneven(&'a [Edges]),
}

impl<'a> Cells<'a> {
    /// Sort points by cell; `near` gives the index of the cell that holds a place along a dimension.
    fn group(points: &Points<'a>, cell: Lengths<'a>, grid: &[usize], near: impl Fn(usize, usize) -> usize) -> Self {
        let linear = |id: usize| {
            let axes = points.coordinates.iter().zip(&points.origin).zip(grid).enumerate();
            axes.fold(0u64, |sum, (d, ((c, &o), &g))| sum * g as u64 + near(d, c[id] as usize - o) as u64)
        };
        let mut pairs: Vec<(u64, usize)> = points.ids.iter().map(|&id| (linear(id), id)).collect();
        // Within a cell the order stays: of two writes to one element the later one wins.
        if !pairs.is_sorted_by_key(|p| p.0) {
            pairs.sort_by_key(|p| p.0);
        }
        let mut groups = Vec::new();
        let mut i = 0;
        while i < pairs.len() {
            let end = i + pairs[i..].partition_point(|p| p.0 == pairs[i].0);
            groups.push((pairs[i].0, i, end));
            i = end;
        }
        let ids = pairs.into_iter().map(|p| p.1).collect();
        Self::Points { points: points.clone(), ids, groups, cell, grid: SmallVec::from_slice(grid) }
    }

    /// Number of touched cells.
    pub fn total(&self) -> usize {
        match self {
            Self::Box(cut) => cut.total(),
            Self::Points { groups, .. } => groups.len(),
        }
    }

    /// The `i`-th touched cell: its index in the grid goes to `index`, its selection is returned.
    pub fn part<'s>(&'s self, i: usize, index: &mut SmallVec<[u64; 6]>) -> Sel<'s>
    where
        'a: 's,
    {
        match self {
            Self::Box(cut) => {
                let mut parts = Parts::new();
                cut.part(i, index, &mut parts);
                Sel::Box(parts)
            }
            Self::Points { points, ids, groups, cell, grid } => {
                let (linear, from, to) = groups[i];
                index.clear();
                index.resize(grid.len(), 0);
                let mut rest = linear;
                for d in (0..grid.len()).rev() {
                    index[d] = rest % grid[d].max(1) as u64;
                    rest /= grid[d].max(1) as u64;
                }
                let origin = points.origin.iter().zip(index.iter()).enumerate();
                let start = |d: usize, i: usize| match cell {
                    Lengths::Even(cell) => i * cell[d],
                    Lengths::Uneven(edges) => edges[d].at(i).start,
                };
                Sel::Points(Points {
                    coordinates: points.coordinates.clone(),
                    origin: origin.map(|(d, (&o, &i))| o + start(d, i as usize)).collect(),
                    ids: &ids[from..to],
                })
            }
        }
    }
}
