//! Reading of a file whose numbers are not to be believed.

use std::cell::Cell;

use super::Source;
use crate::error::Error;

/// Why a walk ended.
#[derive(Debug)]
pub(super) enum Stop {
    /// What is there is of an unknown kind, or damaged.
    Unknown,
    /// The file could not be read.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What a walk finds, or why it ended.
pub(super) type Found<T> = Result<T, Stop>;

/// The value, where it could be read.
pub(super) fn known<T>(value: Option<T>) -> Found<T> {
    value.ok_or(Stop::Unknown)
}

/// No part of an index is larger.
const MOST: u64 = 256 << 20;

/// Parts that are near each other are read together up to this size.
const PIECE: u64 = 4 << 20;

/// A file, addresses in which begin at `base`.
pub(super) struct File<'a> {
    source: &'a dyn Source,
    size: u64,
    base: u64,
    gap: u64,
    /// Bytes that may still be read: parts of indexes do not overlap, so that together they are no larger than the file.
    left: Cell<u64>,
}

impl<'a> File<'a> {
    pub(super) fn new(source: &'a dyn Source, base: u64, gap: u64) -> Found<Self> {
        let size = source.size()?;
        Ok(Self { source, size, base, gap, left: Cell::new(size.saturating_mul(2).saturating_add(1 << 16)) })
    }

    /// Bytes from `base` on.
    pub(super) fn length(&self) -> u64 {
        self.size.saturating_sub(self.base)
    }

    /// Bytes at an address, as many as are asked for.
    pub(super) fn read(&self, address: u64, length: u64) -> Found<Vec<u8>> {
        let bytes = self.read_some(address, length)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(Stop::Unknown) }
    }

    /// Bytes at an address, fewer where the file ends.
    pub(super) fn read_some(&self, address: u64, length: u64) -> Found<Vec<u8>> {
        let length = length.min(self.length().saturating_sub(address));
        self.spend(length)?;
        self.fetch(address, length)
    }

    fn spend(&self, length: u64) -> Found<()> {
        self.left.set(known(self.left.get().checked_sub(length))?);
        Ok(())
    }

    fn fetch(&self, address: u64, length: u64) -> Found<Vec<u8>> {
        if length > MOST {
            return Err(Stop::Unknown);
        }
        let offset = known(self.base.checked_add(address))?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| Stop::Unknown)?];
        if !bytes.is_empty() {
            self.source.read_at(offset, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// Hand out the bytes at each address, all of one length but where the file ends: in the order of the addresses, and
    /// with the place of each in the list.
    pub(super) fn each(
        &self,
        addresses: &[u64],
        length: u64,
        mut take: impl FnMut(usize, &[u8]) -> Found<()>,
    ) -> Found<()> {
        let mut sorted: Vec<(u64, usize)> = addresses.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let mut rest = sorted.as_slice();
        while let Some(&(start, _)) = rest.first() {
            let mut end = start.saturating_add(length);
            let near = |&&(address, _): &&(u64, usize)| {
                let joined = address <= end.saturating_add(self.gap)
                    && address.saturating_add(length).saturating_sub(start) <= PIECE.max(length);
                end = if joined { end.max(address.saturating_add(length)) } else { end };
                joined
            };
            let count = rest.iter().take_while(near).count().max(1);
            let (group, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = later;
            let bytes = self.fetch(start, end.min(self.length()).saturating_sub(start))?;
            for &(address, place) in group {
                let from = usize::try_from(address.saturating_sub(start)).map_err(|_| Stop::Unknown)?;
                let part = known(bytes.get(from..))?;
                let part = part.get(..usize::try_from(length).unwrap_or(usize::MAX)).unwrap_or(part);
                self.spend(part.len() as u64)?;
                take(place, part)?;
            }
        }
        Ok(())
    }
}
