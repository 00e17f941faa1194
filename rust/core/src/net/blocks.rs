//! A remote file for those who read it in small pieces: what was fetched stays for a while.
//!
//! Formats keep their metadata in many small pieces, most of them near each other. A miss fetches a block around what is
//! asked for; where that is beside what was fetched before, blocks grow.

use std::collections::BTreeMap;
use std::sync::Mutex;

use bytes::Bytes;

use super::{Held, hold};
use crate::error::Result;
use crate::pool::Interrupt;
use crate::refs::Stamp;

/// What a miss fetches at least, and what its ends are multiples of.
const BLOCK: u64 = 32 << 10;

/// What a miss fetches ahead at most.
const LARGEST: u64 = 2 << 20;

/// Bytes that are kept.
const KEPT: u64 = 64 << 20;

/// A file that is far away, as [`Blocks`] need it.
pub trait Ranged: Send + Sync {
    /// Its state; the first call may bring the file's beginning along.
    fn probe(&self, interrupt: Interrupt<'_>) -> Result<Stamp>;

    /// The beginning that came along, for whoever keeps it from now on.
    fn take_head(&self) -> Bytes;

    /// Several ranges at once, in their order.
    fn read_many(&self, ranges: &[(u64, u64)], interrupt: Interrupt<'_>) -> Result<Vec<Bytes>>;

    /// All of it in one request, if that is not more than `most` bytes.
    fn document(&self, most: u64, interrupt: Interrupt<'_>) -> Result<Bytes>;

    /// The number of requests so far, and of bytes that came as answers.
    fn counts(&self) -> (u64, u64);
}

/// A remote file with blocks of it in memory.
pub struct Blocks {
    source: Box<dyn Ranged>,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    /// Parts of the file by where they begin; none overlap.
    parts: BTreeMap<u64, Part>,
    kept: u64,
    clock: u64,
    /// How much a fetch beside others reads ahead.
    ahead: u64,
}

struct Part {
    data: Bytes,
    used: u64,
}

impl Blocks {
    /// Nothing of the file is there yet.
    pub fn new(source: impl Ranged + 'static) -> Self {
        Self { source: Box::new(source), cache: Mutex::default() }
    }

    /// The file itself.
    pub fn source(&self) -> &dyn Ranged {
        &*self.source
    }

    /// The state of the file; the first call brings the file's beginning.
    pub fn stamp(&self, interrupt: Interrupt<'_>) -> Result<Stamp> {
        let stamp = self.source.probe(interrupt)?;
        let head = self.source.take_head();
        if !head.is_empty() {
            self.lock().insert(0, head);
        }
        Ok(stamp)
    }

    /// Fill `dst` from `offset` on, as far as the file goes; return how many bytes that are.
    pub fn read(&self, offset: u64, dst: &mut [u8], interrupt: Interrupt<'_>) -> Result<usize> {
        let size = self.stamp(interrupt)?.size.unwrap_or_default();
        let wanted = (dst.len() as u64).min(size.saturating_sub(offset));
        let wanted = usize::try_from(wanted).unwrap_or(dst.len());
        let Some(dst) = dst.get_mut(..wanted) else { return Ok(0) };
        let mut done = 0usize;
        while let Some(rest) = dst.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let at = offset.saturating_add(done as u64);
            let copied = self.lock().copy(at, rest);
            if copied == 0 {
                self.fetch(at, rest.len() as u64, size, interrupt)?;
            }
            done = done.saturating_add(copied);
        }
        Ok(wanted)
    }

    /// Fetch what holds a range, of which the first byte is missing.
    fn fetch(&self, offset: u64, length: u64, size: u64, interrupt: Interrupt<'_>) -> Result<()> {
        let (start, end) = self.lock().plan(offset, length, size);
        let parts = self.source.read_many(&[(start, end.saturating_sub(start))], interrupt)?;
        let mut cache = self.lock();
        for part in parts {
            cache.insert(start, part);
        }
        Ok(())
    }

    fn lock(&self) -> Held<'_, Cache> {
        hold(&self.cache)
    }
}

impl Cache {
    /// Copy what is there from `offset` on, up to the end of one part; 0 if nothing is.
    fn copy(&mut self, offset: u64, dst: &mut [u8]) -> usize {
        self.clock = self.clock.saturating_add(1);
        let Some((&start, part)) = self.parts.range_mut(..=offset).next_back() else { return 0 };
        let from = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
        let Some(found) = part.data.get(from..).filter(|found| !found.is_empty()) else { return 0 };
        part.used = self.clock;
        let n = found.len().min(dst.len());
        if let (Some(dst), Some(found)) = (dst.get_mut(..n), found.get(..n)) {
            dst.copy_from_slice(found);
        }
        n
    }

