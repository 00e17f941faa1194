//! Many ranges of many sources at once: those that lie close together are read together.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use bytes::Bytes;

use super::{Done, Source};
use crate::error::{Error, Result};
use crate::pool::{self, Interrupt};
use crate::scratch;

/// Ranges of files are joined up to this size: what is read at once then still lies in the cache when it is decoded.
const JOINED_FILE: u64 = 256 << 10;

/// Ranges of what is far away are joined up to a part of all that is wanted, within these sizes.
const JOINED_FAR: (u64, u64) = (2 << 20, 16 << 20);

/// Requests that are on their way, or wait for their turn to be; how many a server gets at once is decided elsewhere.
const MOST_REQUESTS: usize = 320;

/// Bytes that are on their way, or wait to be decoded: a part of all that is wanted, within these sizes.
const MOST_BYTES: (u64, u64) = (32 << 20, 192 << 20);

/// The same where most bytes lie between what is wanted: then the result is small, and waiting the only price.
const SPARSE_BYTES: u64 = 96 << 20;

/// How often a waiting caller asks whether it should stop.
const POLL: Duration = Duration::from_millis(20);

/// A range that is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The source, by its place in the list of them.
    pub source: usize,
    /// Where the range begins.
    pub offset: u64,
    /// How many bytes it has.
    pub length: Length,
}

/// How long a range is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// So many bytes.
    Of(u64),
    /// Up to the source's end, which is no more than so many bytes.
    All(u64),
    /// The last so many bytes of the source, or all if there are fewer.
    Last(u64),
}

/// What takes the bytes: on any thread, in any order, each range once.
pub trait Taker: Sync {
    /// Take the bytes of a range.
    fn take(&self, need: usize, bytes: &[u8]) -> Result<()>;

    /// Take that the source of a range is not there; by default, that is an error.
    fn missing(&self, _need: usize, error: Error) -> Result<()> {
        Err(error)
    }

    /// What a range is wanted for, in words of messages.
    fn key(&self, need: usize) -> String;
}

/// Ranges that are read together: positions in the order of needs, and what is read.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    from: usize,
    to: usize,
    source: usize,
    start: u64,
    end: u64,
    /// Something else than a range from here to there.
    open: Option<Length>,
}

impl Run {
    fn size(&self) -> u64 {
        match self.open {
            Some(Length::All(most) | Length::Last(most) | Length::Of(most)) => most,
            None => self.end.saturating_sub(self.start),
        }
    }
}

/// Read ranges, near ones together, and hand each over as it arrives.
///
/// Whoever asks has bounded the length of each range.
pub fn fetch(
    sources: &[Arc<dyn Source>],
    needs: &[Need],
    parallel: bool,
    interrupt: Interrupt<'_>,
    taker: &dyn Taker,
) -> Result<()> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_unstable_by_key(|&i| needs.get(i).map(|need| (need.source, need.offset)));
    let call = Fetch { sources, needs, order, parallel };
    let (far, near): (Vec<Run>, Vec<Run>) = call.runs().into_iter().partition(|run| call.is_far(run.source));
    let mut asked = Asked::new(&call, &far);
    asked.top_up();
    pool::run(near.len(), parallel, interrupt, &|i| near.get(i).map_or(Ok(()), |run| call.read(run, taker)))?;
    asked.drain(interrupt, taker)
}

struct Fetch<'a> {
    sources: &'a [Arc<dyn Source>],
    needs: &'a [Need],
    order: Vec<usize>,
    parallel: bool,
}

