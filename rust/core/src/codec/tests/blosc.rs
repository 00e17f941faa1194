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
    for length in
        [typesize, 3 * typesize, 40 * typesize, 7, 64, 512, n].into_iter().filter(|&l| l > 0 && n.is_multiple_of(l))
    {
        let mut rows = Rows::new(n, length);
        assert!(codec.decode_rows(stream, n, 0, &mut rows, cx).unwrap());
        assert!(rows.joined() == data, "rows of {length}");
        for swap in [2, 4, typesize].into_iter().filter(|&s| s > 1 && n.is_multiple_of(s)) {
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
        check_fetched(codec, stream, data, &spans, cx);
    }
    let third = n / 3;
    check_fetched(codec, stream, data, &[(third, third + n / 50)], cx);
}

/// Fetch spans from a stream that is stored elsewhere, into a window that begins with the first of them.
fn check_fetched(codec: &Blosc, stream: &[u8], data: &[u8], spans: &[(usize, usize)], cx: &mut Contexts) {
    let mut fetched = 0;
    let mut fetch = |offset: usize, place: &mut [u8]| {
        place.copy_from_slice(&stream[offset..offset + place.len()]);
        fetched += place.len();
        Ok(())
    };
    let (from, end) = (spans[0].0, spans.last().unwrap().1);
    let mut dst = vec![0; end - from];
    let mut window = Window { dst: &mut dst, from, total: data.len() };
    let mut source = Encoded { size: stream.len(), fetch: &mut fetch };
    if codec.fetch_spans(&mut source, &mut window, spans, cx).unwrap() {
        for &(start, end) in spans {
            assert!(dst[start - from..end - from] == data[start..end], "{start} to {end}");
        }
        assert!(fetched <= stream.len() + 4096);
    }
}

#[test]
fn a_small_part_is_fetched_alone() {
    let (mut cx, data) = (Contexts::default(), smooth(1 << 20));
    let codec = Blosc::new("lz4", 5, 1, 4, 32 << 10).unwrap();
    let stream = encode(&codec, &data);
    let mut ranges = Vec::new();
    let mut fetch = |offset: usize, place: &mut [u8]| {
        place.copy_from_slice(&stream[offset..offset + place.len()]);
        ranges.push(place.len());
        Ok(())
    };
    let mut dst = vec![0; 100];
    let mut window = Window { dst: &mut dst, from: 500_000, total: data.len() };
    let mut source = Encoded { size: stream.len(), fetch: &mut fetch };
    assert!(codec.fetch_spans(&mut source, &mut window, &[(500_000, 500_100)], &mut cx).unwrap());
    assert!(dst == data[500_000..500_100]);
    assert_eq!(ranges.len(), 2);
    assert!(ranges.iter().sum::<usize>() < stream.len() / 4, "{ranges:?} of {}", stream.len());
}

