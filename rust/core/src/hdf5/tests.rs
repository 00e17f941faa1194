//! Files that end anywhere, or hold anything, are refused and no more.

use super::{Dataset, Source, chunk_index};
use crate::error::{Error, Result};

struct Bytes(Vec<u8>);

impl Source for Bytes {
    fn size(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let from = usize::try_from(offset).ok().and_then(|at| self.0.get(at..)).unwrap_or_default();
        let part = from.get(..dst.len()).ok_or_else(|| Error::Invalid("past the end".into()))?;
        dst.copy_from_slice(part);
        Ok(())
    }
}

/// A file with one dataset of `count` chunks of 4 bytes, in a tree of one node.
fn small(count: u8) -> Vec<u8> {
    let mut file = b"\x89HDF\r\n\x1a\n\x00\x00\x00\x00\x00\x08\x08\x00".to_vec();
    file.resize(96, 0);
    // The header: a dataspace, then the layout.
    file.extend([1, 0, 2, 0, 1, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0]);
    file.extend([1, 0, 16, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, count, 0, 0, 0, 0, 0, 0, 0]);
    file.extend([8, 0, 24, 0, 0, 0, 0, 0, 3, 2, 2, 176, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.resize(176, 0);
    file.extend(b"TREE\x01\x00");
    file.extend([count, 0]);
    file.extend([0xFF; 16]);
    for i in 0..count {
        file.extend([4, 0, 0, 0, 0, 0, 0, 0, i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, i, 0, 0, 0, 0, 0, 0]);
    }
    file.resize(file.len().saturating_add(24), 0);
    file
}

fn ask(count: u64, base: u64) -> Dataset<'static> {
    let shape: &'static [u64] = Box::leak(Box::new([count]));
    Dataset { address: 96, base, shape, chunks: &[1], gap: 4096 }
}

#[test]
fn a_tree_of_one_node() {
    let found = chunk_index(&Bytes(small(3)), ask(3, 0)).unwrap().unwrap();
    assert_eq!(found.numbers, [0, 1, 2]);
    assert_eq!(found.offsets, [100, 356, 612]);
    assert_eq!(found.lengths, [4, 4, 4]);
    assert_eq!(found.masks, [0, 0, 0]);
}

#[test]
fn what_the_caller_knows_must_be_right() {
    assert_eq!(chunk_index(&Bytes(small(3)), ask(4, 0)).unwrap(), None);
    assert_eq!(chunk_index(&Bytes(small(3)), ask(3, 1)).unwrap(), None);
}

#[test]
fn files_that_end_early() {
    let whole = small(5);
    for end in 0..whole.len() {
        let cut = whole.get(..end).unwrap().to_vec();
        if let Some(found) = chunk_index(&Bytes(cut), ask(5, 0)).unwrap() {
            assert_eq!(found.numbers.len(), 5);
        }
    }
}

#[test]
fn every_byte_changed() {
    let whole = small(5);
    for at in 0..whole.len() {
        for change in [1, 0x80, 0xFF] {
            let mut other = whole.clone();
            other[at] ^= change;
            let _ = chunk_index(&Bytes(other), ask(5, 0)).unwrap();
        }
    }
}

#[test]
fn a_tree_that_leads_to_itself() {
    let mut file = small(2);
    file[176 + 5] = 1;
    for i in 0..2_usize {
        let at = 176 + 24 + i * 32 + 24;
        file[at..at + 8].copy_from_slice(&176_u64.to_le_bytes());
    }
    assert_eq!(chunk_index(&Bytes(file), ask(2, 0)).unwrap(), None);
}
