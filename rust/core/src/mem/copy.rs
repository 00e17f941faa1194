//! The n-d copy: any strides or picks on either side, bytes swapped on the way if asked.

use smallvec::SmallVec;

use super::transpose::transpose;
use crate::codec::Stores;

/// One axis of a copy.
#[derive(Debug, Clone, Copy)]
pub enum Axis<'a> {
    /// `n` elements at a constant byte distance on each side.
    Run {
        /// Number of elements.
        n: usize,
        /// Byte stride in the source.
        src: isize,
        /// Byte stride in the destination.
        dst: isize,
    },
    /// Elements at listed places: byte offset of element `i` is `src.0[i] * src.1`, likewise for `dst`.
    Pick {
        /// Positions and stride in the source.
        src: (&'a [usize], isize),
        /// Positions and stride in the destination.
        dst: (&'a [usize], isize),
    },
}

type Axes<'a> = SmallVec<[Axis<'a>; 6]>;

/// What is copied, and how.
#[derive(Clone, Copy)]
pub struct Items<'a> {
    /// Bytes of an item.
    pub size: usize,
    /// Bytes of the units whose bytes are reversed; 0 or 1 for none.
    pub swap: usize,
    /// The way to memory.
    pub stores: &'a Stores,
}

impl Items<'_> {
    /// Whether bytes are copied as they are, and through the caches.
    fn are_plain(&self) -> bool {
        self.swap <= 1 && !self.stores.around()
    }
}

/// Copy items.
///
/// # Safety
/// Every source offset that the axes reach must be readable and every destination offset writable, the two must not
/// overlap, and units must divide items.
pub unsafe fn copy(axes: &[Axis<'_>], items: Items<'_>, src: *const u8, dst: *mut u8) {
    let mut src = src;
    let mut dst = dst;
    let mut list: Axes<'_> = SmallVec::new();
    for &axis in axes {
        match axis {
            Axis::Run { n: 0, .. } => return,
            Axis::Run { n: 1, .. } => {}
            Axis::Pick { src: (s, ss), dst: (d, ds) } => match s.len() {
                0 => return,
                1 => {
                    src = src.wrapping_offset(s[0] as isize * ss);
                    dst = dst.wrapping_offset(d[0] as isize * ds);
                }
                _ => list.push(axis),
            },
            Axis::Run { .. } => list.push(axis),
        }
    }
    arrange(&mut list);
    // SAFETY: the same elements in another order; the caller vouches for them.
    unsafe { walk(&list, items, src, dst) }
}

/// Order runs so that the destination's nearest neighbours come last, and join axes that continue each other.
fn arrange(list: &mut Axes<'_>) {
    let key = |a: &Axis<'_>| match *a {
        Axis::Run { dst, .. } => dst.unsigned_abs(),
        Axis::Pick { dst: (_, stride), .. } => stride.unsigned_abs(),
    };
    list.sort_by_key(|a| std::cmp::Reverse(key(a)));
    let mut i = list.len();
    while i >= 2 {
        i -= 1;
        if let (Axis::Run { n, src, dst }, Axis::Run { n: m, src: s, dst: d }) = (list[i - 1], list[i])
            && src == m as isize * s
            && dst == m as isize * d
        {
            list[i - 1] = Axis::Run { n: n * m, src: s, dst: d };
            list.remove(i);
        }
    }
}

