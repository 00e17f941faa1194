//! How many requests a server gets at once: more as long as that helps, fewer when it says so.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::room::connections;
use crate::fork;

/// To begin with, at the least, and at the most; fewer where a process may have few files open.
const START: usize = 256;
const LEAST: usize = 4;
pub(super) const MOST: usize = 320;

/// More requests at once must bring so much more to be kept up.
const WORTH: f64 = 1.05;

/// After a server has complained, one complaint more within this time changes nothing.
const CALM: Duration = Duration::from_millis(500);

/// Bounds the requests to one server.
pub struct Gate {
    turns: Arc<Semaphore>,
    state: Mutex<State>,
}

struct State {
    limit: usize,
    most: usize,
    /// Turns to be taken away as soon as they are free.
    owed: usize,
    since: Instant,
    done: usize,
    best: f64,
    complained: Option<Instant>,
}

/// Leave to make one request.
pub struct Turn {
    gate: Arc<Gate>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Gate {
    /// For a server of which nothing is known.
    pub fn new() -> Self {
        let most = MOST.min(connections());
        let limit = START.min(most);
        let state = State { limit, most, owed: 0, since: Instant::now(), done: 0, best: 0.0, complained: None };
        Self { turns: Arc::new(Semaphore::new(limit)), state: Mutex::new(state) }
    }

    /// Wait for a turn.
    pub async fn enter(self: &Arc<Self>) -> Turn {
        // The semaphore is never closed; without a permit, a request is only not counted.
        let permit = Arc::clone(&self.turns).acquire_owned().await.ok();
        Turn { gate: Arc::clone(self), permit }
    }

    /// The server says that it has too much to do.
    pub fn complained(&self) {
        self.with(|state| {
            if state.complained.is_some_and(|then| then.elapsed() < CALM) {
                return;
            }
            state.complained = Some(Instant::now());
            let fewer = (state.limit >> 1).max(LEAST);
            state.owed = state.owed.saturating_add(state.limit.saturating_sub(fewer));
            (state.limit, state.best, state.done) = (fewer, 0.0, 0);
            state.since = Instant::now();
        });
    }

    /// How many requests there may be at once.
    pub fn limit(&self) -> usize {
        self.with(|state| state.limit)
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        let _fork = fork::guard();
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A request has ended; `true` if its turn is to be taken away.
    fn ended(&self) -> bool {
        let busy = self.turns.available_permits() == 0;
        let (gone, more) = self.with(|state| {
            if state.owed > 0 {
                state.owed = state.owed.saturating_sub(1);
                return (true, 0);
            }
            state.done = state.done.saturating_add(1);
            (false, if busy { state.grow() } else { 0 })
        });
        self.turns.add_permits(more);
        gone
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    /// Once all turns were used a few times: how many more there shall be.
    fn grow(&mut self) -> usize {
        let calm = self.complained.is_none_or(|then| then.elapsed() > CALM.saturating_mul(20));
        if self.done < self.limit.saturating_mul(2) || self.limit >= self.most || !calm {
            return 0;
        }
        let rate =
            f64::from(u32::try_from(self.done).unwrap_or(u32::MAX)) / self.since.elapsed().as_secs_f64().max(1e-6);
        (self.done, self.since) = (0, Instant::now());
        if rate < self.best * WORTH {
            return 0;
        }
        self.best = rate;
        let more = (self.limit >> 1).min(self.most.saturating_sub(self.limit));
        self.limit = self.limit.saturating_add(more);
        more
    }
}

impl Turn {
    /// The request has ended well. Another task puts its connection back, and goes first, so that whoever is next in
    /// turn finds it and need not open another.
    pub async fn over(self) {
        tokio::task::yield_now().await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.gate.ended()
            && let Some(permit) = self.permit.take()
        {
            permit.forget();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn turns(gate: &Arc<Gate>, n: usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut held = Vec::new();
            for _ in 0..n {
                held.push(gate.enter().await);
                if held.len() == gate.limit() {
                    held.remove(0);
                }
            }
        });
    }

    #[test]
    fn complaints_halve_and_use_widens() {
        let gate = Arc::new(Gate::new());
        gate.complained();
        assert_eq!(gate.limit(), START / 2);
        gate.complained();
        assert_eq!(gate.limit(), START / 2);
        turns(&gate, 3 * START);
        assert_eq!(gate.turns.available_permits(), START / 2);
    }
}
