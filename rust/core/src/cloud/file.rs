//! An object as a file, for those who look for metadata in it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::object::{ObjectSource, Want};
use crate::error::{Error, Result};
use crate::net::{Ranged, hold, read_many, wait};
use crate::pool::Interrupt;
use crate::refs::Stamp;

/// An object as a file, for those who look for metadata in it.
pub struct ObjectFile {
    source: ObjectSource,
    /// Bytes of the beginning that the question for the state brings along.
    head: u64,
    kept: Mutex<Bytes>,
    received: AtomicU64,
    requests: AtomicU64,
}

impl ObjectFile {
    /// Nothing is asked yet.
    pub fn new(source: ObjectSource, head: u64) -> Self {
        Self { source, head, kept: Mutex::default(), received: AtomicU64::new(0), requests: AtomicU64::new(0) }
    }

    fn count(&self, bytes: usize) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Ranged for ObjectFile {
    fn probe(&self, interrupt: Interrupt<'_>) -> Result<Stamp> {
        let known = self.source.known();
        if known.size.is_some() {
            return Ok(known);
        }
        let (inner, head) = (Arc::clone(&self.source.0), self.head);
        let found = wait(
            async move {
                match inner.fetch(Want::First(head)).await {
                    // Of an empty object no range can be had.
                    Err(error) if !error.is_missing() => inner.head().await.map(|_| Bytes::new()).map_err(|_| error),
                    found => found,
                }
            },
            interrupt,
        )?;
        self.count(found.len());
        *hold(&self.kept) = found;
        Ok(self.source.known())
    }

    fn take_head(&self) -> Bytes {
        std::mem::take(&mut *hold(&self.kept))
    }

    fn read_many(&self, ranges: &[(u64, u64)], interrupt: Interrupt<'_>) -> Result<Vec<Bytes>> {
        let found = read_many(&self.source, ranges, interrupt)?;
        found.iter().for_each(|part| self.count(part.len()));
        Ok(found)
    }

    fn document(&self, most: u64, interrupt: Interrupt<'_>) -> Result<Bytes> {
        let inner = Arc::clone(&self.source.0);
        let found = wait(async move { inner.fetch(Want::Whole(most)).await }, interrupt)?;
        self.count(found.len());
        if found.len() as u64 > most {
            return Err(Error::Limit(format!("{} has more than {most} bytes", self.source.0.url())));
        }
        Ok(found)
    }

    fn counts(&self) -> (u64, u64) {
        (self.requests.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }
}
