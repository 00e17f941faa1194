//! Stores: bytes under keys, and nothing of Zarr.

mod file;
mod file_confined;
mod file_folder;
mod file_lock;
mod file_mark;
#[cfg(target_os = "linux")]
mod file_nameless;
mod file_put;
mod file_sweep;
mod file_sync;
mod file_token;
mod locked_file;
mod memory;
mod names;
pub mod zip;

pub use file::FileStore;
pub(crate) use file::read_exact_at;
pub(crate) use file_token::{is_young, token};
pub use locked_file::{Lockable, LockedFile};
pub use memory::MemoryStore;
pub use names::{check_key, check_prefix, is_debris};
pub use zip::ZipStore;

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;

use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::refs::{Source, Stamp};

/// A number for a place that is made of parts; how they are cut does not matter.
pub fn place_of(parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish()
}

/// What tells one state of a stored value from another: equal tokens mean equal bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Token(pub [u64; 4]);

impl Token {
    /// The same as one number, which is not 0; odd where another state may get the same token yet.
    pub fn number(&self, is_young: bool) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish().max(2) & !1 | u64::from(is_young)
    }
}

/// A stored value that is open for reading.
pub trait Object: Send + Sync {
    /// Its size in bytes.
    fn size(&self) -> u64;

    /// Which state of the value this is, where the store can tell.
    fn token(&self) -> Option<Token>;

    /// Fill `dst` from `offset` on; ending early is an error.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()>;

    /// All bytes, where they are in memory already.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }
}

/// Where a value lies, in a store whose values are parts of something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// In memory.
    Here(Bytes),
    /// In a source.
    There {
        /// The source's number.
        place: u32,
        /// Where in it the value begins.
        offset: u64,
        /// How many bytes it has; `None`: all that the source has.
        length: Option<u64>,
    },
}

/// The chunks of one array, in a store whose values lie side by side in sources: whoever wants many of them asks where
/// they are, and reads what is close together at once.
pub trait Locate: Sync {
    /// Where the chunk at an index lies; `None` if there is none.
    fn find(&self, index: &[u64]) -> Result<Option<Spot>>;

    /// A source by its number.
    fn source(&self, place: u32) -> Result<Arc<dyn Source>>;

    /// What was found before need not be remembered any longer.
    fn begin(&self) {}

    /// Whether each chunk is a source of its own, of which only asking tells whether it is there.
    fn objects(&self) -> bool {
        false
    }

    /// Remember the state of a chunk that was read in parts.
    fn seen(&self, _key: &str, _stamp: Stamp) {}

    /// Forget the states of all chunks: one has changed.
    fn doubt(&self) {}
}

/// What keeps others from changing a value.
pub enum Hold {
    /// Nobody else changes a part of it until this is dropped.
    Kept(Box<dyn Send>),
    /// Nothing is there: whoever stores it first wins, see [`Store::put_new`].
    Absent,
    /// The store cannot keep other processes away.
    Free,
}

/// Gives up what is under way.
pub type Abort = Box<dyn Fn() + Send + Sync>;

/// Told how a put ended.
pub type PutDone = Box<dyn FnOnce(Result<()>) + Send>;

/// The names right below a prefix: keys, and prefixes that end in `/`.
pub type Listing = (Vec<String>, Vec<String>);

fn unconditional(key: &str) -> Error {
    let message = "this store does not know what a value was when it was read".into();
    Error::Store { key: key.into(), op: "put", message, errno: None }
}

/// A store. Missing keys are answers, not errors.
pub trait Store: Send + Sync {
    /// Called once before a batch of operations.
    fn begin(&self) -> Result<()> {
        Ok(())
    }

    /// Tell the store that several values are about to be written; what is returned is kept until they are.
    fn writing(&self) -> Result<Option<Box<dyn Send>>> {
        Ok(None)
    }

    /// A number for the value under a key: equal for equal places, whichever way they are reached.
    fn place(&self, key: &str) -> u64;

    /// Whether values lie in memory, so that [`Object::bytes`] gives them without a copy.
    fn in_memory(&self) -> bool {
        false
    }

    /// Read the value into `dst`, though no more than `most + 1` bytes of it; `false` if there is none.
    ///
    /// A folder where a file should be is [`Error::folder`]: it may be all that is left of a chunk.
    fn get(&self, key: &str, dst: &mut Buffer, most: usize) -> Result<bool>;

    /// Open the value for reading parts of it.
    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>>;

