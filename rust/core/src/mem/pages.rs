//! Large pages, where the system gives them fast.
//!
//! A large page saves most of the price of faulting in fresh memory. But where the host of a virtual machine takes free
//! memory back, it does so in large pages: one that it has taken has to be asked for anew, which was measured at up to
//! ten times the price of clearing small ones.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use super::fresh;

/// Balloons of virtual machines, by which a host takes memory back.
const BALLOONS: &str = "/sys/bus/virtio/drivers/virtio_balloon";

/// The bit of a balloon's features by which free pages are reported to the host.
const REPORTING: usize = 5;

/// Asks for large pages for fresh memory; one by one, when they are needed, where some would be slow.
pub fn advise(start: *mut u8, size: usize) {
    if may_be_slow() {
        fresh::add(start, size);
    } else {
        // SAFETY: fresh pages that nobody else has seen; advice that is not taken changes nothing.
        unsafe { libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE) };
    }
}

/// Takes back what was said of memory that goes back to the system.
pub fn end(start: *mut u8) {
    if may_be_slow() {
        fresh::forget(start);
    }
}

/// Betters the pages of memory that is used again, whose values nobody needs.
pub fn again(start: *mut u8) {
    if may_be_slow() {
        fresh::exchange(start);
    }
}

/// Prepares memory that is about to be written, if it is fresh; arguments are as for [`fresh::settle`].
pub fn settle(first: *mut u8, item: usize, axes: &[(usize, usize)]) {
    if may_be_slow() {
        fresh::settle(first, item, axes);
    }
}

fn may_be_slow() -> bool {
    static SLOW: OnceLock<bool> = OnceLock::new();
    *SLOW.get_or_init(|| are_taken_back(Path::new(BALLOONS)))
}

/// Memory that is less than this is faulted in page by page as it is written to.
const WORTH: usize = 128 << 10;

/// Faults in all pages of a slice that is about to be written: by one call, in place of one exception for each page.
pub fn populate(place: &mut [u8]) {
    const PAGE: usize = 4096;
    if place.len() < WORTH {
        return;
    }
    let before = place.as_ptr().align_offset(PAGE);
    let Some(length) = place.len().checked_sub(before).map(|rest| rest - rest % PAGE) else { return };
    // SAFETY: whole pages within memory that is borrowed for writing; their values stay as they are. Systems that do not
    // know the advice refuse it.
    unsafe { libc::madvise(place.as_mut_ptr().wrapping_add(before).cast(), length, libc::MADV_POPULATE_WRITE) };
}

/// Whether a host gets told of pages that are free.
fn are_taken_back(balloons: &Path) -> bool {
    let Ok(devices) = fs::read_dir(balloons) else { return false };
    let features = devices.flatten().filter_map(|device| fs::read(device.path().join("features")).ok());
    features.into_iter().any(|bits| bits.get(REPORTING) == Some(&b'1'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balloons_say_whether_free_pages_are_taken_back() {
        let folder = std::env::temp_dir().join(format!("omnizarr-balloons-{}", std::process::id()));
        assert!(!are_taken_back(&folder), "no balloon at all");
        for (name, bits, expected) in [("virtio0", "0110000", false), ("virtio1", "01100101", true)] {
            fs::create_dir_all(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("features"), bits).unwrap();
            assert_eq!(are_taken_back(&folder), expected, "{name}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