    /// What to fetch for a range whose first byte is missing.
    fn plan(&mut self, offset: u64, length: u64, size: u64) -> (u64, u64) {
        let down = |at: u64| at.saturating_sub(at.checked_rem(BLOCK).unwrap_or(0));
        let before = self.parts.range(..offset).next_back();
        let before = before.map_or(0, |(start, part)| start.saturating_add(part.data.len() as u64));
        let behind = self.parts.range(offset..).next().map_or(size, |(start, _)| *start);
        let end = offset.saturating_add(length);
        let up = down(end.saturating_add(BLOCK.saturating_sub(1)));
        // Who asks for neighbours of what is there will ask for more of them, in whatever order.
        let near = before > 0 && before >= down(offset) || behind < size && behind <= up;
        self.ahead = if near { self.ahead.saturating_mul(2).clamp(BLOCK, LARGEST) } else { self.ahead >> 1 };
        let ahead = if near { self.ahead } else { 0 };
        let until = up.saturating_add(ahead).min(size).max(end.min(size));
        // What lies before and is there is not fetched again, nor what lies behind.
        let (start, until) = (down(offset).max(before), until.min(behind));
        (start, until)
    }

    fn insert(&mut self, start: u64, data: Bytes) {
        self.clock = self.clock.saturating_add(1);
        self.kept = self.kept.saturating_add(data.len() as u64);
        if let Some(old) = self.parts.insert(start, Part { data, used: self.clock }) {
            self.kept = self.kept.saturating_sub(old.data.len() as u64);
        }
        while self.kept > KEPT && self.parts.len() > 1 {
            let oldest = self.parts.iter().min_by_key(|(_, part)| part.used).map(|(&start, _)| start);
            let Some(part) = oldest.and_then(|start| self.parts.remove(&start)) else { break };
            self.kept = self.kept.saturating_sub(part.data.len() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_fetches_a_block_and_no_byte_twice() {
        let mut cache = Cache::default();
        let size = 10 << 20;
        assert_eq!(cache.plan(100, 10, size), (0, BLOCK));
        cache.insert(0, Bytes::from(vec![0; BLOCK as usize]));
        assert_eq!(cache.plan(5 * BLOCK - 4, 8, size), (4 * BLOCK, 6 * BLOCK));
        cache.insert(4 * BLOCK, Bytes::from(vec![1; 2 * BLOCK as usize]));
        assert_eq!(cache.plan(BLOCK + 7, 10 * BLOCK, size), (BLOCK, 4 * BLOCK));
        assert_eq!(cache.plan(100 * BLOCK, 1, size), (100 * BLOCK, 101 * BLOCK));
        assert_eq!(cache.plan(size - 3, 3, size), (size - BLOCK, size));
        let mut two = [9; 2];
        assert_eq!(cache.copy(BLOCK - 1, &mut two), 1);
        assert_eq!(cache.copy(6 * BLOCK, &mut two), 0);
    }

    #[test]
    fn neighbours_make_blocks_grow() {
        let mut cache = Cache::default();
        let size = 1 << 30;
        let (mut at, mut fetches) = (0, 0);
        while at < 30 << 20 {
            let (start, until) = cache.plan(at, 1, size);
            cache.insert(start, Bytes::from(vec![0; usize::try_from(until - start).unwrap_or(0)]));
            (at, fetches) = (until, fetches + 1);
        }
        assert!(fetches < 30, "{fetches}");
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut cache = Cache::default();
        for i in 0..5u64 {
            cache.insert(i * (16 << 20), Bytes::from(vec![0; 16 << 20]));
            cache.copy(0, &mut [0]);
        }
        assert_eq!(cache.parts.keys().copied().collect::<Vec<_>>(), [0, 2 << 24, 3 << 24, 4 << 24]);
    }
}