impl Fetch<'_> {
    fn is_far(&self, source: usize) -> bool {
        self.sources.get(source).is_some_and(|source| source.remote())
    }

    /// All bytes that are wanted, at most.
    fn wanted(&self) -> u64 {
        let of = |need: &Need| match need.length {
            Length::Of(length) | Length::All(length) | Length::Last(length) => length,
        };
        self.needs.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Join what lies close together.
    fn runs(&self) -> Vec<Run> {
        let of = |need: &Need| if let Length::Of(length) = need.length { length } else { 0 };
        let total = self.needs.iter().map(of).fold(0, u64::saturating_add);
        let far = total.div_ceil(16).clamp(JOINED_FAR.0, JOINED_FAR.1);
        let mut runs: Vec<Run> = Vec::new();
        for (at, need) in self.order.iter().enumerate().filter_map(|(at, &i)| Some((at, self.needs.get(i)?))) {
            let Some(source) = self.sources.get(need.source) else { continue };
            let most = if source.remote() { far } else { JOINED_FILE };
            let (open, length) = match need.length {
                Length::Of(length) => (None, length),
                open => (Some(open), 0),
            };
            let (to, end) = (at.saturating_add(1), need.offset.saturating_add(length));
            match runs.last_mut() {
                Some(run)
                    if run.source == need.source
                        && run.open.is_none()
                        && open.is_none()
                        && need.offset <= run.end.saturating_add(source.gap())
                        && (end <= run.end || end.saturating_sub(run.start) <= most) =>
                {
                    run.to = to;
                    run.end = run.end.max(end);
                }
                _ => runs.push(Run { from: at, to, source: need.source, start: need.offset, end, open }),
            }
        }
        runs
    }

    fn named(&self, run: &Run, taker: &dyn Taker, error: Error) -> Error {
        let first = self.order.get(run.from).map(|&i| taker.key(i)).unwrap_or_default();
        error.at(&first)
    }

    /// Tell all that are part of a run that its source is not there.
    fn miss(&self, run: &Run, taker: &dyn Taker, error: Error) -> Result<()> {
        let mut error = Some(self.named(run, taker, error));
        for at in run.from..run.to {
            let Some(&i) = self.order.get(at) else { continue };
            let said = error.take().unwrap_or_else(|| Error::missing(&taker.key(i)));
            taker.missing(i, said)?;
        }
        Ok(())
    }

    /// Read a run here and now.
    fn read(&self, run: &Run, taker: &dyn Taker) -> Result<()> {
        let Some(source) = self.sources.get(run.source) else { return Ok(()) };
        let fail = |error: Error| self.named(run, taker, error);
        scratch::with(|work| {
            let size = || Ok(source.stamp().map_err(fail)?.size.unwrap_or(0));
            let (start, end) = match run.open {
                Some(Length::All(most)) => (run.start, size()?.min(most.saturating_add(1))),
                Some(Length::Last(most)) => size().map(|size| (size.saturating_sub(most), size))?,
                _ => (run.start, run.end),
            };
            let length = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
            source.read_at(start, work.enc.space(length)).map_err(fail)?;
            (run.from..run.to).try_for_each(|at| self.hand(run, at, work.enc.as_slice(), taker))
        })
    }

    /// Hand over one range of what a run has brought.
    fn hand(&self, run: &Run, at: usize, bytes: &[u8], taker: &dyn Taker) -> Result<()> {
        let Some((&i, need)) = self.order.get(at).and_then(|i| Some((i, self.needs.get(*i)?))) else { return Ok(()) };
        let part = match need.length {
            Length::All(_) | Length::Last(_) => Some(bytes),
            Length::Of(length) => {
                let from = usize::try_from(need.offset.saturating_sub(run.start)).unwrap_or(usize::MAX);
                let to = from.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
                bytes.get(from..to)
            }
        };
        let part = part.ok_or_else(|| Error::Invalid("a source has sent fewer bytes than it was asked for".into()))?;
        taker.take(i, part)
    }
}

/// What has arrived: which run, and its bytes.
type Arrival = (usize, Result<Bytes>);

/// Sends one answer, come what may: a request that is given up must not be waited for.
struct Reply {
    run: usize,
    sender: Option<Sender<Arrival>>,
}

impl Reply {
    fn send(&mut self, answer: Result<Bytes>) {
        // Nobody listens any more if another request has failed.
        if let Some(sender) = self.sender.take() {
            let _ = sender.send((self.run, answer));
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.send(Err(Error::Invalid("internal error: a request was dropped; please report it".into())));
    }
}

/// Requests to what is far away.
struct Asked<'a> {
    call: &'a Fetch<'a>,
    runs: &'a [Run],
    next: usize,
    under_way: usize,
    bytes: u64,
    most: u64,
    sender: Sender<Arrival>,
    arrivals: Receiver<Arrival>,
}

impl<'a> Asked<'a> {
    fn new(call: &'a Fetch<'a>, runs: &'a [Run]) -> Self {
        let (sender, arrivals) = channel();
        let total = runs.iter().map(Run::size).fold(0, u64::saturating_add);
        let sparse = call.wanted() < total >> 1;
        let most = total.div_ceil(10).clamp(if sparse { SPARSE_BYTES } else { MOST_BYTES.0 }, MOST_BYTES.1);
        Self { call, runs, next: 0, under_way: 0, bytes: 0, most, sender, arrivals }
    }

