//! Fresh memory that gets large pages one by one, as long as they come fast.
//!
//! Where the host of a virtual machine takes free memory back, a large page costs a fifth of the small ones in its place
//! if the host has not taken it yet, and six times as much if it has: 90 and 2,800 ms for a gigabyte, of small pages
//! 440 ms. Which of the two it will be, only asking for one can tell. Small pages that were taken for that reason are
//! exchanged when the memory is used again, some each time: writing to large ones is faster (256 MiB: 45 ms, 51 where
//! 112 MiB of them are in small ones).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once, PoisonError, RwLock};
use std::time::Duration;

use crate::fork::PerProcess;

/// Bytes of a large page.
const LARGE: usize = 2 << 20;

/// A large page that takes longer was not there: to clear one takes a fifth of this.
const SLOW: Duration = Duration::from_millis(1);

/// How many small ones follow a slow one at first, and at most.
const FEW: usize = 8;
const MANY: usize = 512;

/// How many are exchanged at most when memory is used again, so that nobody waits long for it.
const EXCHANGED: usize = 16;

/// Whether the next page should be a large one, by how long the last ones took.
struct Pace {
    left: AtomicUsize,
    after: AtomicUsize,
}

impl Pace {
    const fn new() -> Self {
        Self { left: AtomicUsize::new(0), after: AtomicUsize::new(FEW) }
    }

    fn is_large(&self) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }

    fn took(&self, time: Duration) {
        if time < SLOW {
            return self.after.store(FEW, Ordering::Relaxed);
        }
        let after = self.after.load(Ordering::Relaxed);
        self.left.store(after, Ordering::Relaxed);
        self.after.store(after.saturating_mul(2).min(MANY), Ordering::Relaxed);
    }
}

static PACE: Pace = Pace::new();

/// Memory of large pages' size and alignment, of which nobody has written to those pages that are still to be taken.
struct Fresh {
    start: usize,
    pages: Box<[Once]>,
    /// Which of them were taken as small ones.
    small: Box<[AtomicBool]>,
}

static FRESH: PerProcess<RwLock<Vec<Arc<Fresh>>>> = PerProcess::new(|| RwLock::new(Vec::new()));

/// Give large pages to these bytes when they are about to be written; both numbers are multiples of a large page.
pub fn add(start: *mut u8, size: usize) {
    let pages = (0..size / LARGE).map(|_| Once::new()).collect();
    let small = (0..size / LARGE).map(|_| AtomicBool::new(false)).collect();
    let fresh = Arc::new(Fresh { start: start as usize, pages, small });
    FRESH.get().write().unwrap_or_else(PoisonError::into_inner).push(fresh);
}

/// Forget about memory that is given back.
pub fn forget(start: *mut u8) {
    FRESH.get().write().unwrap_or_else(PoisonError::into_inner).retain(|fresh| fresh.start != start as usize);
}

/// Get the pages under something that is about to be written, where they are fresh.
///
/// Items of `item` bytes begin at `first` and at each distance of the axes from there: lengths, which are not zero, and
/// strides, the longest stride first.
pub fn settle(first: *mut u8, item: usize, axes: &[(usize, usize)]) {
    if let Some(fresh) = around(first as usize) {
        fresh.settle(first as usize - fresh.start, item, axes);
    }
}

impl Fresh {
    fn settle(&self, offset: usize, item: usize, axes: &[(usize, usize)]) {
        // Shorter strides leave no page out.
        if let Some((&(n, stride), inner)) = axes.split_first()
            && stride > LARGE
        {
            return (0..n).for_each(|i| self.settle(offset + i * stride, item, inner));
        }
        let reach = axes.iter().fold(item, |reach, &(n, stride)| reach + (n - 1) * stride);
        let end = (offset + reach).div_ceil(LARGE).min(self.pages.len());
        for page in offset / LARGE..end {
            // Whoever comes second waits: one small page that is there keeps the large one out.
            self.pages[page].call_once(|| {
                let is_large = PACE.is_large() && take(self.start + page * LARGE);
                self.small[page].store(!is_large, Ordering::Relaxed);
            });
        }
    }
}

