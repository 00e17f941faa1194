//! Keys of a bucket below a prefix, as a store.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, mpsc};

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::path::Path;
use url::Url;

use super::Settings;
use super::ahead::{Ahead, Changing};
use super::build::{Kind, Place, build};
use super::chunks::Chunks;
use super::failure::{Meaning, failed, forbidden, meaning};
use super::file::ObjectFile;
use super::kept::Kept;
use super::listing::{self, child};
use super::many::Many;
use super::object::{GAP, ObjectSource, Purpose, Service};
use super::putting::{self, Condition, Tag};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::net::{Blocks, HttpSource, Judge, expect_many, hold, net, receive, wait};
use crate::refs::{Part, Source, Stamp};
use crate::store::{Abort, Listing, Locate, Object, PutDone, Store, check_key, check_prefix, place_of};

/// Objects whose state is remembered.
const REMEMBERED: usize = 1 << 16;

/// Documents of this size are the largest that are read as a whole.
const LARGEST: u64 = 1 << 40;

/// Keys of a bucket below a prefix.
pub struct CloudStore {
    place: Place,
    prefix: String,
    settings: Settings,
    reach: Judge,
    /// The service, made anew in each process: connections do not survive a fork.
    service: Mutex<Option<(u32, Arc<Service>)>>,
    /// States of objects that were read in parts.
    seen: Mutex<HashMap<String, Stamp>>,
    /// A listing that somebody will want soon.
    ahead: Mutex<Option<Ahead>>,
}

impl CloudStore {
    /// A store; nothing is asked yet. `reach` judges where redirections of a web server lead.
    pub fn new(place: Place, prefix: &str, settings: Settings, reach: Judge) -> Result<Self> {
        let made = Self {
            place,
            prefix: prefix.trim_matches('/').to_owned(),
            settings,
            reach,
            service: Mutex::default(),
            seen: Mutex::default(),
            ahead: Mutex::default(),
        };
        if made.place.kind != Kind::Web {
            made.service()?;
            child(&Path::default(), &made.prefix)?;
        }
        Ok(made)
    }

    fn service(&self) -> Result<Arc<Service>> {
        let process = std::process::id();
        let known = hold(&self.service).as_ref().filter(|(owner, _)| *owner == process).map(|(_, one)| Arc::clone(one));
        if let Some(service) = known {
            return Ok(service);
        }
        expect_many();
        let service = Arc::new(Service {
            store: build(&self.place, self.settings)?,
            settings: self.settings,
            gate: net()?.gate(&self.place.server()),
            uri: self.place.uri.clone(),
            suffixes: AtomicBool::new(self.place.kind != Kind::Azure),
            kept: Kept::of(&self.place),
        });
        *hold(&self.service) = Some((process, Arc::clone(&service)));
        Ok(service)
    }

    /// Where it is, for messages.
    pub fn uri(&self) -> &str {
        &self.place.uri
    }

    fn root(&self) -> Result<Path> {
        child(&Path::default(), &self.prefix)
    }

    fn path(&self, key: &str) -> Result<Path> {
        check_key(key)?;
        child(&self.root()?, key)
    }

    /// What is under a key, to be read in this call; nothing is asked yet.
    pub(super) fn source(&self, key: &str, stamp: Stamp) -> Result<Arc<dyn Source>> {
        if self.place.kind == Kind::Web {
            return Ok(Arc::new(self.page(key)?));
        }
        Ok(Arc::new(self.object(key, stamp, Purpose::Call)?))
    }

    /// What is under a key in a state that is known, as far as it is, for who reads it in parts, and for long.
    pub fn part_of(&self, key: &str, stamp: Stamp) -> Result<Arc<dyn Source>> {
        if self.place.kind == Kind::Web {
            return Ok(Arc::new(self.page(key)?));
        }
        Ok(Arc::new(self.object(key, stamp, Purpose::Calls)?))
    }

