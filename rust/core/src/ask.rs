//! Whether to stop: asked by whoever waits, wherever that is, of whoever made the call.
//!
//! A call that can be interrupted says so once ([`with`]); what waits for a server below it, on the same thread, asks
//! ([`stop`]) without having been handed anything.

use std::cell::RefCell;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::pool::Interrupt;

thread_local! {
    static ASKED: RefCell<Vec<&'static dyn Fn() -> bool>> = const { RefCell::new(Vec::new()) };
}

/// Takes the last question off again, also where a panic passes.
struct Last;

impl Drop for Last {
    fn drop(&mut self) {
        ASKED.with_borrow_mut(|asked| {
            asked.pop();
        });
    }
}

/// Do something during which this thread can be told to stop.
pub fn with<T>(interrupt: Interrupt<'_>, f: impl FnOnce() -> T) -> T {
    #[allow(unsafe_code)]
    // SAFETY: the reference is taken off the list before this function returns, and the list is this thread's own.
    let interrupt = unsafe { std::mem::transmute::<Interrupt<'_>, &'static dyn Fn() -> bool>(interrupt) };
    ASKED.with_borrow_mut(|asked| asked.push(interrupt));
    let _last = Last;
    f()
}

/// Whether the innermost call says to stop.
pub fn stop() -> bool {
    let asked = ASKED.with_borrow(|asked| asked.last().copied());
    asked.is_some_and(|interrupt| interrupt())
}

/// Wait for a moment, longer with each attempt and never quite as long as others do.
pub fn pause(attempt: u32) -> Result<()> {
    let chance = RandomState::new().build_hasher().finish() & 0xff;
    let longest = 5u64.saturating_mul(1 << attempt.min(7));
    let mut left = longest.saturating_mul(chance.saturating_add(64)) >> 8;
    while left > 0 {
        if stop() {
            return Err(Error::Interrupted);
        }
        let step = left.min(50);
        std::thread::sleep(Duration::from_millis(step));
        left = left.saturating_sub(step);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_answers() {
        assert!(!stop());
        with(&|| true, || {
            assert!(stop());
            with(&|| false, || assert!(!stop()));
            assert!(stop());
        });
        assert!(!stop());
    }
}
