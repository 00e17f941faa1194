//! Objects by bucket and key, in order, and uploads in parts.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, RwLock};
use std::time::SystemTime;

use hyper::body::Bytes;

/// Bytes, and a tag that no other object ever had.
#[derive(Clone)]
pub struct Object {
    pub data: Bytes,
    pub tag: String,
    pub modified: SystemTime,
}

/// Everything the server keeps.
#[derive(Default)]
pub struct Objects {
    by_key: RwLock<BTreeMap<String, Object>>,
    uploads: Mutex<HashMap<String, BTreeMap<u32, Bytes>>>,
    last: AtomicU64,
}

/// Whether an object may be replaced.
pub enum Condition {
    Always,
    Absent,
    Tagged(String),
}

impl Objects {
    fn number(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Gives an object; `key` begins with the bucket.
    pub fn get(&self, key: &str) -> Option<Object> {
        self.by_key.read().ok()?.get(key).cloned()
    }

    /// Puts an object if the condition holds; gives its tag.
    pub fn put(&self, key: &str, data: Bytes, condition: &Condition) -> Option<String> {
        let tag = format!("\"{:032x}\"", self.number());
        let mut all = self.by_key.write().ok()?;
        let holds = match condition {
            Condition::Always => true,
            Condition::Absent => !all.contains_key(key),
            Condition::Tagged(tag) => all.get(key).is_some_and(|one| one.tag == *tag),
        };
        holds.then(|| {
            all.insert(key.to_owned(), Object { data, tag: tag.clone(), modified: SystemTime::now() });
            tag
        })
    }

    pub fn delete(&self, key: &str) {
        if let Ok(mut all) = self.by_key.write() {
            all.remove(key);
        }
    }

    /// Deletes all keys that begin so.
    pub fn drop_below(&self, prefix: &str) {
        if let Ok(mut all) = self.by_key.write() {
            all.retain(|key, _| !key.starts_with(prefix));
        }
    }

    /// Gives keys from `from` on while `each` wants more.
    pub fn walk(&self, from: &str, mut each: impl FnMut(&str, &Object) -> bool) {
        if let Ok(all) = self.by_key.read() {
            for (key, one) in all.range(from.to_owned()..) {
                if !each(key, one) {
                    break;
                }
            }
        }
    }

    fn uploads(&self) -> Option<MutexGuard<'_, HashMap<String, BTreeMap<u32, Bytes>>>> {
        self.uploads.lock().ok()
    }

    pub fn begin(&self) -> String {
        let name = format!("upload-{}", self.number());
        if let Some(mut all) = self.uploads() {
            all.insert(name.clone(), BTreeMap::new());
        }
        name
    }

    pub fn part(&self, upload: &str, number: u32, data: Bytes) -> Option<String> {
        self.uploads()?.get_mut(upload)?.insert(number, data);
        Some(format!("\"{:032x}\"", self.number()))
    }

    /// Takes the parts of an upload away, joined.
    pub fn end(&self, upload: &str) -> Option<Bytes> {
        let parts = self.uploads()?.remove(upload)?;
        Some(parts.values().flat_map(|part| part.iter().copied()).collect())
    }
}