/// Exchange some of the small pages of memory that is used again, whose values nobody needs, for large ones.
pub fn exchange(start: *mut u8) {
    let Some(fresh) = around(start as usize) else { return };
    let small = (0..fresh.pages.len()).filter(|&page| fresh.small[page].load(Ordering::Relaxed));
    for page in small.take(EXCHANGED) {
        if !PACE.is_large() {
            continue;
        }
        let address = fresh.start + page * LARGE;
        // SAFETY: a page of a block that belongs to the caller alone, who will write to it before anybody reads it.
        unsafe { libc::madvise(address as *mut libc::c_void, LARGE, libc::MADV_DONTNEED) };
        fresh.small[page].store(false, Ordering::Relaxed);
        take(address);
    }
}

/// The memory around an address.
fn around(address: usize) -> Option<Arc<Fresh>> {
    let within = |fresh: &&Arc<Fresh>| address >= fresh.start && address - fresh.start < fresh.pages.len() * LARGE;
    FRESH.get().read().unwrap_or_else(PoisonError::into_inner).iter().find(within).cloned()
}

/// Take a large page; `false` where the system does not know how.
fn take(page: usize) -> bool {
    let (page, then) = (page as *mut libc::c_void, busy());
    // SAFETY: a page of a live block, which whoever writes to a part of it keeps alive; its bytes stay as they are.
    // Advice that the system does not take changes nothing.
    let is_large = unsafe {
        libc::madvise(page, LARGE, libc::MADV_HUGEPAGE) == 0
            && libc::madvise(page, LARGE, libc::MADV_POPULATE_WRITE) == 0
    };
    PACE.took(busy().saturating_sub(then));
    is_large
}

/// The time that this thread has worked for: one that was made to wait by others has not met a slow page.
fn busy() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer, which stays as it is where there is none.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_pages_are_followed_by_small_ones_and_ever_more_of_them() {
        let pace = Pace::new();
        let small = |pace: &Pace| (0..).take_while(|_| !pace.is_large()).count();
        assert_eq!(small(&pace), 0);
        pace.took(SLOW / 2);
        assert_eq!(small(&pace), 0);
        for expected in [8, 16, 32, 64, 128, 256, 512, 512] {
            pace.took(SLOW);
            assert_eq!(small(&pace), expected);
        }
        pace.took(SLOW / 2);
        assert_eq!(small(&pace), 0);
        pace.took(SLOW * 2);
        assert_eq!(small(&pace), FEW);
    }

    #[test]
    fn pages_are_taken_once_and_only_where_something_is_written() {
        let block = crate::mem::Block::new(5 * LARGE).unwrap();
        let start = block.ptr();
        forget(start); // as it may be there already
        add(start, 5 * LARGE);
        let done = || {
            let all = FRESH.get().read().unwrap();
            let fresh = all.iter().find(|fresh| fresh.start == start as usize).unwrap();
            fresh.pages.iter().map(Once::is_completed).collect::<Vec<_>>()
        };
        settle(start, 0, &[]);
        assert_eq!(done(), [false; 5], "nothing at all");
        settle(start.wrapping_add(LARGE - 1), 2, &[]);
        assert_eq!(done(), [true, true, false, false, false]);
        settle(start, 8, &[(2, 4 * LARGE), (3, 16)]);
        assert_eq!(done(), [true, true, false, false, true], "two rows far apart");
        settle(start.wrapping_add(3 * LARGE), 9 * LARGE, &[]);
        assert_eq!(done(), [true, true, false, true, true], "never past the end");
        settle(start.wrapping_sub(1), 1, &[]);
        forget(start);
        settle(start.wrapping_add(2 * LARGE), 1, &[]);
    }

    #[test]
    fn every_page_between_near_rows_is_taken() {
        let block = crate::mem::Block::new(5 * LARGE).unwrap();
        let start = block.ptr();
        forget(start);
        add(start, 5 * LARGE);
        settle(start.wrapping_add(LARGE), 4, &[(1 + 2 * LARGE / 4096, 4096), (10, 4)]);
        let fresh = around(start as usize).unwrap();
        let done = fresh.pages.iter().map(Once::is_completed).collect::<Vec<_>>();
        assert_eq!(done, [false, true, true, true, false]);
        forget(start);
    }
}
