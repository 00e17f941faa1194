//! The bytes of an answer, gathered.

use bytes::{Bytes, BytesMut};

/// Whether a range must be there as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Less is an error.
    All,
    /// Less is all that there is.
    WhatThereIs,
}

/// The bytes of an answer as they come in.
pub struct Body {
    /// What was asked for: offset and length; `None` for everything.
    pub range: Option<(u64, u64)>,
    /// No more bytes than these are taken.
    pub limit: u64,
    /// How many there will be, once the headers have said.
    due: Option<u64>,
    /// Whether less is enough.
    pub need: Need,
    first: Bytes,
    rest: BytesMut,
}

impl Body {
    /// Nothing yet.
    pub fn new(range: Option<(u64, u64)>, limit: u64, need: Need) -> Self {
        Self { range, limit, due: None, need, first: Bytes::new(), rest: BytesMut::new() }
    }

    /// How many bytes are there.
    pub fn len(&self) -> u64 {
        (self.first.len() as u64).saturating_add(self.rest.len() as u64)
    }

    /// What is still to be asked for.
    pub fn wanted(&self) -> Option<(u64, u64)> {
        let (offset, length) = self.range?;
        Some((offset.saturating_add(self.len()), length.saturating_sub(self.len())))
    }

    /// The answer has so many bytes more.
    pub fn expect(&mut self, more: u64) {
        let due = self.len().saturating_add(more);
        self.limit = due;
        self.due = Some(due);
    }

    /// An answer that begins anew.
    pub fn restart(&mut self, due: Option<u64>) {
        self.due = due;
        (self.first, self.rest) = (Bytes::new(), BytesMut::new());
    }

    /// Whether the next piece is the beginning of the source.
    pub fn at_start(&self) -> bool {
        self.len() == 0 && self.range.is_none_or(|(offset, _)| offset == 0)
    }

    /// Take a piece; `false` if it is too much.
    pub fn add(&mut self, piece: Bytes) -> bool {
        if self.len().saturating_add(piece.len() as u64) > self.limit {
            return false;
        }
        if self.len() == 0 {
            self.first = piece;
        } else {
            if self.rest.is_empty() {
                // One piece, as small answers come in, needs no room of its own; a large answer needs it once.
                let due = self.due.unwrap_or_default().min(64 << 20);
                self.rest.reserve(usize::try_from(due).unwrap_or_default());
                self.rest.extend_from_slice(&self.first);
                self.first.clear();
            }
            self.rest.extend_from_slice(&piece);
        }
        true
    }

    /// Whether everything is there.
    pub fn is_complete(&self) -> bool {
        self.due.is_none_or(|due| self.len() == due)
    }

    /// The bytes.
    pub fn data(self) -> Bytes {
        if self.rest.is_empty() { self.first } else { self.rest.freeze() }
    }
}