    /// What is under a key as a file, of which the first request brings so many bytes.
    pub fn file(&self, key: &str, head: u64) -> Result<Blocks> {
        if self.place.kind == Kind::Web {
            return Ok(Blocks::new(self.page(key)?));
        }
        Ok(Blocks::new(ObjectFile::new(self.object(key, Stamp::default(), Purpose::Calls)?, head)))
    }

    fn object(&self, key: &str, stamp: Stamp, purpose: Purpose) -> Result<ObjectSource> {
        Ok(ObjectSource::new(&self.service()?, self.path(key)?, key, stamp, purpose))
    }

    fn page(&self, key: &str) -> Result<HttpSource> {
        check_key(key)?;
        let text = self.place.config.get("url").map(String::as_str).unwrap_or_default();
        let bad = |message: String| Error::Invalid(format!("{}: {message}", self.place.uri));
        let mut url = Url::parse(text).map_err(|error| bad(error.to_string()))?;
        {
            let mut parts = url.path_segments_mut().map_err(|()| bad("it cannot have keys below it".into()))?;
            parts.pop_if_empty();
            parts.extend(self.prefix.split('/').filter(|part| !part.is_empty()));
            parts.extend(key.split('/'));
        }
        let headers = self.place.headers.clone();
        Ok(HttpSource::new(url, true, Stamp::default(), headers, Arc::clone(&self.reach), self.settings.net))
    }

    pub(super) fn remember(&self, key: &str, stamp: Stamp) {
        let mut seen = hold(&self.seen);
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(key.to_owned(), stamp);
    }

    pub(super) fn remembered(&self, key: &str) -> Stamp {
        hold(&self.seen).get(key).cloned().unwrap_or_default()
    }

    /// Forget the state of an object that is changed here.
    fn changed(&self, key: &str) {
        hold(&self.seen).remove(key);
    }

    /// Forget the states of all objects: some were changed.
    pub fn forget(&self) {
        hold(&self.seen).clear();
    }

    /// Why what was read cannot be kept, if it was to be.
    pub fn keeping_trouble(&self) -> Option<String> {
        self.place.keep.as_ref()?.trouble()
    }

    fn only_read<T>(&self, key: &str, op: &'static str) -> Result<T> {
        let message = "what lies on a web server is only read".into();
        Err(Error::Store { key: key.into(), op, message, errno: Some(libc::EROFS) })
    }

    /// A part of a value: `length` bytes (`None`: all) from `start` on, or the last ones if that is negative.
    pub fn get_range(&self, key: &str, start: i64, length: Option<u64>) -> Result<Option<Bytes>> {
        let read = || -> Result<Bytes> {
            let source = self.source(key, Stamp::default())?;
            let size = || Ok::<u64, Error>(source.stamp()?.size.unwrap_or_default());
            let (from, n) = match (u64::try_from(start), length) {
                (Err(_), None) if self.place.kind != Kind::Web => {
                    return self.object(key, Stamp::default(), Purpose::Call)?.read_last(start.unsigned_abs());
                }
                (Err(_), length) => {
                    let size = size()?;
                    let from = size.saturating_sub(start.unsigned_abs());
                    (from, length.unwrap_or(u64::MAX).min(size.saturating_sub(from)))
                }
                (Ok(start), length) => {
                    let size = size()?;
                    let from = start.min(size);
                    (from, length.unwrap_or(u64::MAX).min(size.saturating_sub(from)))
                }
            };
            source.read_range(from, n)
        };
        found(read())
    }

    /// Several values, all asked for at once, each of so many bytes at most.
    pub fn get_many(&self, keys: &[String], most: u64) -> Result<Vec<Option<Bytes>>> {
        let values = self.start_many(keys, most, keys.len())?.take(0)?;
        let mut ahead = hold(&self.ahead);
        if ahead.as_mut().is_some_and(|one| !one.meet()) {
            *ahead = None;
        }
        Ok(values.unwrap_or_default())
    }

    /// As [`Self::get_many`], handed over in parts of so many values, while the rest is on its way.
    pub fn start_many(&self, keys: &[String], most: u64, part: usize) -> Result<Many> {
        let sources = keys.iter().map(|key| self.source(key, Stamp::default())).collect::<Result<_>>()?;
        Many::ask(sources, LARGEST.min(most), part)
    }

