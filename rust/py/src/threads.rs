//! The pool's threads as Python knows them.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicPtr, Ordering};

use omnizarr_core::pool;
use pyo3::ffi;
use pyo3::prelude::*;

static INTERPRETER: AtomicPtr<ffi::PyInterpreterState> = AtomicPtr::new(std::ptr::null_mut());

/// Give each thread of the pool a Python thread state for life.
///
/// Otherwise each call of a Python store or codec from such a thread would make and drop one, under a lock of the
/// interpreter's that is not the GIL: a fork in that moment leaves the child waiting for it forever.
pub fn prepare(py: Python<'_>) {
    // SAFETY: the GIL is held, so there is a current interpreter; it lives as long as the process.
    INTERPRETER.store(unsafe { ffi::PyInterpreterState_Get() }, Ordering::Release);
    let hook = || {
        let interpreter = INTERPRETER.load(Ordering::Acquire);
        // SAFETY: making a thread state needs no GIL. It becomes this thread's own, which attaching then finds and keeps;
        // it is never freed, since the thread never ends before the process does.
        unsafe { ffi::PyThreadState_New(interpreter) };
    };
    // From 3.13 on, Python itself takes that lock before it forks.
    pool::on_thread_start(hook, py.version_info() < (3, 13));
}
