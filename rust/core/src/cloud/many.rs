//! Many values, all asked for at once, and handed over in the order of their keys, some at a time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use crate::ask;
use crate::error::{Error, Result};
use crate::refs::Done;

/// How often whoever waits asks whether to stop.
const POLL: Duration = Duration::from_millis(20);

/// Values on their way.
pub struct Many(Arc<Gathered>);

struct Gathered {
    state: Mutex<State>,
    there: Condvar,
    /// How many values are handed over together.
    part: usize,
}

struct State {
    /// What has arrived.
    answers: Vec<Option<Result<Bytes>>>,
    /// Of each part, how many have not.
    left: Vec<usize>,
}

impl Gathered {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings one answer, come what may: a request that is given up must not be waited for.
struct Reply {
    gathered: Arc<Gathered>,
    at: usize,
    brought: bool,
}

impl Reply {
    fn bring(&mut self, answer: Result<Bytes>) {
        let gathered = &self.gathered;
        let mut state = gathered.state();
        self.brought = true;
        if let Some(slot) = state.answers.get_mut(self.at) {
            *slot = Some(answer);
        }
        let Some(left) = self.at.checked_div(gathered.part).and_then(|part| state.left.get_mut(part)) else { return };
        *left = left.saturating_sub(1);
        // Only then is there something to do: to be woken for each answer costs as much as many a request.
        if *left == 0 {
            gathered.there.notify_all();
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.brought {
            self.bring(Err(Error::Invalid("internal error: a request was dropped; please report it".into())));
        }
    }
}

impl Many {
    /// Room for so many values, to be handed over in parts of so many.
    pub(super) fn new(count: usize, part: usize) -> Self {
        let part = part.max(1);
        let left = (0..count.div_ceil(part)).map(|i| count.saturating_sub(i.saturating_mul(part)).min(part)).collect();
        let answers = (0..count).map(|_| None).collect();
        Self(Arc::new(Gathered { state: Mutex::new(State { answers, left }), there: Condvar::new(), part }))
    }

    /// What takes the answer of one.
    pub(super) fn taker(&self, at: usize) -> Done {
        let mut reply = Reply { gathered: Arc::clone(&self.0), at, brought: false };
        Box::new(move |answer| reply.bring(answer))
    }

    /// Wait for a part: its values, in which what is missing is `None`; nothing after the last part.
    pub fn take(&self, part: usize) -> Result<Option<Vec<Option<Bytes>>>> {
        let mut state = self.0.state();
        loop {
            match state.left.get(part) {
                None => return Ok(None),
                Some(0) => break,
                Some(_) => state = self.0.there.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0,
            }
            if state.left.get(part).is_some_and(|&left| left > 0) && ask::stop() {
                return Err(Error::Interrupted);
            }
        }
        let from = part.saturating_mul(self.0.part);
        let answers = state.answers.iter_mut().skip(from).take(self.0.part).filter_map(Option::take);
        answers.map(super::store::found).collect::<Result<_>>().map(Some)
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
    fn what_is_dropped_is_not_waited_for() {
        let many = Many::new(1, 1);
        drop(many.taker(0));
        assert!(many.take(0).unwrap_err().to_string().contains("dropped"));
    }
}
