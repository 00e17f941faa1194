//! An object, read in ranges.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{Attribute, Error as Said, GetOptions, GetRange, GetResult, ObjectStore};

use super::Settings;
use super::cache::Entry;
use super::failure::{Meaning, failed, forbidden, meaning};
use super::kept::Kept;
use super::putting::Tag;
use crate::error::{Error, Result};
use crate::net::{Body, Gate, Held, Need, SLOWEST, hold, looks_like_html, net, pause, wait};
use crate::refs::{Done, Source, Stamp};
use crate::store::{Token, place_of};

/// Bytes that are rather read over than skipped: less than comes in the time that one more request takes.
pub(super) const GAP: usize = 96 << 10;

/// What all objects of a store share.
pub struct Service {
    /// The service.
    pub store: Arc<dyn ObjectStore>,
    /// How it is asked.
    pub settings: Settings,
    /// What bounds the requests to it.
    pub gate: Arc<Gate>,
    /// Where the store is, for messages.
    pub uri: String,
    /// Whether the service can give the last bytes of an object whose size is not known: not all can.
    pub suffixes: AtomicBool,
    /// Where what was read is kept on disk, if it is.
    pub kept: Option<Kept>,
}

/// An object.
#[derive(Clone)]
pub struct ObjectSource(pub(super) Arc<Inner>);

/// What a source is for, which decides what is believed of what is kept on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// One call of the user's: what the service has said once holds until its end.
    Call,
    /// Many calls, each of which asks.
    Calls,
    /// A change of what is there: nothing that is kept is good enough.
    Change,
}

pub(super) struct Inner {
    pub(super) service: Arc<Service>,
    pub(super) path: Path,
    key: String,
    stamp: Mutex<Stamp>,
    /// What some services call a state instead of an ETag.
    version: Mutex<Option<String>>,
    /// What the source is for.
    pub(super) purpose: Purpose,
    /// Whether the service has said that the object is in the state that is known.
    pub(super) confirmed: AtomicBool,
}

/// What the client says of an answer that is all of an object, where a part was asked for.
const NOT_A_PART: &str = "non-partial";

/// What is wanted of an object.
#[derive(Clone, Copy)]
pub(super) enum Want {
    Range(u64, u64),
    /// All, though no more than so many bytes.
    Whole(u64),
    Last(u64),
    /// The first so many bytes, or all if there are fewer.
    First(u64),
}

/// How far a read has come.
#[derive(Default)]
struct Reading {
    body: Option<Body>,
    /// The attempt that it is.
    attempt: u32,
    /// The ETag of what was sent compressed, if anything was.
    packed: Option<Option<String>>,
    /// What is kept on disk, which is enough if it is current.
    entry: Option<Entry>,
    /// The ETag of the last answer, if what came with it can be kept.
    tag: Option<String>,
}

