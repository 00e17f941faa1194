//! Many ranges of many sources at once: those that lie close together are read together.

use std::sync::Arc;

use super::Source;
use super::asked::Asked;
use crate::error::{Error, Result};
use crate::pool::{self, Interrupt};
use crate::scratch;

/// Ranges of files are joined up to this size: what is read at once then still lies in the cache when it is decoded.
const JOINED_FILE: u64 = 256 << 10;

/// Ranges of what is far away are joined up to a part of all that is wanted, within these sizes.
const JOINED_FAR: (u64, u64) = (2 << 20, 16 << 20);

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

    /// Ranges that are needed after what was taken so far; they are counted on from those before.
    fn more(&self) -> Result<Vec<Need>> {
        Ok(Vec::new())
    }

    /// What a range is wanted for, in words of messages.
    fn key(&self, need: usize) -> String;
}

/// Ranges that are read together: positions in the order of needs, and what is read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub from: usize,
    pub to: usize,
    pub source: usize,
    pub start: u64,
    pub end: u64,
    /// Something else than a range from here to there.
    pub open: Option<Length>,
}

impl Run {
    pub fn size(&self) -> u64 {
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
    needs: Vec<Need>,
    parallel: bool,
    interrupt: Interrupt<'_>,
    taker: &dyn Taker,
) -> Result<()> {
    let mut call = Fetch { sources, needs: Vec::new(), order: Vec::new(), wanted: 0, parallel };
    let (mut asked, mut needs) = (Asked::new(), needs);
    loop {
        let (far, near): (Vec<Run>, Vec<Run>) = call.add(needs).into_iter().partition(|run| call.is_far(run.source));
        asked.add(&call, far);
        asked.top_up(&call);
        pool::run(near.len(), parallel, interrupt, &|i| near.get(i).map_or(Ok(()), |run| call.read(run, taker)))?;
        needs = taker.more()?;
        if needs.is_empty() {
            if !asked.take(&call, interrupt, taker)? {
                return Ok(());
            }
            needs = taker.more()?;
        }
    }
}

/// A call: what is needed, in what order, and of whom.
pub(super) struct Fetch<'a> {
    pub sources: &'a [Arc<dyn Source>],
    needs: Vec<Need>,
    order: Vec<usize>,
    /// All bytes that are wanted, at most.
    pub wanted: u64,
    pub parallel: bool,
}

impl Fetch<'_> {
    fn is_far(&self, source: usize) -> bool {
        self.sources.get(source).is_some_and(|source| source.remote())
    }

    /// Take more needs, and join those of them that lie close together.
    fn add(&mut self, more: Vec<Need>) -> Vec<Run> {
        let from = self.needs.len();
        self.needs.extend(more);
        let mut order: Vec<usize> = (from..self.needs.len()).collect();
        order.sort_unstable_by_key(|&i| self.needs.get(i).map(|need| (need.source, need.offset)));
        self.order.extend(order);
        let of = |need: &Need| match need.length {
            Length::Of(length) | Length::All(length) | Length::Last(length) => length,
        };
        self.wanted = self.needs.iter().skip(from).map(of).fold(self.wanted, u64::saturating_add);
        self.runs(from)
    }

    /// Join what lies close together, from a position in the order on.
    fn runs(&self, from: usize) -> Vec<Run> {
        let far = self.wanted.div_ceil(16).clamp(JOINED_FAR.0, JOINED_FAR.1);
        let mut runs: Vec<Run> = Vec::new();
        let order = self.order.iter().enumerate().skip(from);
        for (at, need) in order.filter_map(|(at, &i)| Some((at, self.needs.get(i)?))) {
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

    pub fn named(&self, run: &Run, taker: &dyn Taker, error: Error) -> Error {
        let first = self.order.get(run.from).map(|&i| taker.key(i)).unwrap_or_default();
        error.at(&first)
    }

    /// Tell all that are part of a run that its source is not there.
    pub fn miss(&self, run: &Run, taker: &dyn Taker, error: Error) -> Result<()> {
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
    pub fn hand(&self, run: &Run, at: usize, bytes: &[u8], taker: &dyn Taker) -> Result<()> {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::super::asked::MOST_REQUESTS;
    use super::*;
    use crate::refs::{Done, Stamp};

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
        fetch(&sources, check.needs.clone(), true, &|| false, &check)?;
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
        let failed = fetch(&sources, check.needs.clone(), true, &|| true, &check);
        assert!(matches!(failed, Err(Error::Interrupted)));
    }
}
