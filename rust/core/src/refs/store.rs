//! A reference set as a store.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::{Open, Reference, Rows, Source, Urls};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::store::{Listing, Object, Store, Token, check_key, check_prefix, place_of};

/// Sources that stay open.
const MOST_OPEN: usize = 256;

/// The references of an array, and how its keys become numbers of chunks.
pub struct ArrayRefs {
    /// How keys are made; the path is that of the array.
    pub keys: Keys,
    /// How many chunks there are along each dimension.
    pub counts: Vec<u64>,
    /// The references.
    pub rows: Box<dyn Rows>,
}

/// References that are found by the whole key: of things that are no chunks of a known array, or given by a formula.
pub trait ByKey: Send + Sync {
    /// What the key stands for.
    fn find(&self, key: &str) -> Result<Option<Reference>>;

    /// The keys that begin so, no more than `most` of them.
    fn keys(&self, prefix: &str, most: usize) -> Result<Vec<String>>;
}

/// A reference set as a store to read.
pub struct RefStore {
    /// Whole values by key: the documents of the hierarchy.
    pub documents: BTreeMap<String, Bytes>,
    /// Arrays by their path, which is empty or ends in `/`.
    pub arrays: BTreeMap<String, ArrayRefs>,
    /// What is asked before the arrays, in order.
    pub others: Vec<Box<dyn ByKey>>,
    /// The URLs that references have numbers of.
    pub urls: Arc<Urls>,
    /// How sources are opened.
    pub opener: Arc<dyn Open>,
    /// A number that no other set has.
    pub identity: u64,
    sources: Mutex<HashMap<u32, Arc<dyn Source>>>,
}

impl RefStore {
    /// A set without references; whoever makes it fills the fields.
    pub fn new(urls: Arc<Urls>, opener: Arc<dyn Open>, identity: u64) -> Self {
        Self {
            documents: BTreeMap::new(),
            arrays: BTreeMap::new(),
            others: Vec::new(),
            urls,
            opener,
            identity,
            sources: Mutex::new(HashMap::new()),
        }
    }

    /// What a key stands for.
    pub fn find(&self, key: &str) -> Result<Option<Reference>> {
        check_key(key)?;
        if let Some(bytes) = self.documents.get(key) {
            return Ok(Some(Reference::Inline(bytes.clone())));
        }
        for other in &self.others {
            if let Some(found) = other.find(key)? {
                return Ok(Some(found));
            }
        }
        match self.chunk(key) {
            Some((array, number)) => array.rows.find(number),
            None => Ok(None),
        }
    }

    /// The array that a key is a chunk of, and the chunk's number.
    fn chunk(&self, key: &str) -> Option<(&ArrayRefs, u64)> {
        let mut end = key.len();
        loop {
            end = key.get(..end)?.rfind('/').map_or(0, |at| at.saturating_add(1));
            if let Some(array) = self.arrays.get(key.get(..end)?)
                && let Some(number) = array.number(key)
            {
                return Some((array, number));
            }
            end = end.checked_sub(1)?;
        }
    }

    /// The source of a URL, opened at most once.
    pub fn source(&self, key: &str, url: u32) -> Result<Arc<dyn Source>> {
        if let Some(source) = self.open_sources().get(&url) {
            return Ok(Arc::clone(source));
        }
        let text = self.urls.get(url).ok_or_else(|| Error::Invalid(format!("{key}: a URL without a number")))?;
        let source = self.opener.open(&text)?;
        let mut sources = self.open_sources();
        if sources.len() >= MOST_OPEN {
            sources.clear();
        }
        sources.insert(url, Arc::clone(&source));
        Ok(source)
    }

    fn open_sources(&self) -> std::sync::MutexGuard<'_, HashMap<u32, Arc<dyn Source>>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn object(&self, key: &str) -> Result<Option<Value>> {
        Ok(match self.find(key)? {
            None => None,
            Some(Reference::Inline(bytes)) => Some(Value::Inline(bytes)),
            Some(Reference::Whole { url }) => {
                let source = self.source(key, url)?;
                let size = source.stamp()?.size.ok_or_else(|| refused(key, "the size of the source is not known"))?;
                Some(Value::Part { source, offset: 0, length: size })
            }
            Some(Reference::Range { url, offset, length }) => {
                Some(Value::Part { source: self.source(key, url)?, offset, length })
            }
        })
    }

    fn keys_below(&self, prefix: &str) -> Result<Vec<String>> {
        let mut keys: BTreeSet<String> =
            self.documents.range(prefix.to_owned()..).map(|(key, _)| key.clone()).collect();
        keys.retain(|key| key.starts_with(prefix));
        for other in &self.others {
            keys.extend(other.keys(prefix, MOST_LISTED)?);
        }
        for (path, array) in &self.arrays {
            if path.starts_with(prefix) || prefix.starts_with(path.as_str()) {
                let listed = array.listed()?;
                keys.extend(listed.into_iter().filter(|key| key.starts_with(prefix)));
            }
        }
        Ok(keys.into_iter().collect())
    }
}

