//! The chunks of an array in a bucket.

use std::sync::{Arc, Mutex};

use super::CloudStore;
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::net::hold;
use crate::refs::{Source, Stamp};
use crate::store::{Locate, Spot};

/// The chunks of an array: each is an object of its own.
pub(super) struct Chunks<'a> {
    store: &'a CloudStore,
    keys: &'a Keys,
    /// Those that were looked up last, by their numbers.
    names: Mutex<Vec<String>>,
}

impl<'a> Chunks<'a> {
    /// Those that keys of this form stand for.
    pub fn new(store: &'a CloudStore, keys: &'a Keys) -> Self {
        Self { store, keys, names: Mutex::default() }
    }
}

impl Locate for Chunks<'_> {
    fn begin(&self) {
        hold(&self.names).clear();
    }

    fn find(&self, index: &[u64]) -> Result<Option<Spot>> {
        let mut key = String::new();
        self.keys.write(index, &mut key);
        let mut names = hold(&self.names);
        let place = u32::try_from(names.len()).map_err(|_| Error::Limit("too many chunks at once".into()))?;
        names.push(key);
        Ok(Some(Spot::There { place, offset: 0, length: None }))
    }

    fn source(&self, place: u32) -> Result<Arc<dyn Source>> {
        let names = hold(&self.names);
        let key = usize::try_from(place).ok().and_then(|at| names.get(at)).cloned();
        drop(names);
        let key = key.ok_or_else(|| Error::Invalid("a chunk that was not looked up".into()))?;
        self.store.source(&key, self.store.remembered(&key))
    }

    fn objects(&self) -> bool {
        true
    }

    fn seen(&self, key: &str, stamp: Stamp) {
        self.store.remember(key, stamp);
    }

    fn doubt(&self) {
        self.store.forget();
    }
}
