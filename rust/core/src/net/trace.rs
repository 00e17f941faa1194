//! What was asked of servers, and how they answered: kept while someone wants to know.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use url::Url;

use super::request::shown;
use crate::fork;

/// No more than these are kept.
const MOST: usize = 1_000_000;

/// A request and what came of it.
#[derive(Debug, Clone)]
pub struct Request {
    /// When it was sent, from when tracing began.
    pub at: Duration,
    /// How long its answer took: up to the headers.
    pub took: Duration,
    /// GET, PUT and so on.
    pub method: String,
    /// Without anything secret.
    pub url: String,
    /// The range that was asked for; empty for all.
    pub range: String,
    /// 0 if there was no answer.
    pub status: u16,
    /// Bytes that were sent.
    pub sent: u64,
    /// Bytes that the answer has.
    pub received: u64,
    /// 1 for the first attempt.
    pub attempt: u32,
}

static ON: AtomicBool = AtomicBool::new(false);
static KEPT: Mutex<(Option<Instant>, Vec<Request>)> = Mutex::new((None, Vec::new()));

fn kept<T>(f: impl FnOnce(&mut (Option<Instant>, Vec<Request>)) -> T) -> T {
    let _fork = fork::guard();
    f(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Begin to keep requests, or stop.
pub fn trace(on: bool) {
    kept(|(since, requests)| {
        if on && since.is_none() {
            *since = Some(Instant::now());
            requests.clear();
        } else if !on {
            *since = None;
        }
    });
    ON.store(on, Ordering::Relaxed);
}

/// Take out what was kept so far.
pub fn traced() -> Vec<Request> {
    kept(|(_, requests)| std::mem::take(requests))
}

/// A request on its way.
pub struct Asked {
    begun: Option<Instant>,
    method: String,
    url: String,
    range: String,
    attempt: u32,
}

impl Asked {
    /// A request is sent now.
    pub fn new(method: &str, url: impl Display, range: Option<&str>, attempt: u32) -> Self {
        let on = ON.load(Ordering::Relaxed);
        let text = |text: &str| if on { text.to_owned() } else { String::new() };
        Self {
            begun: on.then(Instant::now),
            method: text(method),
            url: if on { url.to_string() } else { String::new() },
            range: text(range.unwrap_or_default().trim_start_matches("bytes=")),
            attempt,
        }
    }

    /// The headers of an answer are there.
    pub fn answered(self, status: u16, sent: u64, received: Option<u64>) {
        let Some(begun) = self.begun else { return };
        let took = begun.elapsed();
        let url = Url::parse(&self.url).map_or_else(|_| String::new(), |url| shown(&url));
        let Self { method, range, attempt, .. } = self;
        kept(|(since, requests)| {
            let Some(since) = since.filter(|_| requests.len() < MOST) else { return };
            let at = begun.saturating_duration_since(since);
            let received = received.unwrap_or_default();
            requests.push(Request { at, took, method, url, range, status, sent, received, attempt });
        });
    }

    /// There was no answer.
    pub fn broken(self, sent: u64) {
        self.answered(0, sent, None);
    }
}