unsafe fn walk(axes: &[Axis<'_>], items: Items<'_>, src: *const u8, dst: *mut u8) {
    let Items { size, swap, .. } = items;
    // SAFETY: every call below reaches a subset of the elements that the caller vouched for.
    unsafe {
        match axes {
            [] => run(size, items, src, dst),
            [Axis::Run { n, src: s, dst: d }] => line(*n, *s, *d, items, src, dst),
            // The most common: rows, which may be so short that every other step between them would tell.
            [Axis::Run { n, src: s, dst: d }, Axis::Run { n: m, src: t, dst: e }]
                if items.are_plain() && *t == size as isize && *e == size as isize =>
            {
                for i in 0..*n as isize {
                    let (from, to) = (src.wrapping_offset(i * s), dst.wrapping_offset(i * d));
                    std::ptr::copy_nonoverlapping(from, to, m * size);
                }
            }
            [Axis::Run { n, src: s, dst: d }, Axis::Run { n: m, src: t, dst: e }]
                if swap <= 1 && *e == size as isize && *s == size as isize && *t != size as isize =>
            {
                transpose((*n, *d), (*m, *t), size, src, dst);
            }
            [outer @ Axis::Run { n, src: s, dst: d }, inner @ ..] => {
                if swap <= 1 && turns(*s, inner, size) {
                    let mut turned: Axes<'_> = SmallVec::from_slice(inner);
                    turned.insert(inner.len() - 1, *outer);
                    return walk(&turned, items, src, dst);
                }
                for i in 0..*n as isize {
                    walk(inner, items, src.wrapping_offset(i * s), dst.wrapping_offset(i * d));
                }
            }
            [Axis::Pick { src: (s, ss), dst: (d, ds) }, inner @ ..] => {
                for (&i, &j) in s.iter().zip(*d) {
                    let (from, to) = (src.wrapping_offset(i as isize * ss), dst.wrapping_offset(j as isize * ds));
                    walk(inner, items, from, to);
                }
            }
        }
    }
}

/// Whether an axis that is contiguous in the source should move next to the one that is contiguous in the destination, so
/// that both sides are walked in lines.
fn turns(stride: isize, inner: &[Axis<'_>], item: usize) -> bool {
    let contiguous = |a: &Axis<'_>| matches!(a, Axis::Run { src, .. } if *src == item as isize);
    inner.len() > 1
        && stride == item as isize
        && !inner.iter().any(contiguous)
        && matches!(inner.last(), Some(Axis::Run { dst, .. }) if *dst == item as isize)
}

/// A line of items: one memory copy where both sides are contiguous.
unsafe fn line(n: usize, s: isize, d: isize, items: Items<'_>, src: *const u8, dst: *mut u8) {
    let Items { size, swap, .. } = items;
    // SAFETY: n items at these strides are readable and writable, says the caller.
    unsafe {
        if s == size as isize && d == size as isize {
            return run(n * size, items, src, dst);
        }
        match (size, swap) {
            (1, _) => each::<1>(n, s, d, src, dst),
            (2, 0 | 1) => each::<2>(n, s, d, src, dst),
            (4, 0 | 1) => each::<4>(n, s, d, src, dst),
            (8, 0 | 1) => each::<8>(n, s, d, src, dst),
            (16, 0 | 1) => each::<16>(n, s, d, src, dst),
            _ => {
                for i in 0..n as isize {
                    run(size, items, src.wrapping_offset(i * s), dst.wrapping_offset(i * d));
                }
            }
        }
    }
}

unsafe fn each<const N: usize>(n: usize, s: isize, d: isize, src: *const u8, dst: *mut u8) {
    for i in 0..n as isize {
        // SAFETY: item i of the line; arrays of bytes have no alignment.
        unsafe {
            *dst.wrapping_offset(i * d).cast::<[u8; N]>() = *src.wrapping_offset(i * s).cast::<[u8; N]>();
        }
    }
}

/// A contiguous run of bytes, swapped by unit.
#[inline]
unsafe fn run(bytes: usize, items: Items<'_>, src: *const u8, dst: *mut u8) {
    let Items { swap, stores, .. } = items;
    if items.are_plain() {
        // SAFETY: both sides have `bytes` bytes and do not overlap, says the caller.
        return unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
    }
    // SAFETY: both sides have `bytes` bytes and do not overlap, says the caller.
    let (from, to) = unsafe { (std::slice::from_raw_parts(src, bytes), std::slice::from_raw_parts_mut(dst, bytes)) };
    let make = |from: &[u8], to: &mut [u8]| match swap {
        0 | 1 => to.copy_from_slice(from),
        2 => swapped::<2>(from, to),
        4 => swapped::<4>(from, to),
        8 => swapped::<8>(from, to),
        _ => {
            for (a, b) in from.chunks_exact(swap).zip(to.chunks_exact_mut(swap)) {
                b.copy_from_slice(a);
                b.reverse();
            }
        }
    };
    if !stores.lines(swap.max(1), to, |at, piece| make(&from[at..at + piece.len()], piece)) {
        make(from, to);
    }
}

fn swapped<const N: usize>(from: &[u8], to: &mut [u8]) {
    let (from, _) = from.as_chunks::<N>();
    let (to, _) = to.as_chunks_mut::<N>();
    for (a, b) in from.iter().zip(to) {
        let mut unit = *a;
        unit.reverse();
        *b = unit;
    }
}

/// Reverse the bytes of each `swap`-byte unit where they are.
pub fn swap_in_place(data: &mut [u8], swap: usize) {
    match swap {
        0 | 1 => {}
        2 => data.as_chunks_mut::<2>().0.iter_mut().for_each(|u| u.reverse()),
        4 => data.as_chunks_mut::<4>().0.iter_mut().for_each(|u| u.reverse()),
        8 => data.as_chunks_mut::<8>().0.iter_mut().for_each(|u| u.reverse()),
        _ => data.chunks_exact_mut(swap).for_each(<[u8]>::reverse),
    }
}
