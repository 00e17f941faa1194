//! Surviving `fork`: short critical sections never run while the process is being copied.
//!
//! A child inherits every lock as it was, but not the thread that would have opened it. So whoever touches shared state
//! (a cache, the memory store) holds [`guard`], and a fork waits the microsecond until nobody does. Locks that are held
//! for longer are kept per process instead ([`PerProcess`]).

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

static GATE: RwLock<()> = RwLock::new(());

/// Hold while touching state that a child process would inherit; never while waiting for I/O or for Python.
pub fn guard() -> RwLockReadGuard<'static, ()> {
    install();
    GATE.read().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn install() {
    use std::cell::RefCell;
    use std::sync::{Once, RwLockWriteGuard};

    thread_local! {
        static HELD: RefCell<Option<RwLockWriteGuard<'static, ()>>> = const { RefCell::new(None) };
    }
    extern "C" fn before() {
        let held = GATE.write().unwrap_or_else(PoisonError::into_inner);
        HELD.with(|cell| cell.replace(Some(held)));
    }
    extern "C" fn after() {
        HELD.with(|cell| cell.replace(None));
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are plain functions that live as long as the program; they only take and give a lock.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
    });
}

#[cfg(not(unix))]
fn install() {}

/// A value that each process makes for itself on first use; what a parent left behind is never looked at.
pub struct PerProcess<T> {
    slot: AtomicPtr<(u32, T)>,
    make: fn() -> T,
}

impl<T> PerProcess<T> {
    /// Made by `make`, once for each process.
    pub const fn new(make: fn() -> T) -> Self {
        Self { slot: AtomicPtr::new(std::ptr::null_mut()), make }
    }

    /// This process's value. Lives as long as the process.
    #[allow(unsafe_code)]
    pub fn get(&'static self) -> &'static T {
        let pid = std::process::id();
        let mut old = self.slot.load(Ordering::Acquire);
        loop {
            // SAFETY: the slot is null or points to a leaked, and so immortal, box.
            if let Some((owner, value)) = unsafe { old.as_ref() }
                && *owner == pid
            {
                return value;
            }
            let new = Box::into_raw(Box::new((pid, (self.make)())));
            match self.slot.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: just leaked on purpose.
                Ok(_) => return unsafe { &(*new).1 },
                Err(other) => {
                    // SAFETY: nobody else has seen the box that lost the race.
                    drop(unsafe { Box::from_raw(new) });
                    old = other;
                }
            }
        }
    }
}
