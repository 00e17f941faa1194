//! Many values, all asked for at once, and handed over in the order of their keys, some at a time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use super::store::found;
use crate::ask;
use crate::error::{Error, Result};
use crate::net::net;
use crate::refs::{Done, Source, surely};

/// How often whoever waits asks whether to stop.
const POLL: Duration = Duration::from_millis(20);

/// How many requests are made before those that wait for their connection are looked after: the first are answered
/// while the last are made.
const TOGETHER: usize = 24;

/// Values on their way.
pub struct Many(Arc<Gathered>);

struct Gathered {
    state: Mutex<State>,
    there: Condvar,
    /// How many values are handed over together.
    part: usize,
}

struct State {
    /// What has arrived; what is missing stays `None`.
    values: Vec<Option<Bytes>>,
    /// Of each part, how many have not.
    left: Vec<usize>,
    /// The last failure, which nobody need wait for the others to hear of.
    failed: Option<Error>,
    /// Whether a failure was told, after which nothing comes.
    over: bool,
}

impl Gathered {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Take what was asked for at a place. Whoever waits is woken only if there is something to do: to be woken for
    /// each answer costs as much as many a request.
    fn take(&self, at: usize, answer: Result<Bytes>) {
        let mut guard = self.state();
        let state = &mut *guard;
        match found(answer) {
            Err(error) => state.failed = Some(error),
            Ok(value) => {
                let slot = state.values.get_mut(at);
                let left = at.checked_div(self.part).and_then(|part| state.left.get_mut(part));
                let (Some(slot), Some(left)) = (slot, left) else { return };
                (*slot, *left) = (value, left.saturating_sub(1));
                if *left > 0 {
                    return;
                }
            }
        }
        self.there.notify_all();
    }
}

impl Many {
    /// Ask for the values of sources, of so many bytes at most, to be handed over in parts of so many.
    pub(super) fn ask(sources: Vec<Arc<dyn Source>>, most: u64, part: usize) -> Result<Self> {
        let many = Self::new(sources.len(), part);
        let asked: Vec<(Arc<dyn Source>, Done)> =
            sources.into_iter().enumerate().map(|(i, source)| (source, many.taker(i))).collect();
        net()?.runtime().spawn(async move {
            for (i, (source, done)) in asked.into_iter().enumerate() {
                if i > 0 && i.is_multiple_of(TOGETHER) {
                    tokio::task::yield_now().await;
                }
                source.start_whole(most, done);
            }
        });
        Ok(many)
    }

    fn new(count: usize, part: usize) -> Self {
        let part = part.max(1);
        let left = (0..count.div_ceil(part)).map(|i| count.saturating_sub(i.saturating_mul(part)).min(part)).collect();
        let state = State { values: vec![None; count], left, failed: None, over: false };
        Self(Arc::new(Gathered { state: Mutex::new(state), there: Condvar::new(), part }))
    }

    /// What takes the answer of one.
    fn taker(&self, at: usize) -> Done {
        let gathered = Arc::clone(&self.0);
        surely(move |answer| gathered.take(at, answer))
    }

    /// Wait for a part: its values, in which what is missing is `None`; nothing after the last part, or an error.
    pub fn take(&self, part: usize) -> Result<Option<Vec<Option<Bytes>>>> {
        let mut state = self.0.state();
        loop {
            if state.over {
                return Ok(None);
            }
            if let Some(error) = state.failed.take() {
                state.over = true;
                return Err(error);
            }
            match state.left.get(part) {
                None => return Ok(None),
                Some(0) => break,
                Some(_) => {}
            }
            let (back, waited) = self.0.there.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner);
            state = back;
            if waited.timed_out() && ask::stop() {
                return Err(Error::Interrupted);
            }
        }
        let from = part.saturating_mul(self.0.part);
        Ok(Some(state.values.iter_mut().skip(from).take(self.0.part).map(Option::take).collect()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn word(text: &str) -> Option<Bytes> {
        Some(Bytes::from(text.to_owned()))
    }

    #[test]
    fn parts_come_in_order_whatever_the_order_of_answers() {
        let many = Many::new(5, 2);
        let takers: Vec<Done> = (0..5).map(|i| many.taker(i)).collect();
        for (i, taker) in takers.into_iter().enumerate().rev() {
            taker(if i == 3 { Err(Error::missing("k")) } else { Ok(Bytes::from(i.to_string())) });
        }
        assert_eq!(many.take(0).unwrap().unwrap(), [word("0"), word("1")]);
        assert_eq!(many.take(1).unwrap().unwrap(), [word("2"), None]);
        assert_eq!(many.take(2).unwrap().unwrap(), [word("4")]);
        assert!(many.take(3).unwrap().is_none());
        assert!(Many::new(0, 0).take(0).unwrap().is_none());
    }

    #[test]
    fn a_failure_is_told_before_the_others_have_answered() {
        let many = Many::new(4, 2);
        let _waits = many.taker(0);
        many.taker(3)(Err(Error::Invalid("broken".into())));
        assert!(many.take(0).unwrap_err().to_string().contains("broken"));
        assert!(many.take(0).unwrap().is_none(), "and nobody waits for the rest");
    }

    #[test]
    fn what_is_dropped_is_not_waited_for() {
        let many = Many::new(1, 1);
        drop(many.taker(0));
        assert!(many.take(0).unwrap_err().to_string().contains("dropped"));
    }
}
