//! The store in memory.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::{Listing, Object, Store, Token, check_key, check_prefix, place_of};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::fork;

type Map = BTreeMap<String, (u64, Arc<[u8]>)>;

/// Values in memory, shared by all threads of the process; a forked child has its own copy.
#[derive(Default)]
pub struct MemoryStore {
    map: RwLock<Map>,
    // Each put gets a number of its own, so that a token never comes back.
    puts: AtomicU64,
}

struct Value {
    number: u64,
    bytes: Arc<[u8]>,
}

impl Object for Value {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn token(&self) -> Option<Token> {
        Some(Token([self.number, 0, 0, 0]))
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let part = start.checked_add(dst.len()).and_then(|end| self.bytes.get(start..end));
        dst.copy_from_slice(part.ok_or_else(|| Error::Invalid("read past the end of a value".into()))?);
        Ok(())
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(&self.bytes)
    }
}

impl MemoryStore {
    fn look<T>(&self, f: impl FnOnce(&Map) -> T) -> T {
        let _fork = fork::guard();
        f(&self.map.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, f: impl FnOnce(&mut Map) -> T) -> T {
        let _fork = fork::guard();
        f(&mut self.map.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn value(&self, key: &str) -> Result<Option<Value>> {
        check_key(key)?;
        Ok(self.look(|map| map.get(key).map(|(number, bytes)| Value { number: *number, bytes: Arc::clone(bytes) })))
    }
}

fn below<'a>(map: &'a Map, prefix: &'a str) -> impl Iterator<Item = &'a String> {
    map.range(prefix.to_owned()..).map(|(key, _)| key).take_while(move |key| key.starts_with(prefix))
}

impl Store for MemoryStore {
    fn place(&self, key: &str) -> u64 {
        place_of(&[&std::ptr::from_ref(self).addr().to_ne_bytes(), key.as_bytes()])
    }

    fn in_memory(&self) -> bool {
        true
    }

    fn get(&self, key: &str, dst: &mut Buffer, most: usize) -> Result<bool> {
        Ok(self.value(key)?.is_some_and(|value| {
            let n = value.bytes.len().min(most.saturating_add(1));
            dst.assign(value.bytes.get(..n).unwrap_or_default());
            true
        }))
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        Ok(self.value(key)?.map(|value| Box::new(value) as Box<dyn Object>))
    }

    fn put(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        check_key(key)?;
        let bytes: Arc<[u8]> = match parts {
            [one] => Arc::from(*one),
            _ => Arc::from(parts.concat()),
        };
        let number = self.puts.fetch_add(1, Ordering::Relaxed);
        // The old value is dropped after the lock is given back: freeing megabytes takes a while.
        let _old = self.change(|map| map.insert(key.into(), (number, bytes)));
        Ok(())
    }

    fn put_part(&self, key: &str, parts: &[&[u8]], _new: bool, document: Option<&str>) -> Result<bool> {
        if let Some(document) = document
            && self.value(document)?.is_none()
        {
            return Err(Error::Gone { key: document.into() });
        }
        self.put(key, parts).map(|()| true)
    }

    fn erase(&self, key: &str) -> Result<bool> {
        check_key(key)?;
        Ok(self.change(|map| map.remove(key)).is_some())
    }

    fn erase_prefix(&self, prefix: &str) -> Result<()> {
        check_prefix(prefix)?;
        self.change(|map| {
            let keys: Vec<String> = below(map, prefix).cloned().collect();
            keys.iter().for_each(|key| drop(map.remove(key)));
        });
        Ok(())
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        Ok(self.look(|map| below(map, prefix).cloned().collect()))
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        Ok(self.look(|map| {
            let (mut keys, mut prefixes) = (Vec::new(), BTreeSet::new());
            for key in below(map, prefix) {
                match key.get(prefix.len()..).and_then(|rest| rest.split_once('/')) {
                    Some((name, _)) => drop(prefixes.insert(format!("{prefix}{name}/"))),
                    None => keys.push(key.clone()),
                }
            }
            (keys, prefixes.into_iter().collect())
        }))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.value(key)?.map(|value| value.size()))
    }
}
