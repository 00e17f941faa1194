//! A strided view of memory that outlives the kernel call.

use smallvec::SmallVec;

use crate::codec::RowSink;

/// The caller's array: a pointer to element zero and the byte strides of each axis.
#[derive(Debug, Clone)]
pub struct View {
    ptr: *mut u8,
    /// Byte distance between neighbours, per axis; negative and zero are fine.
    pub strides: SmallVec<[isize; 6]>,
    /// Whether it is larger than the caches.
    far: bool,
}

/// Bytes of a result that is not worth a place in the caches: it would not be found there.
const FAR: usize = 32 << 20;

// SAFETY: a view is only a base address; whoever makes one promises that the memory stays valid for the call and that
// tasks write disjoint parts of it (each element of a selection belongs to exactly one chunk).
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    /// Wrap memory that the caller keeps alive.
    ///
    /// # Safety
    /// `ptr` must stay valid for every element that the strides reach under the shape used with this view, and must be
    /// writable if the view is used as a destination.
    pub unsafe fn new(ptr: *mut u8, strides: &[isize]) -> Self {
        Self { ptr, strides: SmallVec::from_slice(strides), far: false }
    }

    /// The same memory, of which so many bytes will be written.
    #[must_use]
    pub fn of_bytes(&self, bytes: usize) -> Self {
        Self { far: bytes >= FAR, ..self.clone() }
    }

    /// Whether it is larger than the caches.
    pub fn is_far(&self) -> bool {
        self.far
    }

    /// The address of element zero.
    pub fn ptr(&self) -> *mut u8 {
        self.ptr
    }

    /// The same memory with its axes in another order.
    #[must_use]
    pub fn permuted(&self, order: &[usize]) -> Self {
        Self { strides: order.iter().map(|&a| self.strides[a]).collect(), ..*self }
    }
}

/// Contiguous rows of a destination, as a codec sees them: row `i` of the chunk in C order.
pub struct Rows {
    base: *mut u8,
    row_bytes: usize,
    far: bool,
    /// Length and byte stride of each axis but the last, outermost first.
    outer: SmallVec<[(usize, isize); 6]>,
    // The last row asked for: codecs go from row to row, so stepping beats dividing.
    at: usize,
    index: SmallVec<[usize; 6]>,
    ptr: *mut u8,
}

impl Rows {
    /// Rows of `row_bytes` bytes at `base`, spread over the outer axes.
    ///
    /// # Safety
    /// Every row that the outer axes reach must be writable and belong to no other task.
    pub unsafe fn new(base: *mut u8, row_bytes: usize, outer: SmallVec<[(usize, isize); 6]>, far: bool) -> Self {
        let index = SmallVec::from_elem(0, outer.len());
        Self { base, row_bytes, far, outer, at: 0, index, ptr: base }
    }

    fn seek(&mut self, i: usize) {
        if i == self.at {
            return;
        }
        if i == self.at + 1 {
            for d in (0..self.outer.len()).rev() {
                let (n, stride) = self.outer[d];
                self.index[d] += 1;
                self.ptr = self.ptr.wrapping_offset(stride);
                if self.index[d] < n {
                    break;
                }
                self.ptr = self.ptr.wrapping_offset(-(n as isize * stride));
                self.index[d] = 0;
            }
        } else {
            let mut rest = i;
            self.ptr = self.base;
            for d in (0..self.outer.len()).rev() {
                let (n, stride) = self.outer[d];
                self.index[d] = rest % n;
                rest /= n;
                self.ptr = self.ptr.wrapping_offset(self.index[d] as isize * stride);
            }
        }
        self.at = i;
    }
}

impl RowSink for Rows {
    fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    fn row(&mut self, i: usize) -> &mut [u8] {
        self.seek(i);
        if let Some(&(_, stride)) = self.outer.last()
            && !self.far
        {
            fetch_ahead(self.ptr.wrapping_offset(stride.wrapping_mul(2)), self.row_bytes);
        }
        // SAFETY: `new` promised that every row within the outer axes is writable and ours; `seek` wraps at their end.
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.row_bytes) }
    }

    fn are_far(&self) -> bool {
        self.far
    }
}

/// Ask for the row after the next, so that it is in the cache when it is written.
///
/// Rows of one chunk lie far apart in a wide array, each on a page of its own, which no processor foresees.
#[cfg(target_arch = "x86_64")]
fn fetch_ahead(row: *const u8, bytes: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    const LINE: usize = 64;
    for at in (0..bytes.min(MOST_AHEAD)).step_by(LINE) {
        // SAFETY: a hint, which never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(at).cast()) };
    }
}

/// Bytes of a row that are asked for ahead: the rest of a long one the processor foresees itself.
#[cfg(target_arch = "x86_64")]
const MOST_AHEAD: usize = 1024;

#[cfg(not(target_arch = "x86_64"))]
fn fetch_ahead(_row: *const u8, _bytes: usize) {}
