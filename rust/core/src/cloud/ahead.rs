//! A listing that is asked for together with the documents of a group: who opens one looks into it next.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tokio::task::AbortHandle;

use crate::error::Result;
use crate::net::{net, receive};
use crate::store::Listing;

/// How long after the documents a listing is as good as one that is asked for only then: no longer than it takes to hear
/// of what others have changed.
const FRESH: Duration = Duration::from_millis(20);

/// Counts beginnings and ends of changes by this process, in whatever bucket.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// Something in a bucket is changed, for as long as this is there.
pub(super) struct Changing;

impl Changing {
    pub fn begin() -> Self {
        CHANGES.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        CHANGES.fetch_add(1, Ordering::SeqCst);
    }
}

/// A listing on its way.
pub(super) struct Ahead {
    prefix: String,
    process: u32,
    changes: u64,
    /// When what was asked for beside it was there.
    met: Option<Instant>,
    answer: Receiver<Result<Listing>>,
    task: AbortHandle,
}

impl Ahead {
    pub fn new(prefix: &str, work: impl Future<Output = Result<Listing>> + Send + 'static) -> Result<Self> {
        let (sender, answer) = channel();
        let changes = CHANGES.load(Ordering::SeqCst);
        let task = net()?.runtime().spawn(async move { drop(sender.send(work.await)) }).abort_handle();
        Ok(Self { prefix: prefix.into(), process: std::process::id(), changes, met: None, answer, task })
    }

    /// What was asked for beside it is there; `false` if it has become too old.
    pub fn meet(&mut self) -> bool {
        self.met.get_or_insert_with(Instant::now).elapsed() < FRESH
    }

    /// The listing, if it is of this prefix and nothing can have changed since; whoever gets none asks himself, and is
    /// told then what is wrong.
    pub fn listing(&self, prefix: &str) -> Option<Listing> {
        let fits = self.prefix == prefix && self.process == std::process::id();
        // One that met nothing, as there was an error, may be of long ago.
        let fresh = self.met.is_some_and(|met| met.elapsed() < FRESH);
        if !fits || !fresh || self.changes != CHANGES.load(Ordering::SeqCst) {
            return None;
        }
        receive(&self.answer, &|| false).ok()?.ok()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.task.abort();
    }
}
