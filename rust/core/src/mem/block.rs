//! Large results in memory that is used again: faulting in fresh pages costs as much as decoding into them.

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use crate::fork;

/// Blocks are aligned to, and sized in, the pages that large arrays get where the system has them.
const PAGE: usize = 2 << 20;

/// Most bytes that wait for their next use. The system may take them back at any time, where it knows how to.
const KEEP: usize = 1 << 30;

/// Memory for one result. Freed blocks are kept for the next result of about the same size.
#[derive(Debug)]
pub struct Block {
    ptr: NonNull<u8>,
    size: usize,
    fresh: bool,
}

// SAFETY: a block owns its memory, like a box.
unsafe impl Send for Block {}
// SAFETY: shared references give an address and numbers only.
unsafe impl Sync for Block {}

struct Spare {
    ptr: NonNull<u8>,
    size: usize,
}

// SAFETY: as for blocks.
unsafe impl Send for Spare {}

static SPARE: Mutex<Vec<Spare>> = Mutex::new(Vec::new());

impl Block {
    /// At least `bytes` bytes, unless there is not that much memory.
    pub fn new(bytes: usize) -> Option<Self> {
        let size = bytes.max(1).checked_next_multiple_of(PAGE)?;
        if let Some(spare) = take(size) {
            #[cfg(target_os = "linux")]
            crate::mem::pages::again(spare.ptr.as_ptr());
            return Some(Self { ptr: spare.ptr, size: spare.size, fresh: false });
        }
        let ptr = system::map(size, bytes)?;
        Some(Self { ptr, size, fresh: true })
    }

    /// Address of the first byte.
    pub fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Whether all bytes were zero when the block was made.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }
}

/// A spare block that is large enough and not much larger.
fn take(size: usize) -> Option<Spare> {
    let _fork = fork::guard();
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let fits = spare.iter().position(|s| s.size >= size && s.size - size <= size / 4)?;
    Some(spare.swap_remove(fits))
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut gone = vec![Spare { ptr: self.ptr, size: self.size }];
        if self.size <= KEEP {
            system::idle(self.ptr, self.size);
            let _fork = fork::guard();
            let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
            spare.append(&mut gone);
            while spare.iter().map(|s| s.size).sum::<usize>() > KEEP {
                gone.push(spare.remove(0));
            }
        }
        gone.iter().for_each(|old| system::unmap(old.ptr, old.size));
    }
}

/// Whole pages from the system. The allocator would clear them by hand, and so fault them in one by one.
#[cfg(unix)]
mod system {
    use std::ptr::NonNull;

    use super::PAGE;

    /// Zeroed memory, aligned to large pages, of which so many bytes will be used.
    pub fn map(size: usize, bytes: usize) -> Option<NonNull<u8>> {
        let whole = size.checked_add(PAGE)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new private mapping at an address of the system's choice.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), whole, access, libc::MAP_PRIVATE | libc::MAP_ANON, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = base.cast::<u8>();
        let before = base.align_offset(PAGE);
        let start = base.wrapping_add(before);
        // SAFETY: the parts of the mapping before and behind the aligned block, which nobody has seen yet.
        unsafe {
            if before > 0 {
                libc::munmap(base.cast(), before);
            }
            libc::munmap(start.wrapping_add(size).cast(), PAGE - before);
        }
        #[cfg(target_os = "linux")]
        {
            // The last page is a large one only if most of it will be used.
            let mostly = bytes - bytes % PAGE + if bytes % PAGE > PAGE / 2 { PAGE } else { 0 };
            crate::mem::pages::advise(start, mostly);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = bytes;
        NonNull::new(start)
    }

    /// Let the system have the pages if memory is short; until then they stay where they are.
    pub fn idle(ptr: NonNull<u8>, size: usize) {
        // SAFETY: whole pages that `map` made. Advice that the system does not take changes nothing.
        unsafe { libc::madvise(ptr.as_ptr().cast(), size, libc::MADV_FREE) };
    }

    /// Give the memory back.
    pub fn unmap(ptr: NonNull<u8>, size: usize) {
        #[cfg(target_os = "linux")]
        crate::mem::pages::end(ptr.as_ptr());
        // SAFETY: made by `map` with this size, and no longer reachable by anybody.
        unsafe { libc::munmap(ptr.as_ptr().cast(), size) };
    }
}

#[cfg(not(unix))]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    use super::PAGE;

    pub fn map(size: usize, _bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: blocks are never of size zero.
        NonNull::new(unsafe { alloc_zeroed(Layout::from_size_align(size, PAGE).ok()?) })
    }

    pub fn idle(_ptr: NonNull<u8>, _size: usize) {}

    pub fn unmap(ptr: NonNull<u8>, size: usize) {
        if let Ok(layout) = Layout::from_size_align(size, PAGE) {
            // SAFETY: made by `map` with this layout, and no longer reachable by anybody.
            unsafe { dealloc(ptr.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_used_again_and_say_so() {
        let first = Block::new(40 << 20).unwrap();
        assert!(first.is_fresh());
        // SAFETY: a live block of at least this size.
        unsafe { first.ptr().write_bytes(7, 40 << 20) };
        let address = first.ptr();
        drop(first);
        let again = Block::new(39 << 20).unwrap();
        assert!(!again.is_fresh());
        assert_eq!(again.ptr(), address);
        assert!(Block::new(40 << 20).unwrap().is_fresh(), "the spare one is taken");
        assert!(Block::new(usize::MAX).is_none());
    }
}
