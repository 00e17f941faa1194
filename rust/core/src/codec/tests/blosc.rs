//! Containers of Blosc: our decoder against the C library's, in all its ways of decoding.

use super::{Noise, decode, encode, hex, random, smooth};
use crate::codec::*;

/// Rows that lie apart from each other.
pub(super) struct Rows {
    bytes: Vec<u8>,
    length: usize,
    count: usize,
}

/// Bytes between two rows.
const GAP: usize = 5;

impl Rows {
    pub(super) fn new(total: usize, length: usize) -> Self {
        let count = total.div_ceil(length.max(1));
        Self { bytes: vec![77; count * (length + GAP)], length, count }
    }

    /// All rows joined; the gaps must be untouched.
    fn joined(&self) -> Vec<u8> {
        let rows = self.bytes.chunks(self.length + GAP);
        rows.flat_map(|row| {
            assert_eq!(row[self.length..], [77; GAP]);
            row[..self.length].to_vec()
        })
        .collect()
    }
}

impl RowSink for Rows {
    fn row_bytes(&self) -> usize {
        self.length
    }

    fn row(&mut self, i: usize) -> &mut [u8] {
        assert!(i < self.count);
        let at = i * (self.length + GAP);
        &mut self.bytes[at..at + self.length]
    }
}

fn swapped(data: &[u8], unit: usize) -> Vec<u8> {
    data.chunks(unit).flat_map(|unit| unit.iter().rev().copied()).collect()
}

/// Decode in every way; whole, in rows, with bytes swapped, and in parts.
fn check(codec: &Blosc, stream: &[u8], data: &[u8], typesize: usize, cx: &mut Contexts) {
    let n = data.len();
    let mut exact = vec![1; n];
    codec.decode_exact(stream, &mut exact, cx).unwrap();
    assert!(exact == data, "exact");
    for length in [typesize, 3 * typesize, 40 * typesize, 7, 64, 512, n].into_iter().filter(|&l| l > 0 && n % l == 0) {
        let mut rows = Rows::new(n, length);
        assert!(codec.decode_rows(stream, n, 0, &mut rows, cx).unwrap());
        assert!(rows.joined() == data, "rows of {length}");
        for swap in [2, 4, typesize].into_iter().filter(|&s| s > 1 && n % s == 0) {
            let mut rows = Rows::new(n, length);
            if codec.decode_rows(stream, n, swap, &mut rows, cx).unwrap() {
                assert!(rows.joined() == swapped(data, swap), "rows of {length}, swapped by {swap}");
            } else {
                assert!(rows.bytes.iter().all(|&byte| byte == 77));
            }
        }
    }
    let mut noise = Noise(n as u64 + 7);
    let mut spans = vec![(0, n.min(1)), (n, n)];
    for _ in 0..6 {
        let mut ends: Vec<usize> = (0..6).map(|_| noise.below(n + 1)).collect();
        ends.sort_unstable();
        spans.clone_from(&ends.chunks(2).map(|pair| (pair[0], pair[1])).collect());
        let mut part = vec![0; n];
        assert!(codec.decode_spans(stream, &mut part, &spans, cx).unwrap());
        for &(start, end) in &spans {
            assert!(part[start..end] == data[start..end], "{start} to {end}");
        }
    }
}

#[test]
fn all_settings_decode_as_in_c() {
    let mut cx = Contexts::default();
    let (smooth, random) = (smooth(66_000), random(66_000));
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
        for shuffle in 0..=2 {
            for typesize in [1, 2, 3, 4, 8, 12, 16, 17, 255] {
                for blocksize in [0, 200, 4096, 10_000] {
                    let codec = Blosc::new(cname, 5, shuffle, typesize, blocksize).unwrap();
                    for n in [typesize * 40, 1009, 5000, 65_536] {
                        // Half of it compresses and half does not, so that both kinds of streams occur.
                        let data = [&smooth[..n / 2], &random[..n - n / 2]].concat();
                        let stream = encode(&codec, &data);
                        if cname != "snappy" {
                            let mut reference = vec![0; n];
                            assert_eq!(ffi::blosc_decompress(&stream, &mut reference), Some(n));
                            assert!(reference == data);
                        }
                        check(&codec, &stream, &data, typesize, &mut cx);
                    }
                }
            }
        }
    }
}

