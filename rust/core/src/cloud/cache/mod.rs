//! A read-through cache on disk: bytes are saved, not truth.
//!
//! Parts of objects are kept with the ETag of the object. What is kept is used only where the service has said, in this
//! very call, that the object still has that ETag. So a cache that many share, or that is old, never gives old data; and
//! because each file has a checksum, nor does a damaged one give wrong data.
//!
//! Files are read and written by threads that may wait, a few at once, and not by those of the network. Whoever reads
//! waits until what came is also on disk: so the network never runs ahead of the disk, which would cost memory, and what
//! a short program has read is there for the next one. Most disks are faster than most networks.

mod entry;
mod folder;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

pub use entry::{Entry, Name};
use folder::Folder;

use crate::fork::PerProcess;
use crate::net::hold;

/// Files that are read or written at once.
const AT_ONCE: usize = 8;

/// Where to keep what was read, and how many bytes of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Keep {
    /// A folder.
    pub folder: PathBuf,
    /// The size of all files together.
    pub bytes: u64,
}

/// The cache in a folder.
struct Cache {
    folder: std::result::Result<Arc<Folder>, String>,
    turns: Semaphore,
}

/// A child has threads, and so turns and locks, of its own.
static CACHES: PerProcess<Mutex<HashMap<Keep, Arc<Cache>>>> = PerProcess::new(Mutex::default);

impl Keep {
    fn cache(&self) -> Arc<Cache> {
        if let Some(known) = hold(CACHES.get()).get(self) {
            return Arc::clone(known);
        }
        let opened = Folder::open(&self.folder, self.bytes);
        let folder = opened.map(Arc::new).map_err(|error| error.to_string());
        let made = Arc::new(Cache { folder, turns: Semaphore::new(AT_ONCE) });
        Arc::clone(hold(CACHES.get()).entry(self.clone()).or_insert(made))
    }

    /// Why nothing can be kept, if that is so.
    pub fn trouble(&self) -> Option<String> {
        self.cache().folder.as_ref().err().cloned()
    }

    /// What is kept under a name, if that has no more than `most` bytes.
    pub(super) async fn get(&self, name: Name, most: u64) -> Option<Entry> {
        let cache = self.cache();
        let folder = Arc::clone(cache.folder.as_ref().ok()?);
        let _turn = cache.turns.acquire().await.ok()?;
        spawn_blocking(move || folder.get(&name, most)).await.ok()?
    }

    /// Keep something, if that is possible.
    pub(super) async fn put(&self, name: Name, entry: Entry) {
        let cache = self.cache();
        let Ok(folder) = cache.folder.as_ref().map(Arc::clone) else { return };
        let Ok(_turn) = cache.turns.acquire().await else { return };
        // A failure to keep something is nobody's failure to read it.
        let _ = spawn_blocking(move || folder.put(&name, &entry)).await;
    }
}
