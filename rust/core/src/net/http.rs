//! A file on a server, read in ranges.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::{Response, StatusCode};
use url::Url;

use super::answer::{self, contradiction, looks_like_html, says_html};
use super::body::{Body, Need};
use super::given::Headers;
use super::judge::{html, judge, past};
use super::request::{Attempt, Target, Trouble, broken, check_status, fault, headers, send, shown};
use super::{Held, Ranged, hold, net};
use crate::ask;
use crate::error::{Error, Result};
use crate::pool::Interrupt;
use crate::refs::{Done, Source, Stamp};
use crate::store::{Token, place_of};

/// Judges where a redirection leads: an error, or whether the host may have an address that is not public.
pub type Judge = Arc<dyn Fn(&Url) -> Result<bool> + Send + Sync>;

/// How long to wait for what, and how often.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Without a byte for so long, an answer counts as broken off.
    pub stall: Duration,
    /// An answer that takes longer than this must have come at [`SLOWEST`] bytes a second at least.
    pub patience: Duration,
    /// How often one range is asked for.
    pub attempts: u32,
    /// How long the first pause between attempts is; each is twice as long as the one before.
    pub pause: Duration,
    /// Bytes of the beginning that the question for the state brings along.
    pub head: u64,
    /// Whether a page to be looked at is what is wanted, and not a sign that something went wrong.
    pub pages: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stall: Duration::from_secs(30),
            patience: Duration::from_secs(60),
            attempts: 5,
            pause: Duration::from_millis(200),
            head: 64 << 10,
            pages: false,
        }
    }
}

/// Bytes a second that an answer must bring on the average, once patience has run out.
pub(crate) const SLOWEST: u64 = 1 << 10;

/// No pause between attempts is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// How often who waits asks whether to stop.
const POLL: Duration = Duration::from_millis(50);

/// A file on a server.
#[derive(Clone)]
pub struct HttpSource(Arc<Inner>);

struct Inner {
    first: Target,
    given: Headers,
    reach: Judge,
    settings: Settings,
    state: Mutex<State>,
    requests: AtomicU64,
    received: AtomicU64,
}

/// What is known so far.
struct State {
    stamp: Stamp,
    /// The beginning, where the question for the state has brought it.
    head: Bytes,
    /// Where redirections led the last time.
    last: Option<Target>,
    /// Whether an answer has been seen.
    seen: bool,
}

impl HttpSource {
    /// A file on a server; nothing is asked yet.
    ///
    /// `private` says whether its host may have an address that is not public, `stamp` is the state that it must have,
    /// as far as that is known, `given` what goes with the requests to servers that the caller has named.
    pub fn new(url: Url, private: bool, stamp: Stamp, given: Headers, reach: Judge, settings: Settings) -> Self {
        let mut url = url;
        url.set_fragment(None);
        let state = State { stamp, head: Bytes::new(), last: None, seen: false };
        Self(Arc::new(Inner {
            first: Target { url, private },
            given,
            reach,
            settings,
            state: Mutex::new(state),
            requests: AtomicU64::new(0),
            received: AtomicU64::new(0),
        }))
    }
}

impl Ranged for HttpSource {
    fn counts(&self) -> (u64, u64) {
        (self.0.requests.load(Ordering::Relaxed), self.0.received.load(Ordering::Relaxed))
    }

    fn probe(&self, interrupt: Interrupt<'_>) -> Result<Stamp> {
        if let Some(stamp) = self.0.known() {
            return Ok(stamp);
        }
        let inner = Arc::clone(&self.0);
        wait(async move { inner.probe().await }, interrupt)
    }

    fn take_head(&self) -> Bytes {
        std::mem::take(&mut self.0.state().head)
    }

    fn read_many(&self, ranges: &[(u64, u64)], interrupt: Interrupt<'_>) -> Result<Vec<Bytes>> {
        read_many(self, ranges, interrupt)
    }

    /// Also what is compressed on its way comes as it is.
    fn document(&self, most: u64, interrupt: Interrupt<'_>) -> Result<Bytes> {
        let inner = Arc::clone(&self.0);
        wait(async move { inner.whole(most).await }, interrupt)
    }
}

/// Several ranges of a source at once, in their order.
pub(crate) fn read_many(source: &dyn Source, ranges: &[(u64, u64)], interrupt: Interrupt<'_>) -> Result<Vec<Bytes>> {
    let (sender, receiver) = mpsc::channel();
    for (i, &(offset, length)) in ranges.iter().enumerate() {
        let sender = sender.clone();
        source.start(offset, length, Box::new(move |found| drop(sender.send((i, found)))));
    }
    let mut parts: Vec<Bytes> = ranges.iter().map(|_| Bytes::new()).collect();
    for _ in ranges {
        let (i, found) = receive(&receiver, interrupt)?;
        if let Some(part) = parts.get_mut(i) {
            *part = found?;
        }
    }
    Ok(parts)
}

