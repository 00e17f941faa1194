//! A reference set as a store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::part::Part;
use super::sources::Sources;
use super::{Open, Reference, Rows, Source, Urls};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::fork;
use crate::keys::Keys;
use crate::store::{Listing, Locate, Object, Spot, Store, Token, check_key, check_prefix, place_of};

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

    /// Whether some of the keys may be those of an array's chunks.
    fn may_hold(&self, _keys: &Keys) -> bool {
        true
    }

    /// The keys that begin so, no more than `most` of them.
    fn keys(&self, prefix: &str, most: usize) -> Result<Vec<String>>;

    /// The only folder right below a prefix, ending in `/`, if that can be said without going through all keys.
    fn only_folder(&self, _prefix: &str) -> Option<String> {
        None
    }
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
    sources: Sources,
    /// Arrays that have documents under keys of their chunks.
    mixed: OnceLock<BTreeSet<String>>,
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
            sources: Sources::default(),
            mixed: OnceLock::new(),
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

    /// The source of a URL.
    pub fn source(&self, url: u32) -> Result<Arc<dyn Source>> {
        self.sources.get(url, || {
            let text = self.urls.get(url).ok_or_else(|| Error::Invalid(format!("there is no URL of number {url}")))?;
            self.opener.open(&text)
        })
    }

    fn object(&self, key: &str) -> Result<Option<Value>> {
        let at = |error: Error| error.at(key);
        Ok(match self.find(key)? {
            None => None,
            Some(Reference::Inline(bytes)) => Some(Value::Inline(bytes)),
            Some(Reference::Whole { url }) => {
                let source = self.source(url).map_err(at)?;
                let size = source.stamp().map_err(at)?.size;
                let length = size.ok_or_else(|| refused(key, "the size of the source is not known"))?;
                Some(Value::Part(Part { source, offset: 0, length, key: key.into() }))
            }
            Some(Reference::Range { url, offset, length }) => {
                let source = self.source(url).map_err(at)?;
                Some(Value::Part(Part { source, offset, length, key: key.into() }))
            }
        })
    }

    fn is_mixed(&self, path: &str) -> bool {
        let _fork = fork::guard();
        let mixed = self.mixed.get_or_init(|| {
            let chunks = self.documents.keys().filter_map(|key| self.chunk(key));
            chunks.map(|(array, _)| array.keys.path.clone()).collect()
        });
        mixed.contains(path)
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

/// The folder right below a prefix that a key lies in, ending in `/`.
fn folder_of(prefix: &str, key: &str) -> Option<String> {
    let (name, _) = key.get(prefix.len()..)?.split_once('/')?;
    Some(format!("{prefix}{name}/"))
}

/// Listing more keys than this is refused.
const MOST_LISTED: usize = 50_000_000;

fn refused(key: &str, message: impl Into<String>) -> Error {
    Error::Store { key: key.into(), op: "get", message: message.into(), errno: None }
}

/// The chunks of one array.
struct Chunks<'a> {
    store: &'a RefStore,
    keys: &'a Keys,
    /// Where indices alone lead to references; otherwise each key is written and looked up.
    array: Option<&'a ArrayRefs>,
}

impl Locate for Chunks<'_> {
    fn find(&self, index: &[u64]) -> Result<Option<Spot>> {
        let found = match self.array {
            Some(array) => array.number_at(index).map_or(Ok(None), |number| array.rows.find(number))?,
            None => {
                let mut key = String::new();
                self.keys.write(index, &mut key);
                self.store.find(&key)?
            }
        };
        Ok(found.map(|reference| match reference {
            Reference::Inline(bytes) => Spot::Here(bytes),
            Reference::Whole { url } => Spot::There { place: url, offset: 0, length: None },
            Reference::Range { url, offset, length } => Spot::There { place: url, offset, length: Some(length) },
        }))
    }

    fn source(&self, place: u32) -> Result<Arc<dyn Source>> {
        self.store.source(place)
    }
}

impl ArrayRefs {
    /// The number of the chunk that a key stands for.
    fn number(&self, key: &str) -> Option<u64> {
        self.number_at(&self.keys.parse(key, self.counts.len())?)
    }

