//! What references lead to: bytes at a URL, read in ranges.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::store::Token;

/// What tells whether a source is still what it was: whatever of it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Its size in bytes.
    pub size: Option<u64>,
    /// When it was changed last, in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// The server's word for its state.
    pub etag: Option<String>,
}

impl Stamp {
    /// What of this contradicts the other; `None` if nothing that both know.
    pub fn contradiction(&self, other: &Self) -> Option<String> {
        if let (Some(then), Some(now)) = (self.size, other.size)
            && then != now
        {
            return Some(format!("it had {then} bytes and has {now}"));
        }
        if let (Some(then), Some(now)) = (&self.etag, &other.etag)
            && then != now
        {
            return Some(format!("its ETag was {then} and is {now}"));
        }
        match (self.modified, other.modified) {
            (Some(then), Some(now)) if then != now => Some("it was changed".into()),
            _ => None,
        }
    }
}

/// Told how a request ended: with all bytes that were asked for, or with the reason why not.
pub type Done = Box<dyn FnOnce(Result<Bytes>) + Send>;

/// As a [`Done`] that is called come what may: a request that is given up must not be waited for.
pub fn surely(take: impl FnOnce(Result<Bytes>) + Send + 'static) -> Done {
    struct Surely<F: FnOnce(Result<Bytes>)>(Option<F>);

    impl<F: FnOnce(Result<Bytes>)> Surely<F> {
        fn call(&mut self, answer: Result<Bytes>) {
            if let Some(take) = self.0.take() {
                take(answer);
            }
        }
    }

    impl<F: FnOnce(Result<Bytes>)> Drop for Surely<F> {
        fn drop(&mut self) {
            self.call(Err(Error::Invalid("internal error: a request was dropped; please report it".into())));
        }
    }

    let mut one = Surely(Some(take));
    Box::new(move |answer| one.call(answer))
}

/// Bytes at a URL.
///
/// A source that is no longer what it was when it was scanned, or that has fewer bytes than are asked for, answers with
/// [`Error::Stale`], never with other bytes. Whoever opens a source hands it the [`Stamp`] that it must have.
pub trait Source: Send + Sync {
    /// What is known of its state now.
    fn stamp(&self) -> Result<Stamp>;

    /// Fill `dst` from `offset` on; ending early is an error.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()>;

    /// Whether answers take long to come, so that many requests should be on their way at once.
    fn remote(&self) -> bool {
        false
    }

    /// Ask for a range and return at once; `done` is called when it is there, from any thread, and must be quick.
    ///
    /// Whoever asks bounds `length`, and how many requests are on their way. What is not remote may answer before it
    /// returns.
    fn start(&self, offset: u64, length: u64, done: Done) {
        done(self.read_range(offset, length));
    }

    /// As [`Source::start`], for all of it; more than `most` bytes are an error.
    fn start_whole(&self, most: u64, done: Done) {
        match self.stamp().map(|stamp| stamp.size) {
            Ok(Some(size)) if size <= most => self.start(0, size, done),
            Ok(Some(size)) => done(Err(Error::Limit(format!("a source of {size} bytes, where {most} are the most")))),
            Ok(None) => done(Err(Error::Invalid("a source that does not tell its size".into()))),
            Err(error) => done(Err(error)),
        }
    }

    /// As [`Source::start`], for the last `length` bytes, or all if there are fewer; afterwards the size is known.
    fn start_last(&self, length: u64, done: Done) {
        match self.stamp().map(|stamp| stamp.size) {
            Ok(Some(size)) => self.start(size.saturating_sub(length), size.min(length), done),
            Ok(None) => done(Err(Error::Invalid("a source that does not tell its size".into()))),
            Err(error) => done(Err(error)),
        }
    }

    /// A range in memory of its own.
    fn read_range(&self, offset: u64, length: u64) -> Result<Bytes> {
        let size = self.stamp()?.size.unwrap_or(u64::MAX);
        if offset.checked_add(length).is_none_or(|end| end > size) {
            return Err(Error::stale("", format!("{length} bytes from {offset} on lie past its end, at {size}")));
        }
        let length = usize::try_from(length).map_err(|_| Error::Limit(format!("a range of {length} bytes")))?;
        let mut data = vec![0; length];
        self.read_at(offset, &mut data)?;
        Ok(data.into())
    }

    /// Whether the URL still leads to this very source, as far as can be told at little cost.
    fn is_current(&self) -> bool {
        true
    }

    /// Which state of the source this is, where that can be told: equal tokens mean equal bytes.
    fn token(&self) -> Option<Token> {
        None
    }

    /// The widest gap between two ranges that is cheaper to read over than to skip.
    fn gap(&self) -> u64 {
        4 << 10
    }
}

/// From a URL to its source. Whoever opens one has asked the [`Guard`] before.
pub trait Open: Send + Sync {
    /// Open what the URL names.
    fn open(&self, url: &str) -> Result<Arc<dyn Source>>;
}