/// Why an attempt did not succeed.
enum Trouble {
    Final(Error),
    Again(String),
    /// An answer of something else: what it said of the state is not to be believed.
    Wrong(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl ObjectSource {
    /// An object under a key; nothing is asked yet. `stamp` is the state that it must have, as far as that is known.
    pub fn new(service: &Arc<Service>, path: Path, key: &str, stamp: Stamp, purpose: Purpose) -> Self {
        let (service, key, stamp) = (Arc::clone(service), key.to_owned(), Mutex::new(stamp));
        let (version, confirmed) = (Mutex::default(), AtomicBool::new(false));
        Self(Arc::new(Inner { service, path, key, stamp, version, purpose, confirmed }))
    }

    /// What is known of its state, without asking.
    pub fn known(&self) -> Stamp {
        self.0.state().clone()
    }

    /// What tells this state of the object from others, for a put on condition of it.
    pub fn tag(&self) -> Option<Tag> {
        let (etag, version) = (self.0.state().etag.clone(), hold(&self.0.version).clone());
        (etag.is_some() || version.is_some()).then_some(Tag { etag, version })
    }

    fn spawn(&self, want: Want, done: Done) {
        let inner = Arc::clone(&self.0);
        match net() {
            Ok(net) => drop(net.runtime().spawn(async move { done(inner.fetch(want).await) })),
            Err(error) => done(Err(error)),
        }
    }

    fn read(&self, want: Want) -> Result<Bytes> {
        let inner = Arc::clone(&self.0);
        wait(async move { inner.fetch(want).await }, &|| false)
    }

    /// All of it, though no more than `most` bytes.
    pub fn read_whole(&self, most: u64) -> Result<Bytes> {
        self.read(Want::Whole(most))
    }

    /// The last bytes.
    pub fn read_last(&self, length: u64) -> Result<Bytes> {
        self.read(Want::Last(length))
    }
}

impl Source for ObjectSource {
    fn stamp(&self) -> Result<Stamp> {
        let known = self.known();
        if known.size.is_some() {
            return Ok(known);
        }
        let inner = Arc::clone(&self.0);
        wait(async move { inner.head().await }, &|| false)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(&self.read_range(offset, dst.len() as u64)?);
        Ok(())
    }

    fn remote(&self) -> bool {
        true
    }

    fn start(&self, offset: u64, length: u64, done: Done) {
        self.spawn(Want::Range(offset, length), done);
    }

    fn start_whole(&self, most: u64, done: Done) {
        self.spawn(Want::Whole(most), done);
    }

    fn start_last(&self, length: u64, done: Done) {
        self.spawn(Want::Last(length), done);
    }

    fn read_range(&self, offset: u64, length: u64) -> Result<Bytes> {
        self.read(Want::Range(offset, length))
    }

    fn token(&self) -> Option<Token> {
        let state = self.0.state();
        let (tag, size) = (state.etag.as_ref()?, state.size?);
        let place = place_of(&[self.0.service.uri.as_bytes(), b"/", self.0.path.as_ref().as_bytes()]);
        Some(Token([place, place_of(&[tag.as_bytes()]), size, 0]))
    }

    fn gap(&self) -> u64 {
        GAP as u64
    }
}

impl Inner {
    pub(super) fn state(&self) -> Held<'_, Stamp> {
        hold(&self.stamp)
    }

    pub(super) async fn head(&self) -> Result<Stamp> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let mut attempt = 1u32;
        loop {
            let trouble = match self.service.store.get_opts(&self.path, options.clone()).await {
                Ok(found) => return self.remember(&found).map(|()| self.state().clone()),
                Err(said) => self.judge(&said),
            };
            self.next(trouble, &mut attempt).await?;
        }
    }

    pub(super) async fn fetch(&self, want: Want) -> Result<Bytes> {
        if matches!(want, Want::Range(_, 0) | Want::Last(0)) {
            return Ok(Bytes::new());
        }
        let want = self.sized(want).await?;
        let entry = self.kept(want).await;
        if let Some(entry) = entry.as_ref().filter(|entry| self.is_sure(entry)) {
            return Ok(entry.data.clone());
        }
        let mut reading = Reading { entry, attempt: 1, ..Reading::default() };
        let (want, fresh) = self.ask(want, &mut reading).await?;
        if let Some(entry) = reading.entry.filter(|_| !fresh) {
            return self.adopt(want, entry);
        }
        let data = reading.body.map(Body::data).unwrap_or_default();
        self.keep(want, reading.tag, &data).await;
        Ok(data)
    }

    /// Ask the service until it has answered; tell what was wanted in the end, and whether something has come.
    async fn ask(&self, mut want: Want, reading: &mut Reading) -> Result<(Want, bool)> {
        let turn = self.service.gate.enter().await;
        let before = self.state().clone();
        loop {
            match self.attempt(want, reading).await {
                Ok(fresh) => {
                    turn.over().await;
                    return Ok((want, fresh));
                }
                Err(Trouble::Wrong(message)) => {
                    (reading.body, *self.state()) = (None, before.clone());
                    self.confirmed.store(false, Ordering::Relaxed);
                    self.next(Trouble::Again(message), &mut reading.attempt).await?;
                }
                Err(Trouble::Again(message)) if matches!(want, Want::Last(_)) && message.contains(NOT_A_PART) => {
                    self.service.suffixes.store(false, Ordering::Relaxed);
                    want = self.sized(want).await?;
                    reading.entry = None;
                }
                Err(trouble) => self.next(trouble, &mut reading.attempt).await?,
            }
        }
    }

    /// The last bytes as a range, where the service knows no other way to ask for them.
    async fn sized(&self, want: Want) -> Result<Want> {
        let Want::Last(length) = want else { return Ok(want) };
        if self.service.suffixes.load(Ordering::Relaxed) {
            return Ok(want);
        }
        let size = self.state().size;
        let size = if let Some(size) = size { size } else { self.head().await?.size.unwrap_or_default() };
        Ok(Want::Range(size.saturating_sub(length), size.min(length)))
    }