/// Listing more keys than this is refused.
const MOST_LISTED: usize = 50_000_000;

fn refused(key: &str, message: impl Into<String>) -> Error {
    Error::Store { key: key.into(), op: "get", message: message.into(), errno: None }
}

impl ArrayRefs {
    /// The number of the chunk that a key stands for.
    fn number(&self, key: &str) -> Option<u64> {
        let index = self.keys.parse(key, self.counts.len())?;
        let mut number = 0u64;
        for (&i, &count) in index.iter().zip(&self.counts) {
            if i >= count {
                return None;
            }
            number = number.checked_mul(count)?.checked_add(i)?;
        }
        Some(number)
    }

    fn listed(&self) -> Result<Vec<String>> {
        let numbers = self.rows.present(0, MOST_LISTED)?;
        let mut keys = Vec::with_capacity(numbers.len());
        let mut index = vec![0u64; self.counts.len()];
        let mut key = String::new();
        for number in numbers {
            let mut rest = number;
            for (i, &count) in index.iter_mut().zip(&self.counts).rev() {
                *i = rest.checked_rem(count).unwrap_or(0);
                rest = rest.checked_div(count).unwrap_or(0);
            }
            if rest == 0 || self.counts.is_empty() {
                self.keys.write(&index, &mut key);
                keys.push(key.clone());
            }
        }
        Ok(keys)
    }
}

enum Value {
    Inline(Bytes),
    Part { source: Arc<dyn Source>, offset: u64, length: u64 },
}

impl Object for Value {
    fn size(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Part { length, .. } => *length,
        }
    }

    fn token(&self) -> Option<Token> {
        None
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let past = || Error::Invalid("read past the end of a value".into());
        let end = offset.checked_add(dst.len() as u64).filter(|&end| end <= self.size()).ok_or_else(past)?;
        match self {
            Self::Inline(bytes) => {
                let (start, end) = (usize::try_from(offset), usize::try_from(end));
                let part = start.ok().zip(end.ok()).and_then(|(start, end)| bytes.get(start..end));
                dst.copy_from_slice(part.ok_or_else(past)?);
                Ok(())
            }
            Self::Part { source, offset: start, .. } => {
                source.read_at(start.checked_add(offset).ok_or_else(past)?, dst)
            }
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Inline(bytes) => Some(bytes),
            Self::Part { .. } => None,
        }
    }
}

fn read_only<T>(key: &str, op: &'static str) -> Result<T> {
    let message = "a reference set is only read; `oz refs` makes and changes them".into();
    Err(Error::Store { key: key.into(), op, message, errno: None })
}

impl Store for RefStore {
    fn place(&self, key: &str) -> u64 {
        place_of(&[&self.identity.to_ne_bytes(), key.as_bytes()])
    }

    fn get(&self, key: &str, dst: &mut Buffer, most: usize) -> Result<bool> {
        let Some(object) = self.object(key)? else { return Ok(false) };
        let n = usize::try_from(object.size()).unwrap_or(usize::MAX).min(most.saturating_add(1));
        object.read_at(0, dst.space(n))?;
        Ok(true)
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        Ok(self.object(key)?.map(|value| Box::new(value) as Box<dyn Object>))
    }

    fn put(&self, key: &str, _parts: &[&[u8]]) -> Result<()> {
        read_only(key, "put")
    }

    fn erase(&self, key: &str) -> Result<bool> {
        read_only(key, "erase")
    }

    fn erase_prefix(&self, prefix: &str) -> Result<()> {
        read_only(prefix, "erase")
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        self.keys_below(prefix)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let (mut keys, mut prefixes) = (Vec::new(), BTreeSet::new());
        for key in self.keys_below(prefix)? {
            match key.get(prefix.len()..).and_then(|rest| rest.split_once('/')) {
                Some((name, _)) => drop(prefixes.insert(format!("{prefix}{name}/"))),
                None => keys.push(key),
            }
        }
        Ok((keys, prefixes.into_iter().collect()))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.object(key)?.map(|value| value.size()))
    }
}
