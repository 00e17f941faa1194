//! What can go wrong below Python, as data: the binding turns each into one Python exception.

use std::error::Error as StdError;
use std::fmt;

/// Why a codec refused its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The bytes are not what the codec writes, or end too early, or go on too long.
    Corrupt,
    /// The bytes are well formed but their checksum says otherwise.
    Checksum,
    /// Decoding would pass the size that the array allows.
    TooLarge,
    /// The codec cannot do what its configuration asks.
    Config,
    /// A codec outside the kernel raised; the cause is in `source`.
    Foreign,
}

/// An error of one codec; the engine adds the key and the array.
#[derive(Debug)]
pub struct CodecError {
    /// The codec's name, as users write it.
    pub codec: String,
    /// The class of the failure.
    pub fault: Fault,
    /// One sentence about the cause, with the sizes involved.
    pub message: String,
    /// The original exception of a foreign codec.
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

impl CodecError {
    /// An error without a foreign cause.
    pub fn new(codec: &str, fault: Fault, message: impl Into<String>) -> Self {
        Self { codec: codec.into(), fault, message: message.into(), source: None }
    }

    /// Shorthand for [`Fault::Corrupt`].
    pub fn corrupt(codec: &str, message: impl Into<String>) -> Self {
        Self::new(codec, Fault::Corrupt, message)
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.codec, self.message)
    }
}

impl StdError for CodecError {}

/// Why an archive, or an entry of it, could not be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveFault {
    /// Cut short, contradictory, or not an archive at all.
    Corrupt,
    /// An entry's bytes do not match their checksum.
    Checksum,
    /// Encrypted, or compressed by a method that is not to be had.
    Unsupported,
    /// Larger than the limits allow.
    TooLarge,
    /// Someone else writes it, or has written it meanwhile.
    Conflict,
}

/// What is wrong with the index of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardFault {
    /// It is not there in full, or does not decode.
    Index,
    /// Its checksum does not match.
    Checksum,
    /// An entry points to where no inner chunk can be.
    Range,
}

/// An error of a kernel call.
#[derive(Debug)]
pub enum Error {
    /// A store failed: not "no such key", which is an answer, but everything else.
    Store {
        /// The key that was asked for.
        key: String,
        /// The operation: `get`, `put`, `erase`, `list`.
        op: &'static str,
        /// What the system said.
        message: String,
        /// The operating system's error number, where there is one.
        errno: Option<i32>,
    },
    /// Others change the same value, again and again.
    Conflict {
        /// The key of the value.
        key: String,
        /// What came of it.
        message: String,
    },
    /// The array is no longer there.
    Gone {
        /// The key of the document that says what it is.
        key: String,
    },
    /// The key would lead out of the store, or is not a key at all.
    Unsafe {
        /// The key that was refused.
        key: String,
        /// Why.
        message: String,
    },
    /// What a document or set of references says breaks its specification.
    Metadata {
        /// The key that it is about; empty where it is about all.
        key: String,
        /// What is wrong.
        message: String,
    },
    /// A reference leads to where the set may not reach.
    Refused {
        /// The URL.
        url: String,
        /// Why.
        message: String,
        /// What the caller can do to allow it.
        hint: String,
    },
    /// A reference leads to something that is not what it was, or has no such bytes.
    Stale {
        /// The key that was asked for; empty where it is about the whole source.
        key: String,
        /// The URL.
        url: String,
        /// What is different.
        message: String,
    },
    /// A chunk could not be decoded or encoded.
    Chunk {
        /// The chunk's key.
        key: String,
        /// The codec and the cause.
        cause: CodecError,
    },
    /// A shard's index contradicts the shard.
    Shard {
        /// The shard's key.
        key: String,
        /// What is wrong with it.
        fault: ShardFault,
        /// The cause.
        message: String,
    },
    /// An archive, or an entry of it, could not be read or written.
    Archive {
        /// The entry's key; empty where it is about the whole archive.
        key: String,
        /// The class of the failure.
        fault: ArchiveFault,
        /// One sentence about the cause.
        message: String,
        /// What to do about it; empty where nothing helps.
        hint: &'static str,
    },
    /// The call itself is wrong: shapes that do not fit, an index out of bounds.
    Invalid(String),
    /// More memory or work than the limits allow.
    Limit(String),
    /// What was asked for does not fit into memory.
    Memory(String),
    /// The caller asked to stop.
    Interrupted,
    /// A store outside the kernel raised.
    Foreign {
        /// The key that was asked for.
        key: String,
        /// What it raised.
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store { key, op, message, .. } => write!(f, "{op} {key:?}: {message}"),
            Self::Gone { key } => write!(f, "{key:?} is no longer there"),
            Self::Unsafe { key, message } => write!(f, "key {key:?} refused: {message}"),
            Self::Metadata { key, message } | Self::Conflict { key, message } => write!(f, "{key:?}: {message}"),
            Self::Refused { url, message, .. } => write!(f, "{url:?} refused: {message}"),
            Self::Stale { url, message, .. } => write!(f, "{url:?} is not what the reference says: {message}"),
            Self::Chunk { key, cause } => write!(f, "chunk {key:?}: {cause}"),
            Self::Shard { key, message, .. } => write!(f, "shard {key:?}: {message}"),
            Self::Archive { key, message, .. } => write!(f, "archive {key:?}: {message}"),
            Self::Invalid(message) | Self::Limit(message) | Self::Memory(message) => f.write_str(message),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Foreign { key, source } => write!(f, "{key:?}: {source}"),
        }
    }
}

impl StdError for Error {}

impl Error {
    /// A source that is not what references say.
    pub fn stale(url: &str, message: impl Into<String>) -> Self {
        Self::Stale { key: String::new(), url: url.into(), message: message.into() }
    }

    /// Nothing is there: for stores that know only after asking.
    pub fn missing(key: &str) -> Self {
        Self::Store { key: key.into(), op: "get", message: "nothing is there".into(), errno: Some(libc::ENOENT) }
    }

    /// Whether it says that nothing is there: for stores that know only after asking.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Store { errno: Some(libc::ENOENT), .. })
    }

    /// A folder where a value should be.
    pub fn folder(key: &str) -> Self {
        let message = "a folder is where its file should be; move the folder away, or remove it".into();
        Self::Store { key: key.into(), op: "get", message, errno: Some(libc::EISDIR) }
    }

    /// Whether it says that a folder is where a value should be.
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Store { errno: Some(libc::EISDIR), .. })
    }

    /// The same error, of a source that was read for the sake of a key.
    #[must_use]
    pub fn at(mut self, name: &str) -> Self {
        if let Self::Stale { key, .. } = &mut self
            && key.is_empty()
        {
            *key = name.into();
        }
        self
    }
}

/// The result of a kernel call.
pub type Result<T> = std::result::Result<T, Error>;
