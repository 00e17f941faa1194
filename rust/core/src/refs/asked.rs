//! Requests to what is far away: as many at once as help, and no more bytes than there is room for.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use bytes::Bytes;

use super::fetch::{Fetch, Length, Run, Taker};
use super::surely;
use crate::error::{Error, Result};
use crate::pool::{self, Interrupt};

/// Requests that are on their way, or wait for their turn to be; how many a server gets at once is decided elsewhere.
pub(super) const MOST_REQUESTS: usize = 320;

/// Bytes that are on their way, or wait to be decoded: a part of all that is wanted, within these sizes.
const MOST_BYTES: (u64, u64) = (32 << 20, 192 << 20);

/// The same where most bytes lie between what is wanted: then the result is small, and waiting the only price.
const SPARSE_BYTES: u64 = 96 << 20;

/// How often a waiting caller asks whether it should stop.
const POLL: Duration = Duration::from_millis(20);

/// What has arrived: which run, and its bytes.
type Arrival = (usize, Result<Bytes>);

/// Requests to what is far away.
pub(super) struct Asked {
    runs: Vec<Run>,
    next: usize,
    under_way: usize,
    bytes: u64,
    /// All bytes that the runs have.
    total: u64,
    most: u64,
    sender: Sender<Arrival>,
    arrivals: Receiver<Arrival>,
}

impl Asked {
    /// None yet.
    pub fn new() -> Self {
        let (sender, arrivals) = channel();
        Self { runs: Vec::new(), next: 0, under_way: 0, bytes: 0, total: 0, most: 0, sender, arrivals }
    }

    /// Take more runs, which changes how many bytes may be on their way.
    pub fn add(&mut self, call: &Fetch<'_>, runs: Vec<Run>) {
        self.total = runs.iter().map(Run::size).fold(self.total, u64::saturating_add);
        self.runs.extend(runs);
        let sparse = call.wanted < self.total >> 1;
        self.most = self.total.div_ceil(10).clamp(if sparse { SPARSE_BYTES } else { MOST_BYTES.0 }, MOST_BYTES.1);
    }

    /// Send out as many requests as may be on their way.
    pub fn top_up(&mut self, call: &Fetch<'_>) {
        while let Some(run) = self.runs.get(self.next) {
            let bytes = self.bytes.saturating_add(run.size());
            if self.under_way > 0 && (self.under_way >= MOST_REQUESTS || bytes > self.most) {
                return;
            }
            let (at, sender) = (self.next, self.sender.clone());
            // Nobody listens any more if another request has failed.
            let done = surely(move |answer| drop(sender.send((at, answer))));
            if let Some(source) = call.sources.get(run.source) {
                match run.open {
                    Some(Length::All(most)) => source.start_whole(most, done),
                    Some(Length::Last(most)) => source.start_last(most, done),
                    _ if run.end == run.start => done(Ok(Bytes::new())),
                    _ => source.start(run.start, run.end.saturating_sub(run.start), done),
                }
            }
            self.bytes = bytes;
            self.under_way = self.under_way.saturating_add(1);
            self.next = self.next.saturating_add(1);
        }
    }

    /// Wait for answers and hand them over; `false` if there are none to wait for.
    pub fn take(&mut self, call: &Fetch<'_>, interrupt: Interrupt<'_>, taker: &dyn Taker) -> Result<bool> {
        if self.under_way == 0 {
            return Ok(false);
        }
        let first = loop {
            match self.arrivals.recv_timeout(POLL) {
                Ok(arrival) => break arrival,
                Err(RecvTimeoutError::Timeout) if interrupt() => return Err(Error::Interrupted),
                Err(_) => {}
            }
        };
        let mut arrived: Vec<(usize, Bytes)> = Vec::new();
        let mut taken = 0u64;
        for (i, answer) in std::iter::once(first).chain(self.arrivals.try_iter()) {
            let Some(run) = self.runs.get(i) else { continue };
            self.under_way = self.under_way.saturating_sub(1);
            taken = taken.saturating_add(run.size());
            match answer {
                Err(error) if error.is_missing() => call.miss(run, taker, error)?,
                answer => arrived.push((i, answer.map_err(|error| call.named(run, taker, error))?)),
            }
        }
        self.top_up(call);
        let runs = arrived.iter().filter_map(|(i, bytes)| Some((self.runs.get(*i)?, bytes)));
        let tasks: Vec<(&Run, usize, &Bytes)> =
            runs.flat_map(|(run, bytes)| (run.from..run.to).map(move |at| (run, at, bytes))).collect();
        let hand = |i: usize| {
            let Some((run, at, bytes)) = tasks.get(i) else { return Ok(()) };
            call.hand(run, *at, bytes, taker)
        };
        pool::run(tasks.len(), call.parallel, interrupt, &hand)?;
        self.bytes = self.bytes.saturating_sub(taken);
        Ok(true)
    }
}