    /// The chunks that keys of this form stand for, where it is better to ask for many of them at once.
    fn locate<'a>(&'a self, _keys: &'a Keys) -> Option<Box<dyn Locate + 'a>> {
        None
    }

    /// Whether answers take long to come, so that much should be on its way at once.
    fn is_far(&self) -> bool {
        false
    }

    /// Store a value, or remove it, and return at once; `done` is called from any thread, and must be quick.
    ///
    /// What is returned gives it up, where that can be; `done` is dropped then.
    fn start_put(&self, key: &str, value: Option<Bytes>, done: PutDone) -> Option<Abort> {
        done(match value {
            Some(value) => self.put(key, &[&value]),
            None => self.clear(key),
        });
        None
    }

    /// Whether a value can be replaced on condition that it is still what it was, which is the way to change a part of
    /// one while others do.
    fn is_conditional(&self) -> bool {
        false
    }

    /// As [`Store::get`], with what [`Store::put_tagged`] wants to know.
    fn get_tagged(&self, key: &str, _dst: &mut Buffer, _most: usize) -> Result<Option<String>> {
        Err(unconditional(key))
    }

    /// Store a value if what is there has this tag, or if nothing is there; `false` if that is not so.
    fn put_tagged(&self, key: &str, _parts: &[&[u8]], _tag: Option<String>) -> Result<bool> {
        Err(unconditional(key))
    }

    /// Store the parts, one after the other, as one value: whole or not at all.
    fn put(&self, key: &str, parts: &[&[u8]]) -> Result<()>;

    /// Store a value if nothing is there; `false` if there is something, in stores that can tell.
    fn put_new(&self, key: &str, parts: &[&[u8]]) -> Result<bool> {
        self.put(key, parts).map(|()| true)
    }

    /// Store a part of an array, with `new` only if nothing is there, as [`Store::put_new`] does.
    ///
    /// Where the array's document is not there, the array was erased: what is stored now would be seen in the next one
    /// there. Stores in which a look costs something look where a new folder would be made, or not at all.
    fn put_part(&self, key: &str, parts: &[&[u8]], new: bool, _document: Option<&str>) -> Result<bool> {
        if new { self.put_new(key, parts) } else { self.put(key, parts).map(|()| true) }
    }

    /// What differs from one state of a value to the next; `None` where there is no value, or no way to tell.
    fn token(&self, key: &str) -> Result<Option<Token>> {
        Ok(self.open(key)?.and_then(|object| object.token()))
    }

    /// The number of a value's token.
    fn state(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.token(key)?.map(|token| token.number(false)))
    }

    /// Whether there is a value.
    fn has(&self, key: &str) -> Result<bool> {
        Ok(self.size(key)?.is_some())
    }

    /// Keep other processes from changing a part of a value while this one does.
    fn hold(&self, _key: &str) -> Result<Hold> {
        Ok(Hold::Free)
    }

    /// The value as an open file of the system's, where it is one.
    fn as_file(&self, _key: &str) -> Result<Option<File>> {
        Ok(None)
    }

    /// Store what is left of a file, whole or not at all, and return how many bytes those were; `None` if this store has
    /// no better way than [`Store::put`].
    fn put_file(&self, _key: &str, _source: &mut File) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Remove the value; `false` if there was none.
    fn erase(&self, key: &str) -> Result<bool>;

    /// Remove the value, if there is one.
    fn clear(&self, key: &str) -> Result<()> {
        self.erase(key).map(drop)
    }

    /// Remove several values.
    fn clear_many(&self, keys: &[String]) -> Result<()> {
        keys.iter().try_for_each(|key| self.clear(key))
    }

    /// Remove everything whose key starts with the prefix (empty, or ending in `/`).
    fn erase_prefix(&self, prefix: &str) -> Result<()>;

    /// All keys that start with the prefix, in order.
    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>>;

    /// All keys as [`Store::list_prefix`] gives them, and apart from them what unfinished writes have left there.
    fn list_all(&self, prefix: &str) -> Result<Listing> {
        Ok((self.list_prefix(prefix)?, Vec::new()))
    }

    /// What is right below the prefix.
    fn list_dir(&self, prefix: &str) -> Result<Listing>;

    /// The sizes of all values whose key starts with the prefix, where the store tells them with the keys.
    fn sizes(&self, _prefix: &str) -> Result<Option<HashMap<String, u64>>> {
        Ok(None)
    }

    /// The value's size.
    fn size(&self, key: &str) -> Result<Option<u64>>;

    /// The widest gap between two ranges that is cheaper to read over than to skip.
    fn gap(&self) -> usize {
        4 << 10
    }
}