    /// A value and its ETag.
    pub fn get_tagged(&self, key: &str, most: u64) -> Result<Option<(Bytes, String)>> {
        if self.place.kind == Kind::Web {
            return self.only_read(key, "put");
        }
        let object = self.object(key, Stamp::default(), Purpose::Change)?;
        let Some(value) = found(object.read_whole(most))? else { return Ok(None) };
        let tag = object.tag().map(|tag| tag.text());
        let tag = tag.ok_or_else(|| failed(key, "get", "the service gives no ETag, so that changes cannot be safe"))?;
        Ok(Some((value, tag)))
    }

    /// Put a value if the condition holds: the new ETag, or `None` if it does not. `tag` is that of what must be there;
    /// without it, nothing must be.
    pub fn put_if(&self, key: &str, value: Bytes, tag: Option<String>) -> Result<Option<String>> {
        if self.place.kind == Kind::Web {
            return self.only_read(key, "put");
        }
        self.changed(key);
        let (service, path, name) = (self.service()?, self.path(key)?, key.to_owned());
        let condition = tag.map_or(Condition::Absent, |tag| Condition::Is(Tag::parse(&tag)));
        wait(async move { putting::put_if(&service, &path, &name, value, condition).await }, &|| false)
    }

    fn listed(&self, prefix: &str, deep: bool) -> Result<impl Future<Output = Result<Listing>> + Send + 'static> {
        check_prefix(prefix)?;
        if self.place.kind == Kind::Web {
            return Err(failed(prefix, "list", "a web server does not list what it has"));
        }
        let (service, root, name) = (self.service()?, self.root()?, prefix.to_owned());
        Ok(async move {
            let store = &*service.store;
            if deep {
                listing::below(store, &root, &name).await
            } else {
                listing::right_below(store, &root, &name).await
            }
        })
    }

    /// Ask for what is right below a prefix now, as somebody will want to know it in a moment.
    pub fn list_ahead(&self, prefix: &str) -> Result<()> {
        if self.place.kind != Kind::Web {
            let ahead = Ahead::new(prefix, self.listed(prefix, false)?)?;
            *hold(&self.ahead) = Some(ahead);
        }
        Ok(())
    }
}

