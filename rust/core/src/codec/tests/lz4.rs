//! Raw LZ4 blocks and the kernels under the shuffles: each fast way against the plain one.

use super::{Noise, random, smooth};
use crate::codec::stores::Stores;
use crate::codec::*;
use crate::codec::{ffi, lz4_block, lz77, unshuffle};

fn block(data: &[u8]) -> Vec<u8> {
    let mut room = vec![0; ffi::lz4_bound(data.len()).unwrap()];
    let made = ffi::lz4_compress(data, &mut room, 1).unwrap();
    room[..made].to_vec()
}

#[test]
fn long_matches_of_every_period() {
    for period in (1..70).chain([255, 4096, 65_535]) {
        let pattern = random(period);
        let data: Vec<u8> = pattern.iter().copied().cycle().take(200_000 + period * 64).collect();
        let stream = block(&data);
        let mut dst = vec![0; data.len()];
        assert_eq!(lz4_block::decompress(&stream, &mut dst), Some(data.len()));
        assert!(dst == data, "period {period}");
        for cut in 0..stream.len().min(400) {
            let mut dst = vec![0; data.len()];
            let made = lz4_block::decompress(&stream[..cut], &mut dst);
            assert!(made.is_none_or(|made| made < data.len() && dst[..made] == data[..made]));
        }
        let mut short = vec![0; data.len() - 1];
        assert_eq!(lz4_block::decompress(&stream, &mut short), None);
    }
}

#[test]
fn damaged_long_matches() {
    let data = [vec![7; 100_000], smooth(300), vec![9; 100_000]].concat();
    let stream = block(&data);
    let mut noise = Noise(5);
    for _ in 0..3000 {
        let mut broken = stream.clone();
        broken[noise.below(stream.len())] = noise.next() as u8;
        let mut dst = vec![0; data.len()];
        let _ = lz4_block::decompress(&broken, &mut dst);
    }
}

#[test]
fn matches_reach_no_further_than_the_output() {
    let mut dst = [1, 2, 3, 0, 0, 0];
    assert_eq!(lz77::copy_match(&mut dst, 3, 3, 2), Some(6));
    assert_eq!(dst, [1, 2, 3, 2, 3, 2]);
    assert_eq!(lz77::copy_match(&mut dst, 3, 3, 4), None);
    assert_eq!(lz77::copy_match(&mut dst, 3, 3, 0), None);
    assert_eq!(lz77::copy_match(&mut dst, 3, 4, 1), None);
    assert_eq!(lz77::copy_match(&mut dst, 3, usize::MAX, 1), None);
}

#[test]
fn stores_around_the_caches_write_the_same_at_every_address() {
    let data = random(16 * 300);
    for width in [2, 3, 4, 8, 16] {
        for n in [32, 33, 64, 95, 96, 300] {
            let planes: Vec<&[u8]> = data.chunks_exact(n).take(width).collect();
            let mut plain = vec![0; n * width];
            unshuffle::portable(&planes, 0, &mut plain);
            for offset in 0..70 {
                let mut around = vec![77; offset + n * width + 1];
                let stores = Stores::new(true);
                unshuffle::unshuffle_by(&stores, &planes, 0, &mut around[offset..offset + n * width]);
                drop(stores);
                assert!(around[offset..offset + n * width] == plain, "{width} {n} {offset}");
                assert!(around[..offset].iter().chain(around.last()).all(|&byte| byte == 77));
            }
        }
    }
}

#[test]
fn kernels_agree_with_plain_code() {
    let data = random(40_000);
    for width in [1, 2, 3, 4, 5, 8, 12, 16, 31] {
        for n in [0, 1, 2, 15, 16, 31, 32, 33, 63, 64, 65, 100, 1000] {
            let bytes = n * width;
            let planes: Vec<&[u8]> = data[..bytes].chunks_exact(n.max(1)).take(width).collect();
            for first in [0, 1, 7, n / 2].into_iter().filter(|&first| first <= n) {
                let (mut fast, mut plain) = (vec![0; (n - first) * width], vec![0; (n - first) * width]);
                unshuffle::unshuffle(&planes, first, &mut fast);
                unshuffle::portable(&planes, first, &mut plain);
                assert!(fast == plain, "{width} {n} {first}");
                for (i, element) in plain.chunks_exact(width).enumerate() {
                    assert!(element.iter().zip(&planes).all(|(&byte, plane)| byte == plane[first + i]));
                }
            }
            for tail in 0..width.min(3) {
                let source = &data[..bytes + tail];
                let (mut fast, mut plain) = (vec![0; source.len()], source.to_vec());
                unshuffle::shuffle(width, source, &mut fast);
                unshuffle::portable_shuffle(width, source, &mut plain, n);
                assert!(fast == plain, "{width} {n} {tail}");
            }
        }
    }
}

#[test]
fn bits_transpose_to_and_fro() {
    for n in [0, 7, 8, 64, 1000] {
        let data = random(n);
        let (mut fast, mut plain) = (data.clone(), data.clone());
        unshuffle::transpose_bits(&mut fast);
        unshuffle::transpose_portable(&mut plain);
        assert!(fast == plain);
        if let (Some(&byte), Some(&turned)) = (data.first(), fast.first()) {
            assert!(n < 8 || (turned & 1 == byte & 1 && fast[1] & 1 == byte >> 1 & 1));
        }
        unshuffle::transpose_bits(&mut fast);
        assert!(fast == data);
    }
}

#[test]
fn shuffle_takes_whole_elements_only() {
    for (width, n) in [(2, 1001), (4, 6), (300, 299)] {
        let codec = Shuffle::new(width).unwrap();
        let mut dst = Buffer::default();
        assert!(codec.encode(&random(n), &mut dst, &mut Contexts::default()).is_err());
        assert_eq!(super::decode(&codec, &random(n), Want::Exact(n)).unwrap_err().fault, Fault::Corrupt);
    }
    for width in [0, 1, 2, 3, 4, 7, 8, 16, 255, 257, 3000] {
        let codec = Shuffle::new(width).unwrap();
        for n in [0, 1, 2, 3, 100] {
            let data = random(n * width.max(1));
            assert!(super::decode(&codec, &super::encode(&codec, &data), Want::Exact(data.len())).unwrap() == data);
        }
    }
}
