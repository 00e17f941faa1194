//! One writer at a time for each chunk, among the threads of this process.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fork::PerProcess;

/// Enough that two chunks of one call rarely share a lock.
const STRIPES: usize = 256;

static LOCKS: PerProcess<[Mutex<()>; STRIPES]> = PerProcess::new(|| [const { Mutex::new(()) }; STRIPES]);

/// Wait until no other thread writes this key of this store.
pub fn hold(store: u64, key: &str) -> Option<MutexGuard<'static, ()>> {
    let mut hasher = DefaultHasher::new();
    (store, key).hash(&mut hasher);
    // The lowest byte of a hash is as good as any.
    let [stripe, ..] = hasher.finish().to_le_bytes();
    LOCKS.get().get(usize::from(stripe)).map(|lock| lock.lock().unwrap_or_else(PoisonError::into_inner))
}