#[test]
fn swaps_are_free_where_planes_allow_it() {
    let mut cx = Contexts::default();
    let data = smooth(1 << 16);
    for (typesize, swap, taken) in [(4, 4, true), (8, 4, true), (8, 8, true), (4, 8, false), (4, 3, false)] {
        let codec = Blosc::new("lz4", 5, 1, typesize, 0).unwrap();
        let stream = encode(&codec, &data);
        let mut rows = Rows::new(data.len(), 256);
        assert_eq!(codec.decode_rows(&stream, data.len(), swap, &mut rows, &mut cx).unwrap(), taken);
    }
    let stored = Blosc::new("lz4", 0, 1, 4, 0).unwrap();
    let mut rows = Rows::new(data.len(), 256);
    assert!(!stored.decode_rows(&encode(&stored, &data), data.len(), 4, &mut rows, &mut cx).unwrap());
}

#[test]
fn typesize_of_more_than_a_byte_counts_as_one() {
    for typesize in [0, 256, 1000] {
        let codec = Blosc::new("lz4", 5, 1, typesize, 0).unwrap();
        let stream = encode(&codec, &smooth(5000));
        assert_eq!(stream[3], 1);
        assert!(decode(&codec, &stream, Want::Exact(5000)).unwrap() == smooth(5000));
    }
}

#[test]
fn bytes_after_the_container_are_left_alone() {
    let codec = Blosc::new("lz4", 5, 1, 4, 0).unwrap();
    let mut stream = encode(&codec, &smooth(5000));
    stream.extend([1; 50]);
    assert!(decode(&codec, &stream, Want::Exact(5000)).unwrap() == smooth(5000));
}

#[test]
fn false_bit_shuffle_of_blosc_1_7() {
    let bytes = smooth(4096);
    let mut stream = encode(&Blosc::new("lz4", 5, 0, 1, 0).unwrap(), &bytes);
    stream[2] |= 4;
    let codec = Blosc::new("lz4", 5, 2, 1, 0).unwrap();
    assert!(decode(&codec, &stream, Want::Exact(4096)).unwrap() != bytes);
    assert!(decode(&codec.bytes_in_order(), &stream, Want::Exact(4096)).unwrap() == bytes);
}

#[test]
fn headers_that_lie() {
    let codec = Blosc::new("lz4", 5, 1, 4, 1024).unwrap();
    let good = encode(&codec, &smooth(5000));
    let field = |at: usize, value: u32| {
        let mut stream = good.clone();
        stream[at..at + 4].copy_from_slice(&value.to_le_bytes());
        decode(&codec, &stream, Want::Exact(5000))
    };
    for value in [0, 1, 15, 16, 4999, 5001, i32::MAX as u32, u32::MAX, 1 << 31] {
        for at in [4, 8, 12, 16, 20] {
            assert!(field(at, value).is_err(), "{value} at {at}");
        }
    }
    for (at, value) in [(0, 0), (0, 1), (0, 3), (1, 0), (1, 2), (2, 8), (2, 0xA1), (2, 0xE1), (3, 0)] {
        let mut stream = good.clone();
        stream[at] = value;
        assert!(decode(&codec, &stream, Want::Exact(5000)).is_err(), "{value} at {at}");
    }
}

#[test]
fn a_container_of_the_first_zarr_release() {
    // zarr 0.4.0 with snappy: SNAPPY_SAMPLE
    drop(hex(""));
}

#[test]
fn blosclz_matches_of_any_length() {
    // A match whose length adds up past 2³¹ must end at the room there is.
    let mut stream = vec![0, 65, 0xE0];
    stream.extend(vec![255; 9_000_000]);
    stream.extend([0, 0, 0, 0]);
    let mut dst = vec![0; 1000];
    assert!(blosclz::decompress(&stream, &mut dst).is_none());
}
