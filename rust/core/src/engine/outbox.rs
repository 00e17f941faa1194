//! Values on their way to a store that is far away: many at once, and no more than memory should hold.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use crate::ask;
use crate::error::{Error, Result};
use crate::store::{Abort, Store};

/// Values that are on their way at once, and their bytes.
const MOST: usize = 320;
const MOST_BYTES: usize = 64 << 20;

/// How often who waits asks whether to stop.
const POLL: Duration = Duration::from_millis(50);

/// What one call sends.
pub(super) struct Outbox<'a> {
    store: &'a dyn Store,
    shared: Arc<Shared>,
    later: Mutex<Vec<usize>>,
    /// What gives up the values that are on their way.
    aborts: Mutex<Vec<Abort>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    change: Condvar,
}

#[derive(Default)]
struct State {
    under_way: usize,
    bytes: usize,
    error: Option<Error>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> Result<MutexGuard<'a, State>> {
        let (state, wait) = self.change.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner);
        if wait.timed_out() && ask::stop() { Err(Error::Interrupted) } else { Ok(state) }
    }
}

/// How often to look whether what was given up is gone.
const ABANDON: u32 = 10;

/// One value on its way: counted off when it has arrived, or is given up.
struct Parcel {
    shared: Arc<Shared>,
    bytes: usize,
    /// Nobody has said what became of it.
    is_lost: bool,
}

impl Drop for Parcel {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if self.is_lost {
            state.error.get_or_insert_with(|| Error::Invalid("a value was given up on its way to the store".into()));
        }
        state.under_way = state.under_way.saturating_sub(1);
        state.bytes = state.bytes.saturating_sub(self.bytes);
        self.shared.change.notify_all();
    }
}

impl<'a> Outbox<'a> {
    pub fn new(store: &'a dyn Store) -> Self {
        Self { store, shared: Arc::default(), later: Mutex::default(), aborts: Mutex::default() }
    }

    /// Send a value, or word that there is none; waits only while too much is on its way.
    pub fn send(&self, key: &str, parts: Option<&[&[u8]]>) -> Result<()> {
        let bytes = parts.map_or(0, |parts| parts.iter().map(|part| part.len()).sum());
        let mut state = self.shared.lock();
        loop {
            if let Some(error) = state.error.take() {
                return Err(error);
            }
            let full = state.under_way >= MOST || state.bytes.saturating_add(bytes) > MOST_BYTES;
            if state.under_way == 0 || !full {
                break;
            }
            state = self.shared.wait(state)?;
        }
        state.under_way = state.under_way.saturating_add(1);
        state.bytes = state.bytes.saturating_add(bytes);
        drop(state);
        let mut parcel = Parcel { shared: Arc::clone(&self.shared), bytes, is_lost: true };
        let done = Box::new(move |done: Result<()>| {
            parcel.is_lost = false;
            if let Err(error) = done {
                parcel.shared.lock().error.get_or_insert(error);
            }
            drop(parcel);
        });
        let abort = self.store.start_put(key, parts.map(|parts| Bytes::from(parts.concat())), done);
        self.aborts.lock().unwrap_or_else(PoisonError::into_inner).extend(abort);
        Ok(())
    }

    /// Give up all that is on its way, and wait until it is: nothing of it may arrive after what is written next.
    pub fn abandon(&self) {
        let aborts = std::mem::take(&mut *self.aborts.lock().unwrap_or_else(PoisonError::into_inner));
        aborts.iter().for_each(|abort| abort());
        let mut state = self.shared.lock();
        let mut left = ABANDON;
        while state.under_way > 0 && left > 0 {
            let waited = self.shared.change.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            left = left.saturating_sub(1);
        }
    }

    /// Wait until all have arrived.
    pub fn finish(&self) -> Result<()> {
        let mut state = self.shared.lock();
        while state.under_way > 0 {
            state = self.shared.wait(state)?;
        }
        state.error.take().map_or(Ok(()), Err)
    }

    /// Note a cell that is changed in part: that takes its time, and is done when all others are.
    pub fn put_off(&self, cell: usize) {
        self.later.lock().unwrap_or_else(PoisonError::into_inner).push(cell);
    }

    /// The cells that were put off.
    pub fn later(&self) -> Vec<usize> {
        std::mem::take(&mut *self.later.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
