//! Indexes of chunks in files of HDF5: how many dimensions, their lengths, those of a chunk, the address of the dataset's
//! header, then the file.

use omnizarr_core::hdf5::{Dataset, chunk_index};

use crate::Target;
use crate::archives::Memory;

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<2>().0.iter().map(|&word| u64::from(u16::from_le_bytes(word))).collect()
}

fn run(input: &[u8]) {
    let Some((&ndim, rest)) = input.split_first() else { return };
    let bytes = usize::from(ndim % 5) * 2;
    let Some((shape, rest)) = rest.split_at_checked(bytes) else { return };
    let Some((chunks, rest)) = rest.split_at_checked(bytes) else { return };
    let Some((&address, file)) = rest.split_first_chunk::<4>() else { return };
    let (shape, chunks) = (words(shape), words(chunks));
    let address = u64::from(u32::from_le_bytes(address));
    let dataset = Dataset { address, base: 0, shape: &shape, chunks: &chunks, gap: 512 };
    let source = Memory::new(file);
    if let Ok(Some(found)) = chunk_index(&*source, dataset) {
        let n = found.numbers.len();
        assert!(found.offsets.len() == n && found.lengths.len() == n && found.masks.len() == n);
        assert!(found.numbers.is_sorted_by(|a, b| a < b), "chunks out of order");
        let count: u128 = shape.iter().zip(&chunks).map(|(&n, &c)| u128::from(n.div_ceil(c.max(1)))).product();
        assert!(found.numbers.last().is_none_or(|&last| u128::from(last) < count), "a chunk outside of the grid");
    }
}

/// A file with one dataset of `count` chunks of 4 bytes, in a tree of one node; other files come from a library.
fn small(count: u8) -> Vec<u8> {
    let mut file = b"\x89HDF\r\n\x1a\n\x00\x00\x00\x00\x00\x08\x08\x00".to_vec();
    file.resize(96, 0);
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
    file.resize(file.len() + 24, 0);
    [&[1, count, 0, 1, 0, 96, 0, 0, 0], file.as_slice()].concat()
}

/// The targets.
pub(crate) fn targets() -> Vec<Target> {
    vec![Target { name: "hdf5", run, seeds: || [1, 3, 9].map(small).to_vec() }]
}
