//! Putting objects: whole or not at all, and only where nobody else was quicker if that is asked for.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, GetOptions, MultipartUpload, PutMode, PutMultipartOptions, PutOptions, PutPayload,
    UpdateVersion,
};

use super::ahead::Changing;
use super::failure::{Meaning, failed, forbidden, meaning};
use super::object::Service;
use crate::error::Result;
use crate::net::pause;

/// Larger values go in parts, several at once.
const WHOLE: usize = 16 << 20;
const PART: usize = 8 << 20;
const PARTS_AT_ONCE: usize = 8;

/// Under which name an object says which put it is from; Azure takes names of programming languages alone.
const MARK: &str = "omnizarrput";

/// What a service calls a state of an object: some by an ETag, some by a number.
#[derive(Debug, Clone, Default)]
pub struct Tag {
    /// The ETag.
    pub etag: Option<String>,
    /// The number.
    pub version: Option<String>,
}

impl Tag {
    /// As one text.
    pub fn text(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        format!("{}\n{}", part(&self.etag), part(&self.version))
    }

    /// From the text.
    pub fn parse(text: &str) -> Self {
        let (etag, version) = text.split_once('\n').unwrap_or((text, ""));
        let part = |part: &str| (!part.is_empty()).then(|| part.to_owned());
        Self { etag: part(etag), version: part(version) }
    }
}

/// What must be under a key for a put to be good.
#[derive(Debug, Clone)]
pub enum Condition {
    /// Nothing.
    Absent,
    /// What has this tag.
    Is(Tag),
}

/// Put a value, whatever is there.
pub async fn put(service: &Service, path: &Path, key: &str, value: Bytes) -> Result<()> {
    let _changing = Changing::begin();
    let _turn = service.gate.enter().await;
    let mut attempt = 1u32;
    loop {
        let done = if value.len() > WHOLE {
            put_parts(service, path, &value).await
        } else {
            service.store.put_opts(path, PutPayload::from(value.clone()), PutOptions::default()).await.map(drop)
        };
        let Err(said) = done else { return Ok(()) };
        if value.len() > WHOLE {
            retry(service, key, &said, &mut attempt).await?;
        } else {
            again(service, key, "put", &said, &mut attempt).await?;
        }
    }
}

/// Wait before the next attempt, if there may be one.
async fn again(
    service: &Service,
    key: &str,
    op: &'static str,
    said: &object_store::Error,
    attempt: &mut u32,
) -> Result<()> {
    let net = &service.settings.net;
    match meaning(said) {
        Meaning::Again(_) | Meaning::Condition if *attempt < net.attempts => {
            tokio::time::sleep(pause(net.pause, *attempt)).await;
            *attempt = attempt.saturating_add(1);
            Ok(())
        }
        Meaning::Again(message) => Err(failed(key, op, format!("{message} (after {attempt} attempts)"))),
        Meaning::Spent(message) => Err(failed(key, op, format!("{message} (after {} attempts)", net.attempts))),
        Meaning::Forbidden(message) => Err(forbidden(key, op, &message)),
        Meaning::Final(message) => Err(failed(key, op, message)),
        Meaning::Missing => Err(failed(key, op, "there is no such bucket or container")),
        Meaning::Condition => Err(failed(key, op, "others change it at the same time, again and again")),
    }
}

async fn put_parts(service: &Service, path: &Path, value: &Bytes) -> object_store::Result<()> {
    let mut upload = service.store.put_multipart_opts(path, PutMultipartOptions::default()).await?;
    let sent = send_parts(&mut *upload, value).await;
    if let Err(said) = sent {
        // Parts that are left behind cost money, so they are taken back.
        drop(upload.abort().await);
        return Err(said);
    }
    upload.complete().await.map(drop)
}

async fn send_parts(upload: &mut dyn MultipartUpload, value: &Bytes) -> object_store::Result<()> {
    let mut under_way = tokio::task::JoinSet::new();
    let mut start = 0usize;
    while start < value.len() || !under_way.is_empty() {
        while start < value.len() && under_way.len() < PARTS_AT_ONCE {
            let end = start.saturating_add(PART).min(value.len());
            under_way.spawn(upload.put_part(PutPayload::from(value.slice(start..end))));
            start = end;
        }
        if let Some(done) = under_way.join_next().await {
            done.map_err(|source| object_store::Error::JoinError { source })??;
        }
    }
    Ok(())
}