    /// Wait before the next attempt, if there may be one.
    async fn next(&self, trouble: Trouble, attempt: &mut u32) -> Result<()> {
        let message = match trouble {
            Trouble::Final(error) => return Err(error),
            Trouble::Again(message) | Trouble::Wrong(message) => message,
        };
        let net = &self.service.settings.net;
        if *attempt >= net.attempts {
            return Err(failed(&self.key, "get", format!("{message} (after {attempt} attempts)")));
        }
        tokio::time::sleep(pause(net.pause, *attempt)).await;
        *attempt = attempt.saturating_add(1);
        Ok(())
    }

    /// `false` if what is kept is still current.
    async fn attempt(&self, want: Want, reading: &mut Reading) -> std::result::Result<bool, Trouble> {
        let options = self.options(want, reading);
        let found = match self.service.store.get_opts(&self.path, options).await {
            Ok(found) => found,
            Err(Said::NotModified { .. }) if reading.entry.is_some() => return Ok(false),
            Err(said) => return Err(self.judge(&said)),
        };
        let Reading { body, packed, entry, tag: last, .. } = reading;
        let encoded = found.attributes.get(&Attribute::ContentEncoding).is_some_and(|name| is_packing(name.as_ref()));
        if encoded && packed.as_ref() != Some(&found.meta.e_tag) {
            // A proxy may do so once; what is kept so is always sent so, and its bytes are the object's.
            *packed = Some(found.meta.e_tag);
            return Err(Trouble::Wrong("the service sends it compressed".into()));
        }
        let (size, tag) = (found.meta.size, found.meta.e_tag.clone());
        hold(&self.version).clone_from(&found.meta.version);
        // What is kept is of another state.
        *entry = None;
        // What something on the way may have packed is not the object for sure.
        *last = tag.clone().filter(|_| !encoded);
        let goes_on = |body: &Body| body.wanted().is_some_and(|(from, _)| found.range.start == from);
        if body.as_ref().is_some_and(|body| body.len() > 0 && !goes_on(body)) {
            // Without an ETag nothing can be resumed: the answer begins anew.
            *body = None;
        }
        let first = body.is_none();
        if !matches!(want, Want::Whole(_)) || !first {
            self.check(&found)?;
        }
        if first && matches!(want, Want::Whole(_)) {
            *self.state() = Stamp { size: Some(size), modified: None, etag: tag };
            self.confirmed.store(true, Ordering::Relaxed);
        } else {
            self.remember(&found)?;
        }
        let (start, end) = (found.range.start, found.range.end);
        if let (true, Want::Range(offset, length)) = (first, want)
            && end.saturating_sub(start) < length
        {
            let message = format!("{length} bytes from {offset} on lie past its end, at {size}");
            return Err(Error::Stale { key: self.key.clone(), url: self.url(), message }.into());
        }
        let body = body.get_or_insert_with(|| match want {
            Want::Range(offset, length) => Body::new(Some((offset, length)), length, Need::All),
            Want::Whole(most) => {
                let most = most.saturating_add(1).min(size);
                Body::new(Some((0, most)), most, Need::WhatThereIs)
            }
            Want::Last(_) | Want::First(_) => {
                Body::new(Some((start, end.saturating_sub(start))), end.saturating_sub(start), Need::All)
            }
        });
        if first {
            body.expect(body.limit);
        }
        self.receive(found, body).await.map(|()| true)
    }

    /// What to ask for: what is missing, and only of that state of the object that is known.
    fn options(&self, want: Want, reading: &Reading) -> GetOptions {
        let tag = self.state().etag.clone();
        if let (Some(entry), None) = (&reading.entry, &reading.body) {
            let range = asked(want);
            return GetOptions { range, if_none_match: Some(entry.etag.clone()), ..GetOptions::default() };
        }
        if let Some((from, left)) = reading.body.as_ref().and_then(Body::wanted).filter(|_| tag.is_some()) {
            let range = Some(GetRange::Bounded(from..from.saturating_add(left)));
            return GetOptions { range, if_match: tag, ..GetOptions::default() };
        }
        let if_match = tag.filter(|_| !matches!(want, Want::Whole(_)));
        GetOptions { range: asked(want), if_match, ..GetOptions::default() }
    }