#[test]
fn a_damaged_table_of_blocks_is_noticed() {
    let (mut cx, data) = (Contexts::default(), smooth(1 << 20));
    let codec = Blosc::new("lz4", 5, 1, 4, 32 << 10).unwrap();
    let good = encode(&codec, &data);
    let blocksize = u32::from_le_bytes(*good[8..].first_chunk().unwrap()) as usize;
    let entry = 16 + 500_000 / blocksize * 4;
    for (at, value) in [(12, u32::MAX), (4, 77), (entry, 0x7fff_ffff), (entry, 0)] {
        let mut stream = good.clone();
        stream[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let mut fetch = |offset: usize, place: &mut [u8]| {
            place.copy_from_slice(&stream[offset..offset + place.len()]);
            Ok(())
        };
        let mut dst = vec![0; 100];
        let mut window = Window { dst: &mut dst, from: 500_000, total: data.len() };
        let mut source = Encoded { size: good.len(), fetch: &mut fetch };
        let found = codec.fetch_spans(&mut source, &mut window, &[(500_000, 500_100)], &mut cx);
        assert!(!matches!(found, Ok(true)), "{value} at {at}");
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
fn our_lz4_containers_are_those_of_the_c_library() {
    let (smooth, random) = (smooth(2_200_000), random(100_000));
    for (cname, name) in [("lz4", c"lz4"), ("lz4hc", c"lz4hc")] {
        for (clevel, shuffle) in (0..=9).flat_map(|level| [(level, 0), (level, 1), (level, 2)]) {
            for typesize in [1, 2, 3, 4, 8, 16, 17, 255] {
                for blocksize in [0, 1, 5000, 300_000] {
                    let codec = Blosc::new(cname, i32::from(clevel), i32::from(shuffle), typesize, blocksize).unwrap();
                    let params = ffi::BloscParams { cname: name, clevel, shuffle, typesize, blocksize };
                    let mut data = vec![&smooth[..0], &smooth[..1], &smooth[..127], &smooth[..40_003], &random[..9000]];
                    if (clevel, shuffle, blocksize) == (5, 1, 0) || (clevel, shuffle, typesize) == (9, 1, 4) {
                        data.extend([&smooth[..], &random[..]]);
                    }
                    for data in data {
                        let mut reference = vec![0; data.len() + 16];
                        let made = ffi::blosc_compress(&params, data, &mut reference).unwrap();
                        let ours = encode(&codec, data);
                        assert!(ours == reference[..made], "{cname} {clevel} {shuffle} {typesize} {blocksize}");
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
    let bytes: Vec<u8> = (0..4096_u32).map(|i| (i / 100) as u8).collect();
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

/// The last chunk of 5000 doubles `i // 7`, written by zarr 0.4.0 with snappy and the bit shuffle.
const SNAPPY: &str = "\
    020144080040000000400000b2030000140000006400000080100000fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe01 \
    00fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe01 \
    00fe0100fe0100fe0100fe0100fa01006400000080100000fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100 \
    fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100 \
    fe0100fe0100fe0100fa01006400000080100000fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe \
    0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe \
    0100fe0100fa01006400000080100000fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe01 \
    00fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe01 \
    00fa01006400000080100000fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100 \
    fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fa0100 \
    a000000080100000fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fa0100183fe00ff803fe80fe07 \
    00a60700fe7003fe70033a700314c0ff0f00fcfffe0700aa0700fe0001fe00013a0001140000f0fffffffe0700ae0700fe0100fe0100 \
    36010000ff05010d94050c250e0101fe0e00560e00015afe0100fe01004201000deb0d01369f000d150d01fe1c00091cfe0100fe0100 \
    190181000000801000004a010000ff6a01004a2f0015016a3700723800fe0100ee01006eb4004e0100deac00154cde4100fe0100fe01 \
    000d0115c8de0100fec800fec8000dc8fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe01 \
    00fe0100fe0100fe01001101dec704e20100fe7904fe79043a79046900000080100000fe0100fe0100fe0100fe0100fe0100fe0100fe \
    0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fe0100fa010000 \
    fffe0100be0100fe7006fe7006fe7006fe7006fe7006fe70063a7006";

#[test]
fn a_container_of_an_early_zarr_release() {
    let values = (4096..5000_u16).map(|i| f64::from(i / 7)).chain(std::iter::repeat(0.0)).take(2048);
    let expected: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
    let codec = Blosc::new("snappy", 5, 2, 8, 0).unwrap();
    check(&codec, &hex(SNAPPY), &expected, 8, &mut Contexts::default());
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

#[test]
fn an_empty_container_takes_no_memory_for_the_blocks_it_claims() {
    let codec = Blosc::new("lz4", 5, 1, 4, 0).unwrap();
    for flags in [0x21, 0x24] {
        let mut stream = vec![2, 1, flags, 4, 0, 0, 0, 0];
        stream.extend(0x7FFF_FFFFu32.to_le_bytes());
        stream.extend(16u32.to_le_bytes());
        let mut cx = Contexts::default();
        codec.decode_exact(&stream, &mut [], &mut cx).unwrap();
        codec.decode(&stream, &mut Buffer::default(), Want::Exact(0), &mut cx).unwrap();
        assert!(cx.scratch.capacity() + cx.second.capacity() < 1 << 16);
    }
}