    /// The number of the chunk at an index.
    fn number_at(&self, index: &[u64]) -> Option<u64> {
        if index.len() != self.counts.len() {
            return None;
        }
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
    Part(Part),
}

impl Object for Value {
    fn size(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Part(part) => part.size(),
        }
    }

    fn token(&self) -> Option<Token> {
        match self {
            Self::Inline(_) => None,
            Self::Part(part) => part.token(),
        }
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let Self::Part(part) = self else {
            let past = || Error::Invalid("read past the end of a value".into());
            let start = usize::try_from(offset).map_err(|_| past())?;
            let end = start.checked_add(dst.len()).ok_or_else(past)?;
            let bytes = self.bytes().and_then(|bytes| bytes.get(start..end));
            dst.copy_from_slice(bytes.ok_or_else(past)?);
            return Ok(());
        };
        part.read_at(offset, dst)
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Inline(bytes) => Some(bytes),
            Self::Part(_) => None,
        }
    }
}

fn read_only<T>(key: &str, op: &'static str) -> Result<T> {
    let message = "a reference set is only read; `oz refs` makes and changes them".into();
    Err(Error::Store { key: key.into(), op, message, errno: None })
}

impl Store for RefStore {
    /// Sources are looked at anew: one may have been replaced.
    fn begin(&self) -> Result<()> {
        self.sources.doubt();
        Ok(())
    }

    fn locate<'a>(&'a self, keys: &'a Keys) -> Option<Box<dyn Locate + 'a>> {
        let array = self.arrays.get(&keys.path).filter(|array| array.keys == *keys && !self.is_mixed(&keys.path));
        let others = self.others.iter().any(|other| other.may_hold(keys));
        Some(Box::new(Chunks { store: self, keys, array: array.filter(|_| !others) }))
    }

    fn place(&self, key: &str) -> u64 {
        place_of(&[&self.identity.to_ne_bytes(), key.as_bytes()])
    }

    fn get(&self, key: &str, dst: &mut Buffer, most: usize) -> Result<bool> {
        let Some(object) = self.object(key)? else { return Ok(false) };
        if let Value::Part(part) = &object {
            part.check()?;
        }
        let n = usize::try_from(object.size()).unwrap_or(usize::MAX).min(most.saturating_add(1));
        object.read_at(0, dst.space(n))?;
        Ok(true)
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        let Some(object) = self.object(key)? else { return Ok(None) };
        if let Value::Part(part) = &object {
            part.check()?;
        }
        Ok(Some(Box::new(object)))
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
        let mut keys: BTreeSet<String> = BTreeSet::new();
        let mut folders: BTreeSet<String> = BTreeSet::new();
        let mut add = |key: &str| match folder_of(prefix, key) {
            Some(folder) => drop(folders.insert(folder)),
            None => drop(keys.insert(key.to_owned())),
        };
        let documents = self.documents.range(prefix.to_owned()..).map(|(key, _)| key);
        documents.take_while(|key| key.starts_with(prefix)).for_each(|key| add(key));
        for other in &self.others {
            match other.only_folder(prefix) {
                Some(folder) => add(&folder),
                None => other.keys(prefix, MOST_LISTED)?.iter().for_each(|key| add(key)),
            }
        }
        for (path, array) in &self.arrays {
            // Of arrays further down only the folder counts, if there is a chunk at all; their chunks may be millions.
            if path.len() > prefix.len() && path.starts_with(prefix) {
                if !array.rows.present(0, 1)?.is_empty() {
                    add(path);
                }
            } else if prefix.starts_with(path.as_str()) {
                array.listed()?.iter().filter(|key| key.starts_with(prefix)).for_each(|key| add(key));
            }
        }
        Ok((keys.into_iter().collect(), folders.into_iter().collect()))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        // The set itself tells how long a part is: no source is opened to learn whether a key is there.
        match self.find(key)? {
            Some(Reference::Range { length, .. }) => Ok(Some(length)),
            Some(Reference::Inline(bytes)) => Ok(Some(bytes.len() as u64)),
            _ => Ok(self.object(key)?.map(|value| value.size())),
        }
    }
}
