//! A part of a source as a stored value.

use std::sync::Arc;

use super::Source;
use crate::error::{Error, Result};
use crate::store::{Object, Token, place_of};

/// Longer values of sources that are far away are checked against the source's size before they are believed.
const BELIEVED: u64 = 1 << 20;

/// A range of a source under a key.
pub struct Part {
    pub source: Arc<dyn Source>,
    pub offset: u64,
    pub length: u64,
    pub key: String,
}

impl Part {
    /// Refuse a length that the source does not have, before memory is made ready for it.
    pub fn check(&self) -> Result<()> {
        if self.source.remote() && self.length <= BELIEVED {
            return Ok(());
        }
        let Some(size) = self.source.stamp().map_err(|error| error.at(&self.key))?.size else { return Ok(()) };
        match self.offset.checked_add(self.length) {
            Some(end) if end <= size => Ok(()),
            // Reading says it best, since it knows the URL.
            _ => self.source.read_at(self.offset.max(size), &mut [0]).map_err(|error| error.at(&self.key)),
        }
    }
}

/// The token of a range of a source.
pub fn token_of(source: &dyn Source, offset: u64, length: u64) -> Option<Token> {
    let Token(state) = source.token()?;
    let mut bytes = [[0u8; 8]; 4];
    bytes.iter_mut().zip(state).for_each(|(place, number)| *place = number.to_ne_bytes());
    Some(Token([place_of(&[bytes.as_flattened()]), state[3], offset, length]))
}

impl Object for Part {
    fn size(&self) -> u64 {
        self.length
    }

    fn token(&self) -> Option<Token> {
        token_of(&*self.source, self.offset, self.length)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let past = || Error::Invalid("read past the end of a value".into());
        offset.checked_add(dst.len() as u64).filter(|&end| end <= self.length).ok_or_else(past)?;
        let start = self.offset.checked_add(offset).ok_or_else(past)?;
        self.source.read_at(start, dst).map_err(|error| error.at(&self.key))
    }
}
