//! Surviving `fork`: short critical sections never run while the process is being copied.
//!
//! A child inherits every lock as it was, but not the thread that would have opened it. So whoever touches shared state
//! (a cache, the memory store) holds [`guard`], and a fork waits the microsecond until nobody does. Locks that are held
//! for longer are kept per process instead ([`PerProcess`]). Locks on files belong to open files, which a child has as
//! well: it closes them ([`Owned`]), or it would keep others waiting for as long as it lives.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
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
    extern "C" fn after_in_child() {
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        close_owned();
        after();
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are plain functions that live as long as the program; they take and give a lock, and close
        // files that nobody uses in the child.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after_in_child)) };
        PROCESS.store(std::process::id(), Ordering::Relaxed);
    });
}

#[cfg(not(unix))]
fn install() {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
}

static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The number of this process, for which the system need not be asked each time.
pub fn process() -> u32 {
    install();
    PROCESS.load(Ordering::Relaxed)
}

/// Numbers of open files that children close.
#[cfg(unix)]
static OWNED: std::sync::Mutex<Vec<std::os::fd::RawFd>> = std::sync::Mutex::new(Vec::new());

/// An open file that no child keeps.
#[cfg(unix)]
pub struct Owned(std::fs::File);

#[cfg(unix)]
impl Owned {
    /// What `open` opens, if anything; no process is forked meanwhile.
    pub fn open<E>(open: impl FnOnce() -> Result<Option<std::fs::File>, E>) -> Result<Option<Self>, E> {
        use std::os::fd::AsRawFd;
        let _guard = guard();
        Ok(open()?.map(|file| {
            OWNED.lock().unwrap_or_else(PoisonError::into_inner).push(file.as_raw_fd());
            Self(file)
        }))
    }

    /// The file.
    pub fn file(&self) -> &std::fs::File {
        &self.0
    }
}

#[cfg(unix)]
impl Drop for Owned {
    fn drop(&mut self) {
        use std::os::fd::AsRawFd;
        let number = self.0.as_raw_fd();
        let _guard = guard();
        OWNED.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| *one != number);
    }
}

/// Close, right after a fork, what belongs to the parent; its threads, which use it, are not here.
#[cfg(unix)]
#[allow(unsafe_code)]
fn close_owned() {
    // Nobody holds it: whoever does has the guard, too.
    if let Ok(mut owned) = OWNED.try_lock() {
        for number in owned.iter() {
            // SAFETY: an open file of this process, and of no thread that it has.
            unsafe { libc::close(*number) };
        }
        owned.clear();
    }
}

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
        let pid = process();
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
