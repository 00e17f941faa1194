//! A bounded cache in two generations: what is used survives the next clearing, what is not does not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::fork;
use crate::store::Token;

/// Values by key, each valid for one state of the stored object.
pub struct Cache<V> {
    limit: usize,
    inner: Mutex<Generations<V>>,
}

struct Generations<V> {
    young: HashMap<String, Entry<V>>,
    old: HashMap<String, Entry<V>>,
    bytes: usize,
}

struct Entry<V> {
    token: Token,
    bytes: usize,
    value: Arc<V>,
}

impl<V> Cache<V> {
    /// A cache of at most `limit` bytes; none at all with zero.
    pub fn new(limit: usize) -> Self {
        let inner = Generations { young: HashMap::new(), old: HashMap::new(), bytes: 0 };
        Self { limit, inner: Mutex::new(inner) }
    }

    /// Whether it can hold anything.
    pub fn enabled(&self) -> bool {
        self.limit > 0
    }

    /// The value under `key` if it was made from the state that `token` names.
    pub fn get(&self, key: &str, token: Token) -> Option<Arc<V>> {
        let _fork = fork::guard();
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = inner.young.get(key) {
            return (entry.token == token).then(|| Arc::clone(&entry.value));
        }
        let (name, entry) = inner.old.remove_entry(key)?;
        if entry.token != token {
            return None;
        }
        let value = Arc::clone(&entry.value);
        inner.insert(name, entry, self.limit);
        Some(value)
    }

    /// Keep a value that takes up `bytes` bytes.
    pub fn put(&self, key: &str, token: Token, value: Arc<V>, bytes: usize) {
        let bytes = bytes.saturating_add(key.len()).saturating_add(64);
        if bytes > self.limit / 2 {
            return;
        }
        let _fork = fork::guard();
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.insert(key.into(), Entry { token, bytes, value }, self.limit);
    }
}

impl<V> Generations<V> {
    /// Each generation has half of the room.
    fn insert(&mut self, key: String, entry: Entry<V>, limit: usize) {
        if self.bytes.saturating_add(entry.bytes) > limit / 2 {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.bytes = self.bytes.saturating_add(entry.bytes);
        if let Some(replaced) = self.young.insert(key, entry) {
            self.bytes = self.bytes.saturating_sub(replaced.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_size_is_bounded() {
        let cache = Cache::new(4096);
        let token = Token([1, 0, 0, 0]);
        cache.put("hot", token, Arc::new(7), 100);
        for i in 0..1000 {
            cache.put(&i.to_string(), token, Arc::new(i), 100);
            assert_eq!(cache.get("hot", token).as_deref(), Some(&7));
        }
        assert!(cache.get("0", token).is_none());
        assert!(cache.get("hot", Token([2, 0, 0, 0])).is_none());
    }
}