impl Source for HttpSource {
    fn stamp(&self) -> Result<Stamp> {
        self.probe(&|| false)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(&self.read_range(offset, dst.len() as u64)?);
        Ok(())
    }

    fn remote(&self) -> bool {
        true
    }

    fn start(&self, offset: u64, length: u64, done: Done) {
        let inner = Arc::clone(&self.0);
        match net() {
            Ok(net) => drop(net.runtime().spawn(async move { done(inner.range(offset, length, Need::All).await) })),
            Err(error) => done(Err(error)),
        }
    }

    fn start_last(&self, length: u64, done: Done) {
        let inner = Arc::clone(&self.0);
        match net() {
            Ok(net) => drop(net.runtime().spawn(async move { done(inner.last(length).await) })),
            Err(error) => done(Err(error)),
        }
    }

    /// Without asking for the size first.
    fn start_whole(&self, most: u64, done: Done) {
        let inner = Arc::clone(&self.0);
        match net() {
            Ok(net) => drop(net.runtime().spawn(async move { done(inner.whole(most).await) })),
            Err(error) => done(Err(error)),
        }
    }

    fn read_range(&self, offset: u64, length: u64) -> Result<Bytes> {
        let inner = Arc::clone(&self.0);
        wait(async move { inner.range(offset, length, Need::All).await }, &|| false)
    }

    fn token(&self) -> Option<Token> {
        let state = self.0.state();
        let (tag, size) = (state.stamp.etag.as_ref().filter(|tag| answer::strong(tag))?, state.stamp.size?);
        let place = place_of(&[shown(self.0.url()).as_bytes()]);
        Some(Token([place, place_of(&[tag.as_bytes()]), size, 0]))
    }

    fn gap(&self) -> u64 {
        64 << 10
    }
}

/// Wait for something that goes on in the background, unless told to stop.
pub(crate) fn wait<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
    interrupt: Interrupt<'_>,
) -> Result<T> {
    let (sender, receiver) = mpsc::channel();
    let task = net()?.runtime().spawn(async move { drop(sender.send(work.await)) });
    let done = receive(&receiver, interrupt);
    if done.is_err() {
        task.abort();
    }
    done?
}

/// Wait for what another thread sends, unless whoever called wants to stop.
pub(crate) fn receive<T>(receiver: &mpsc::Receiver<T>, interrupt: Interrupt<'_>) -> Result<T> {
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(value) => return Ok(value),
            Err(mpsc::RecvTimeoutError::Timeout) if !interrupt() && !ask::stop() => {}
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(Error::Interrupted),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(Error::Invalid("a request was lost".into())),
        }
    }
}