/// Put a value under a condition; the new tag, or `None` if the condition does not hold.
///
/// An answer that was lost leaves open whether the put was done. The object itself then tells: each put marks what it
/// puts with a number of its own.
pub async fn put_if(
    service: &Service,
    path: &Path,
    key: &str,
    value: Bytes,
    condition: Condition,
) -> Result<Option<String>> {
    let _changing = Changing::begin();
    // Not in turn with others: who holds a lease must be able to renew it while chunks wait for theirs.
    let mark = unique();
    let mode = match &condition {
        Condition::Absent => PutMode::Create,
        Condition::Is(tag) => PutMode::Update(UpdateVersion { e_tag: tag.etag.clone(), version: tag.version.clone() }),
    };
    let attributes = Attributes::from_iter([(Attribute::Metadata(MARK.into()), mark.clone())]);
    let options = PutOptions { mode, attributes, ..PutOptions::default() };
    let mut attempt = 1u32;
    loop {
        let said = match service.store.put_opts(path, PutPayload::from(value.clone()), options.clone()).await {
            Ok(done) => return Ok(Some(Tag { etag: done.e_tag, version: done.version }.text())),
            Err(said) => said,
        };
        match meaning(&said) {
            // Where nothing must be there, nothing but the bucket can be missing.
            Meaning::Missing if matches!(condition, Condition::Absent) => {}
            Meaning::Condition | Meaning::Missing => {
                // Two at the same moment; or an earlier attempt of ours, here or below, of which nothing was heard.
                if let Some(tag) = ours(service, path, key, &mark).await? {
                    return Ok(Some(tag));
                }
                if !is_conflict(&said) {
                    return Ok(None);
                }
            }
            _ => {}
        }
        // Nothing that may be done twice: below, such a put is tried once.
        retry(service, key, &said, &mut attempt).await?;
    }
}

/// As [`again`], for what nobody has repeated yet.
async fn retry(service: &Service, key: &str, said: &object_store::Error, attempt: &mut u32) -> Result<()> {
    let net = &service.settings.net;
    match meaning(said) {
        Meaning::Spent(_) if *attempt < net.attempts => {
            tokio::time::sleep(pause(net.pause, *attempt)).await;
            *attempt = attempt.saturating_add(1);
            Ok(())
        }
        _ => again(service, key, "put", said, attempt).await,
    }
}

/// Whether a service has refused because of another request at the same moment: it does not say who won.
fn is_conflict(said: &object_store::Error) -> bool {
    let text = said.to_string();
    text.contains("ConditionalRequestConflict") || text.contains("OperationAborted")
}

/// The tag of what is there, if it is from the put with this mark.
async fn ours(service: &Service, path: &Path, key: &str, mark: &str) -> Result<Option<String>> {
    let options = GetOptions { head: true, ..GetOptions::default() };
    let mut attempt = 1u32;
    let found = loop {
        let said = match service.store.get_opts(path, options.clone()).await {
            Ok(found) => break found,
            Err(said) => said,
        };
        if matches!(meaning(&said), Meaning::Missing) {
            return Ok(None);
        }
        again(service, key, "put", &said, &mut attempt).await?;
    };
    let tag = Tag { etag: found.meta.e_tag, version: found.meta.version };
    let said = found.attributes.get(&Attribute::Metadata(MARK.into()));
    Ok(said.filter(|said| <_ as AsRef<str>>::as_ref(*said) == mark).map(|_| tag.text()))
}

fn unique() -> String {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map(|time| time.as_nanos()).unwrap_or_default();
    let chance = RandomState::new().build_hasher().finish();
    format!("{time:x}-{:x}-{chance:x}", std::process::id())
}

/// Erase one object; that it is not there is no failure.
pub async fn erase(service: &Service, path: &Path, key: &str) -> Result<()> {
    let _changing = Changing::begin();
    let _turn = service.gate.enter().await;
    let mut attempt = 1u32;
    loop {
        let done = object_store::ObjectStoreExt::delete(&*service.store, path).await;
        let Err(said) = done else { return Ok(()) };
        if matches!(meaning(&said), Meaning::Missing) {
            return Ok(());
        }
        again(service, key, "erase", &said, &mut attempt).await?;
    }
}
