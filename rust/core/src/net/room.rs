//! How many connections a process may have: each takes one of its files, of which there are few on some systems.

/// Files that a process may have open where the system does not tell.
const USUAL: usize = 256;

/// A part of the files that this process may have open: the rest is for whoever called.
pub fn connections() -> usize {
    (files() >> 1).max(8)
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