/// An answer in which something missing is `None`.
pub(super) fn found<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Store for CloudStore {
    fn place(&self, key: &str) -> u64 {
        place_of(&[self.place.uri.as_bytes(), b"/", self.prefix.as_bytes(), b"/", key.as_bytes()])
    }

    fn is_far(&self) -> bool {
        true
    }

    fn is_conditional(&self) -> bool {
        self.settings.conditional && self.place.kind != Kind::Web
    }

    fn get(&self, key: &str, dst: &mut Buffer, most: usize) -> Result<bool> {
        let (sender, receiver) = mpsc::channel();
        let most = u64::try_from(most).unwrap_or(u64::MAX).min(LARGEST);
        let source = self.source(key, Stamp::default())?;
        source.start_whole(most, Box::new(move |answer| drop(sender.send(answer))));
        let Some(value) = found(receive(&receiver, &|| false)?)? else { return Ok(false) };
        dst.assign(&value);
        Ok(true)
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        let source = self.source(key, Stamp::default())?;
        let Some(stamp) = found(source.stamp())? else { return Ok(None) };
        let length = stamp.size.ok_or_else(|| failed(key, "get", "the service does not say how large it is"))?;
        Ok(Some(Box::new(Part { source, offset: 0, length, key: key.into() })))
    }

    fn locate<'a>(&'a self, keys: &'a Keys) -> Option<Box<dyn Locate + 'a>> {
        Some(Box::new(Chunks::new(self, keys)))
    }

    fn put(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        if self.place.kind == Kind::Web {
            return self.only_read(key, "put");
        }
        self.changed(key);
        let (service, path, name) = (self.service()?, self.path(key)?, key.to_owned());
        let value = Bytes::from(parts.concat());
        wait(async move { putting::put(&service, &path, &name, value).await }, &|| false)
    }

    fn start_put(&self, key: &str, value: Option<Bytes>, done: PutDone) -> Option<Abort> {
        self.changed(key);
        let ready = || -> Result<_> {
            if self.place.kind == Kind::Web {
                return self.only_read(key, "put");
            }
            Ok((self.service()?, self.path(key)?, net()?))
        };
        let (service, path, net) = match ready() {
            Ok(ready) => ready,
            Err(error) => {
                done(Err(error));
                return None;
            }
        };
        let name = key.to_owned();
        let task = net.runtime().spawn(async move {
            done(match value {
                Some(value) => putting::put(&service, &path, &name, value).await,
                None => putting::erase(&service, &path, &name).await,
            });
        });
        Some(Box::new(move || task.abort()))
    }

    fn get_tagged(&self, key: &str, dst: &mut Buffer, most: usize) -> Result<Option<String>> {
        let most = u64::try_from(most).unwrap_or(u64::MAX).min(LARGEST);
        let Some((value, tag)) = Self::get_tagged(self, key, most)? else { return Ok(None) };
        dst.assign(&value);
        Ok(Some(tag))
    }

    fn put_tagged(&self, key: &str, parts: &[&[u8]], tag: Option<String>) -> Result<bool> {
        Ok(self.put_if(key, Bytes::from(parts.concat()), tag)?.is_some())
    }

    fn erase(&self, key: &str) -> Result<bool> {
        let there = self.size(key)?.is_some();
        if there {
            self.clear(key)?;
        }
        Ok(there)
    }

    fn clear(&self, key: &str) -> Result<()> {
        if self.place.kind == Kind::Web {
            return self.only_read(key, "erase");
        }
        self.changed(key);
        let (service, path, name) = (self.service()?, self.path(key)?, key.to_owned());
        wait(async move { putting::erase(&service, &path, &name).await }, &|| false)
    }

    fn clear_many(&self, keys: &[String]) -> Result<()> {
        if self.place.kind == Kind::Web {
            return self.only_read("", "erase");
        }
        keys.iter().for_each(|key| self.changed(key));
        let (service, root) = (self.service()?, self.root()?);
        let paths = keys.iter().map(|key| child(&root, key)).collect::<Result<Vec<Path>>>()?;
        let work = async move {
            let _changing = Changing::begin();
            let paths = futures_util::stream::iter(paths.into_iter().map(Ok)).boxed();
            let mut gone = service.store.delete_stream(paths);
            while let Some(one) = gone.next().await {
                let Err(said) = one else { continue };
                match meaning(&said) {
                    Meaning::Missing => {}
                    Meaning::Forbidden(message) => return Err(forbidden("", "erase", &message)),
                    _ => return Err(failed("", "erase", super::failure::words(&said.to_string()))),
                }
            }
            Ok(())
        };
        wait(work, &|| false)
    }

    fn erase_prefix(&self, prefix: &str) -> Result<()> {
        if self.place.kind == Kind::Web {
            return self.only_read(prefix, "erase");
        }
        self.clear_many(&self.list_prefix(prefix)?)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(wait(self.listed(prefix, true)?, &|| false)?.0)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        let ahead = hold(&self.ahead).take();
        if let Some(listing) = ahead.and_then(|one| one.listing(prefix)) {
            return Ok(listing);
        }
        wait(self.listed(prefix, false)?, &|| false)
    }

    fn sizes(&self, prefix: &str) -> Result<Option<HashMap<String, u64>>> {
        check_prefix(prefix)?;
        if self.place.kind == Kind::Web {
            return Ok(None);
        }
        let (service, root, name) = (self.service()?, self.root()?, prefix.to_owned());
        wait(async move { listing::sizes(&*service.store, &root, &name).await.map(Some) }, &|| false)
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(found(self.source(key, Stamp::default())?.stamp())?.and_then(|stamp| stamp.size))
    }

    fn gap(&self) -> usize {
        GAP
    }
}
