//! Room for many connections: files, of which there are few on some systems, and memory.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Files that a process may have open where the system does not tell.
const USUAL: usize = 256;

/// What a few hundred connections and requests take of the memory of one thread, and in what pieces it is asked for.
const HEAP: usize = 6 << 20;
const PIECE: usize = 64 << 10;

/// Whether many requests at once are to be expected.
static MANY: AtomicBool = AtomicBool::new(false);

/// A part of the files that this process may have open: the rest is for whoever called.
pub fn connections() -> usize {
    (files() >> 1).max(8)
}

/// Let the process's table of files grow now, once, and beside other work. Linux doubles it when it is full, and then
/// stops all threads that open a file for 10 to 20 ms: with the first few hundred connections, that is thrice.
pub fn make_room() {
    #[cfg(target_os = "linux")]
    drop(std::thread::Builder::new().name("omnizarr-room".into()).spawn(grow));
}

/// Many requests at once are to be expected, as of whoever opens a bucket.
pub fn expect_many() {
    MANY.store(true, Ordering::Relaxed);
}

/// A thread of the network has nothing to do for the moment: the time for what it will need.
pub fn idle() {
    thread_local!(static GROWN: Cell<bool> = const { Cell::new(false) });
    // Elsewhere memory does not grow like that.
    if cfg!(target_env = "gnu") && MANY.load(Ordering::Relaxed) && !GROWN.replace(true) {
        grow_heap();
    }
}

/// Let this thread's memory grow now. The C library adds one page after the other, each by a call to the system in which
/// all threads stand still that need memory: with the first few hundred connections, that is two thousand times.
fn grow_heap() {
    let mut pieces = Vec::new();
    for _ in 0..HEAP.div_ceil(PIECE) {
        let mut piece = Vec::<u8>::new();
        if piece.try_reserve_exact(PIECE).is_err() {
            return;
        }
        piece.resize(PIECE, 1);
        pieces.push(std::hint::black_box(piece));
    }
    // The last one stays: without it, all would be given back to the system at once.
    pieces.pop().map(Vec::leak);
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn grow() {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    use super::gate::MOST;

    let wanted = libc::c_int::try_from(MOST.min(connections()).saturating_add(USUAL)).unwrap_or(0);
    let Ok((end, _other)) = std::io::pipe() else { return };
    // SAFETY: a file that is open is doubled, under a number of at least this; it fails if there may be no such.
    let high = unsafe { libc::fcntl(end.as_raw_fd(), libc::F_DUPFD_CLOEXEC, wanted) };
    if high >= 0 {
        // SAFETY: it was opened just now, and nobody else knows of it.
        drop(unsafe { OwnedFd::from_raw_fd(high) });
    }
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn files() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the system fills in the two numbers.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0;
    if failed { USUAL } else { usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX) }
}

#[cfg(not(unix))]
fn files() -> usize {
    USUAL
}