impl Inner {
    fn state(&self) -> Held<'_, State> {
        hold(&self.state)
    }

    fn url(&self) -> &Url {
        &self.first.url
    }

    fn known(&self) -> Option<Stamp> {
        let state = self.state();
        (state.seen && state.stamp.size.is_some()).then(|| state.stamp.clone())
    }

    async fn probe(&self) -> Result<Stamp> {
        let head = self.range(0, self.settings.head.max(1), Need::WhatThereIs).await?;
        let mut state = self.state();
        state.head = head;
        if state.stamp.size.is_none() {
            return Err(fault(self.url(), "the server does not say how large this is", None));
        }
        Ok(state.stamp.clone())
    }

    /// A range, from the beginning that is there already or from the server.
    async fn range(&self, offset: u64, length: u64, need: Need) -> Result<Bytes> {
        if length == 0 {
            return Ok(Bytes::new());
        }
        let end = offset.checked_add(length);
        let end = end.ok_or_else(|| Error::stale(&shown(self.url()), "a range goes beyond all numbers"))?;
        {
            let state = self.state();
            if need == Need::All && state.stamp.size.is_some_and(|size| end > size) {
                return Err(past(self.url(), offset, length, state.stamp.size));
            }
            if end <= state.head.len() as u64
                && let (Ok(start), Ok(end)) = (usize::try_from(offset), usize::try_from(end))
            {
                return Ok(state.head.slice(start..end));
            }
        }
        let mut body = Body::new(Some((offset, length)), length, need);
        self.persist(&mut body).await?;
        Ok(body.data())
    }

    /// The last bytes: the size is asked for first, since some servers know no other way.
    async fn last(&self, length: u64) -> Result<Bytes> {
        let known = self.known();
        let stamp = if let Some(stamp) = known { stamp } else { self.probe().await? };
        let size = stamp.size.unwrap_or_default();
        self.range(size.saturating_sub(length), size.min(length), Need::All).await
    }

    async fn whole(&self, most: u64) -> Result<Bytes> {
        let mut body = Body::new(None, most, Need::WhatThereIs);
        self.persist(&mut body).await?;
        Ok(body.data())
    }

    /// Ask until all is there, or it makes no sense any more; what came before a connection broke is kept.
    async fn persist(&self, body: &mut Body) -> Result<()> {
        let mut attempt = 1u32;
        loop {
            let (message, after) = match self.attempt(body).await {
                Ok(()) => return Ok(()),
                Err(Trouble::Final(error)) => return Err(error),
                Err(Trouble::Again { message, after }) => (message, after),
            };
            let pause = after.unwrap_or_else(|| pause(self.settings.pause, attempt));
            if attempt >= self.settings.attempts || pause > LONGEST_PAUSE {
                let message = format!("{message} (after {attempt} attempts)");
                return Err(fault(self.url(), message, None));
            }
            tokio::time::sleep(pause).await;
            attempt = attempt.saturating_add(1);
        }
    }

    async fn attempt(&self, body: &mut Body) -> Attempt<()> {
        let (target, stamp) = {
            let state = self.state();
            (state.last.clone().unwrap_or_else(|| self.first.clone()), state.stamp.clone())
        };
        let gate = net()?.gate(target.url.host_str().unwrap_or_default());
        let turn = gate.enter().await;
        self.requests.fetch_add(1, Ordering::Relaxed);
        let tag = stamp.etag.as_deref().filter(|tag| answer::strong(tag));
        let was_moved = target.url != self.first.url;
        let sent = send(target, &headers(body.wanted(), tag), &self.given, &self.reach, self.settings.stall).await;
        let (response, target) = sent?;
        if matches!(response.status().as_u16(), 429 | 503) {
            gate.complained();
        }
        if let Err(trouble) = check_status(&target.url, &response) {
            // Where a redirection led is often signed, and good for a while only.
            if was_moved && matches!(response.status().as_u16(), 400..=499) {
                self.state().last = None;
                return Err(Trouble::again(format!("the server answered {}", response.status())));
            }
            return Err(trouble);
        }
        let size = judge(&target.url, &response, body, self.settings.pages)?;
        self.remember(&response, size, target)?;
        self.receive(response, body).await?;
        turn.over().await;
        Ok(())
    }

    /// Compare the answer's state with what is known, and learn from it.
    fn remember(&self, response: &Response, size: Option<u64>, target: Target) -> Result<()> {
        let mut now = answer::stamp_of(response.headers());
        now.size = size;
        let mut state = self.state();
        if let Some(message) = contradiction(&state.stamp, &now) {
            return Err(Error::stale(&shown(self.url()), message));
        }
        let known = &mut state.stamp;
        known.size = known.size.or(now.size);
        known.etag = known.etag.take().or(now.etag);
        known.modified = known.modified.or(now.modified);
        state.seen = true;
        state.last = (target.url != self.first.url).then_some(target);
        Ok(())
    }

    async fn receive(&self, mut response: Response, body: &mut Body) -> Attempt<()> {
        let (started, before) = (Instant::now(), body.len());
        let page = says_html(response.headers()) && !self.settings.pages;
        if response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            return Ok(());
        }
        loop {
            let chunk = match tokio::time::timeout(self.settings.stall, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Err(broken(&error)),
                Err(_) => return Err(Trouble::again(format!("not a byte within {:?}", self.settings.stall))),
            };
            self.received.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            if page && body.at_start() && looks_like_html(&chunk) {
                return Err(html(self.url()));
            }
            if !body.add(chunk) {
                return Err(if body.range.is_some() {
                    fault(self.url(), "the server sent more bytes than were asked for", None).into()
                } else {
                    Error::Limit(format!("{} has more than {} bytes", shown(self.url()), body.limit)).into()
                });
            }
            let took = started.elapsed();
            let due = took.as_secs().saturating_mul(SLOWEST);
            if took > self.settings.patience && body.len().saturating_sub(before) < due.max(1) {
                return Err(fault(self.url(), "the server sends too slowly", None).into());
            }
        }
        if body.is_complete() {
            Ok(())
        } else {
            Err(Trouble::again(format!("the answer ended after {} bytes", body.len())))
        }
    }
}

/// A pause that doubles with each attempt, and is never quite the same for two who wait.
pub(crate) fn pause(first: Duration, attempt: u32) -> Duration {
    let longest = first.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)));
    let noise = RandomState::new().build_hasher().finish() & 0xffff;
    longest.mul_f64(0.5 + f64::from(u32::try_from(noise).unwrap_or(0)) / f64::from(0x20000)).min(LONGEST_PAUSE)
}