    fn judge(&self, said: &object_store::Error) -> Trouble {
        match meaning(said) {
            Meaning::Missing => Trouble::Final(Error::missing(&self.key)),
            Meaning::Forbidden(_) if self.service.settings.forbidden_is_missing => {
                Trouble::Final(Error::missing(&self.key))
            }
            Meaning::Forbidden(message) => Trouble::Final(forbidden(&self.key, "get", &message)),
            Meaning::Condition => Trouble::Final(self.changed("the service says that it was changed")),
            Meaning::Final(message) => Trouble::Final(failed(&self.key, "get", message)),
            Meaning::Again(message) => Trouble::Again(message),
            Meaning::Spent(message) => {
                let attempts = self.service.settings.net.attempts;
                Trouble::Final(failed(&self.key, "get", format!("{message} (after {attempts} attempts)")))
            }
        }
    }

    pub(super) fn changed(&self, message: &str) -> Error {
        Error::Stale { key: self.key.clone(), url: self.url(), message: message.into() }
    }

    pub(super) fn url(&self) -> String {
        format!("{}/{}", self.service.uri, self.key)
    }

    /// Whether an answer is of the state that is known.
    fn check(&self, found: &GetResult) -> Result<()> {
        let now = Stamp { size: Some(found.meta.size), modified: None, etag: found.meta.e_tag.clone() };
        let known = Stamp { modified: None, ..self.state().clone() };
        known.contradiction(&now).map_or(Ok(()), |message| Err(self.changed(&message)))
    }

    fn remember(&self, found: &GetResult) -> Result<()> {
        let mut state = self.state();
        state.size = Some(found.meta.size);
        state.etag = state.etag.take().or_else(|| found.meta.e_tag.clone());
        self.confirmed.store(state.etag.is_some() && state.etag == found.meta.e_tag, Ordering::Relaxed);
        Ok(())
    }

    async fn receive(&self, found: GetResult, body: &mut Body) -> std::result::Result<(), Trouble> {
        let html = found.attributes.get(&Attribute::ContentType).is_some_and(|kind| {
            let kind: &str = kind.as_ref();
            kind.trim_start().to_ascii_lowercase().starts_with("text/html")
        });
        let (net, started, before) = (&self.service.settings.net, Instant::now(), body.len());
        let mut stream = found.into_stream();
        while !body.is_complete() {
            let piece = match tokio::time::timeout(net.stall, stream.next()).await {
                Ok(Some(Ok(piece))) => piece,
                Ok(Some(Err(said))) => {
                    let text = super::failure::words(&said.to_string());
                    return Err(Trouble::Again(format!("the answer broke off: {text}")));
                }
                Ok(None) => break,
                Err(_) => return Err(Trouble::Again(format!("not a byte within {:?}", net.stall))),
            };
            if html && body.len() == 0 && looks_like_html(&piece) {
                return Err(Trouble::Wrong("the service sent an HTML page in place of the data".into()));
            }
            // More than was asked for: of a whole that is too long the first bytes are enough.
            let room = usize::try_from(body.limit.saturating_sub(body.len())).unwrap_or(usize::MAX);
            let piece = if piece.len() > room { piece.slice(..room) } else { piece };
            body.add(piece);
            let took = started.elapsed();
            let due = took.as_secs().saturating_mul(SLOWEST);
            if took > net.patience && body.len().saturating_sub(before) < due.max(1) {
                return Err(failed(&self.key, "get", "the service sends too slowly").into());
            }
        }
        if body.is_complete() {
            Ok(())
        } else {
            Err(Trouble::Again(format!("the answer ended after {} bytes", body.len())))
        }
    }
}

/// The range of the request for all of what is wanted.
fn asked(want: Want) -> Option<GetRange> {
    match want {
        Want::Whole(_) => None,
        Want::First(length) => Some(GetRange::Bounded(0..length.max(1))),
        Want::Range(offset, length) => Some(GetRange::Bounded(offset..offset.saturating_add(length))),
        Want::Last(length) => Some(GetRange::Suffix(length)),
    }
}

fn is_packing(name: &str) -> bool {
    ["gzip", "deflate", "br", "zstd", "compress"].iter().any(|known| name.to_ascii_lowercase().contains(known))
}