    /// Send out as many requests as may be on their way.
    fn top_up(&mut self) {
        while let Some(run) = self.runs.get(self.next) {
            let bytes = self.bytes.saturating_add(run.size());
            if self.under_way > 0 && (self.under_way >= MOST_REQUESTS || bytes > self.most) {
                return;
            }
            let mut reply = Reply { run: self.next, sender: Some(self.sender.clone()) };
            let done: Done = Box::new(move |answer| reply.send(answer));
            if let Some(source) = self.call.sources.get(run.source) {
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

    /// Wait for answers and hand them over, until all are there.
    fn drain(&mut self, interrupt: Interrupt<'_>, taker: &dyn Taker) -> Result<()> {
        loop {
            self.top_up();
            if self.under_way == 0 {
                return Ok(());
            }
            let first = match self.arrivals.recv_timeout(POLL) {
                Ok(arrival) => arrival,
                Err(RecvTimeoutError::Timeout) if interrupt() => return Err(Error::Interrupted),
                Err(_) => continue,
            };
            let mut tasks: Vec<(&Run, usize, Bytes)> = Vec::new();
            let mut taken = 0u64;
            for (i, answer) in std::iter::once(first).chain(self.arrivals.try_iter()) {
                let Some(run) = self.runs.get(i) else { continue };
                self.under_way = self.under_way.saturating_sub(1);
                taken = taken.saturating_add(run.size());
                let bytes = match answer {
                    Err(error) if error.is_missing() => {
                        self.call.miss(run, taker, error)?;
                        continue;
                    }
                    answer => answer.map_err(|error| self.call.named(run, taker, error))?,
                };
                tasks.extend((run.from..run.to).map(|at| (run, at, bytes.clone())));
            }
            self.top_up();
            let call = self.call;
            let hand = |i: usize| {
                let Some((run, at, bytes)) = tasks.get(i) else { return Ok(()) };
                call.hand(run, *at, bytes, taker)
            };
            pool::run(tasks.len(), self.call.parallel, interrupt, &hand)?;
            self.bytes = self.bytes.saturating_sub(taken);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::refs::Stamp;

    /// Bytes that count from 0 on, and what was asked of them.
    struct Counted {
        far: bool,
        size: u64,
        asked: Mutex<Vec<(u64, u64)>>,
        under_way: Arc<AtomicUsize>,
        most: Arc<AtomicUsize>,
    }

    impl Counted {
        fn new(far: bool, size: u64) -> Arc<Self> {
            Arc::new(Self { far, size, asked: Mutex::default(), under_way: Arc::default(), most: Arc::default() })
        }

        fn asked(&self) -> Vec<(u64, u64)> {
            let mut asked = self.asked.lock().unwrap().clone();
            asked.sort_unstable();
            asked
        }
    }

    impl Source for Counted {
        fn stamp(&self) -> Result<Stamp> {
            Ok(Stamp { size: Some(self.size), ..Stamp::default() })
        }

        fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
            self.asked.lock().unwrap().push((offset, dst.len() as u64));
            if offset + dst.len() as u64 > self.size {
                return Err(Error::stale("counted", "too short"));
            }
            dst.iter_mut().zip(offset..).for_each(|(byte, i)| *byte = (i % 251) as u8);
            Ok(())
        }

        fn remote(&self) -> bool {
            self.far
        }

        fn start(&self, offset: u64, length: u64, done: Done) {
            let answer = self.read_range(offset, length);
            let (count, most) = (Arc::clone(&self.under_way), Arc::clone(&self.most));
            most.fetch_max(count.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(5));
                count.fetch_sub(1, Ordering::SeqCst);
                done(answer);
            });
        }

        fn gap(&self) -> u64 {
            100
        }
    }

    struct Check {
        needs: Vec<Need>,
        taken: Vec<AtomicUsize>,
    }

    impl Taker for Check {
        fn take(&self, need: usize, bytes: &[u8]) -> Result<()> {
            let Need { offset, length, .. } = self.needs[need];
            if let Length::Of(length) = length {
                assert_eq!(bytes.len() as u64, length);
            }
            assert!(bytes.iter().zip(offset..).all(|(&byte, i)| byte == (i % 251) as u8));
            self.taken[need].fetch_add(1, Ordering::SeqCst);
            Ok(())
        }

        fn key(&self, need: usize) -> String {
            format!("need {need}")
        }
    }

    fn run(sources: &[Arc<Counted>], needs: Vec<Need>) -> Result<()> {
        let check = Check { taken: needs.iter().map(|_| AtomicUsize::new(0)).collect(), needs };
        let sources: Vec<Arc<dyn Source>> =
            sources.iter().map(|source| Arc::clone(source) as Arc<dyn Source>).collect();
        fetch(&sources, &check.needs, true, &|| false, &check)?;
        assert!(check.taken.iter().all(|count| count.load(Ordering::SeqCst) == 1));
        Ok(())
    }

    fn need(source: usize, offset: u64, length: u64) -> Need {
        Need { source, offset, length: Length::Of(length) }
    }

    #[test]
    fn neighbours_are_one_request() {
        for far in [false, true] {
            let source = Counted::new(far, 1 << 20);
            let needs = (0..100).rev().map(|i| need(0, i * 1100, 1000)).collect();
            run(&[Arc::clone(&source)], needs).unwrap();
            assert_eq!(source.asked(), [(0, 99 * 1100 + 1000)]);
        }
    }

    #[test]
    fn wide_gaps_are_not_read_and_overlaps_are_read_once() {
        let source = Counted::new(false, 1 << 20);
        let needs = vec![need(0, 500, 10), need(0, 0, 50), need(0, 20, 100), need(0, 0, 50), need(0, 700, 0)];
        run(&[Arc::clone(&source)], needs).unwrap();
        assert_eq!(source.asked(), [(0, 120), (500, 10), (700, 0)]);
    }

    #[test]
    fn requests_are_bounded_in_size_and_number() {
        let source = Counted::new(true, 1 << 30);
        run(&[Arc::clone(&source)], (0..64).map(|i| need(0, i << 20, 1 << 20)).collect()).unwrap();
        assert!(source.asked().iter().all(|&(_, length)| length <= 16 << 20));
        assert!(source.asked().len() <= 16);
        let source = Counted::new(true, 1 << 30);
        run(&[Arc::clone(&source)], (0..300).map(|i| need(0, i << 20, 10)).collect()).unwrap();
        assert_eq!(source.asked().len(), 300);
        let most = source.most.load(Ordering::SeqCst);
        assert!((8..=MOST_REQUESTS).contains(&most), "{most}");
    }

    #[test]
    fn sources_of_all_kinds_in_one_call() {
        let sources = [Counted::new(false, 5000), Counted::new(true, 5000), Counted::new(true, 77)];
        let mut needs: Vec<Need> = (0..30).map(|i| need(i % 2, (i as u64) * 150, 100)).collect();
        needs.push(Need { source: 2, offset: 0, length: Length::All(100) });
        needs.push(Need { source: 0, offset: 0, length: Length::All(5000) });
        run(&sources, needs).unwrap();
        assert_eq!(sources[2].asked(), [(0, 77)]);
    }

    #[test]
    fn what_is_not_there_is_an_error_that_names_the_key() {
        for far in [false, true] {
            let source = Counted::new(far, 1000);
            let failed = run(&[Arc::clone(&source)], vec![need(0, 900, 200)]).unwrap_err();
            assert!(matches!(failed, Error::Stale { key, .. } if key == "need 0"));
        }
    }

    #[test]
    fn a_waiting_caller_can_stop() {
        struct Silent;
        impl Source for Silent {
            fn stamp(&self) -> Result<Stamp> {
                Ok(Stamp::default())
            }
            fn read_at(&self, _: u64, _: &mut [u8]) -> Result<()> {
                Ok(())
            }
            fn remote(&self) -> bool {
                true
            }
            fn start(&self, _: u64, _: u64, done: Done) {
                std::mem::forget(done);
            }
        }
        let needs = vec![need(0, 0, 10)];
        let check = Check { needs, taken: vec![AtomicUsize::new(0)] };
        let sources: Vec<Arc<dyn Source>> = vec![Arc::new(Silent)];
        let failed = fetch(&sources, &check.needs, true, &|| true, &check);
        assert!(matches!(failed, Err(Error::Interrupted)));
    }
}
