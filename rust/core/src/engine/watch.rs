//! Whether an array's document stays as it was while its chunks are written: another array may have taken its place.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Engine;
use crate::error::Result;

/// How long chunks are written without a look at the document: a look costs about a microsecond.
const INTERVAL: Duration = Duration::from_micros(200);

/// Looks at the document before, while and after chunks are written.
pub struct Watch {
    /// The state in which it was known to be the array's; 0 if in none.
    seen: Option<u64>,
    /// The state in which it was found instead.
    found: AtomicU64,
    is_over: AtomicBool,
    since: Instant,
    /// When it was last looked at, in microseconds since then.
    last: AtomicU64,
}

impl Watch {
    /// For a write that goes on for as long as the document is in a state; `None` for one that goes on in any case.
    pub fn new(seen: Option<u64>) -> Self {
        let (found, is_over, last) = (AtomicU64::new(0), AtomicBool::new(false), AtomicU64::new(0));
        Self { seen, found, is_over, since: Instant::now(), last }
    }

    /// The state of the document that has ended it, 0 if it is gone; `None` if all was written.
    pub fn found(&self) -> Option<u64> {
        self.is_over.load(Ordering::Acquire).then(|| self.found.load(Ordering::Relaxed))
    }

    /// Look at the document; whether it is another.
    pub(super) fn look(&self, engine: &Engine) -> Result<bool> {
        let Some(seen) = self.seen else { return Ok(false) };
        let Some(state) = engine.state()? else { return Ok(false) };
        // The same number when it was young, and now.
        if seen != 0 && state | 1 == seen | 1 {
            return Ok(false);
        }
        self.found.store(state, Ordering::Relaxed);
        self.is_over.store(true, Ordering::Release);
        Ok(true)
    }

    /// Whether nothing more is to be written; looks at the document from time to time.
    pub(super) fn is_over(&self, engine: &Engine) -> Result<bool> {
        if self.seen.is_none() {
            return Ok(false);
        }
        if self.found().is_some() {
            return Ok(true);
        }
        let now = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        let last = self.last.load(Ordering::Relaxed);
        if u128::from(now.saturating_sub(last)) < INTERVAL.as_micros() {
            return Ok(false);
        }
        // One thread looks, the others go on.
        match self.last.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => self.look(engine),
            Err(_) => Ok(false),
        }
    }
}
