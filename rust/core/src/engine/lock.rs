//! One writer at a time for each chunk, among the threads of this process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fork::PerProcess;

/// Enough that two chunks of one call rarely share a lock.
const STRIPES: usize = 256;

static LOCKS: PerProcess<[Mutex<()>; STRIPES]> = PerProcess::new(|| [const { Mutex::new(()) }; STRIPES]);

/// Wait until no other thread writes at this place.
pub fn hold(place: u64) -> Option<MutexGuard<'static, ()>> {
    // The lowest byte of a hash is as good as any.
    let [stripe, ..] = place.to_le_bytes();
    LOCKS.get().get(usize::from(stripe)).map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner))
}
