//! Codecs that are told the shape.

use std::sync::Arc;

use super::{Noise, random};
use crate::cell::Dims;
use crate::codec::*;

fn encode(filter: &dyn Filter, src: &[u8], shape: &[usize]) -> Vec<u8> {
    let mut dst = Buffer::default();
    filter.encode(src, &mut dst, shape, &mut Contexts::default()).unwrap();
    let size = filter.encoded_size(Want::Exact(src.len()), shape);
    match size {
        Want::Exact(n) => assert_eq!(dst.len(), n),
        Want::AtMost(n) => assert!(dst.len() <= n),
    }
    dst.as_slice().to_vec()
}

fn decode(filter: &dyn Filter, src: &[u8], n: usize, shape: &[usize]) -> Result<Vec<u8>, CodecError> {
    let mut dst = Buffer::default();
    filter.decode(src, &mut dst, shape, Want::Exact(n), &mut Contexts::default())?;
    assert_eq!(dst.len(), n);
    Ok(dst.as_slice().to_vec())
}

fn int4(padding: Padding) -> PackBits {
    PackBits::new((1, false), 1, (0, 3), Some(8), padding).unwrap()
}

#[test]
fn packbits_puts_the_first_element_lowest() {
    let bools = PackBits::new((1, false), 1, (0, 0), None, Padding::First).unwrap();
    assert_eq!(encode(&bools, &[1, 0, 0, 1, 1, 0, 0, 0, 0, 1], &[10]), [6, 0b0001_1001, 0b10]);
    // -8, 7 and -1, as 0x8, 0x7 and 0xF; upper bits do not count.
    let packed = encode(&int4(Padding::Last), &[0xF8, 0x07, 0x3F], &[3]);
    assert_eq!(packed, [0x78, 0x0F, 4]);
    assert_eq!(decode(&int4(Padding::Last), &packed, 3, &[3]).unwrap(), [0xF8, 0x07, 0xFF]);
    let narrow = PackBits::new((1, false), 1, (0, 2), Some(4), Padding::None).unwrap();
    assert_eq!(decode(&narrow, &[0b0011_1110], 2, &[2]).unwrap(), [0x0E, 0x0F]);
    assert_eq!(encode(&int4(Padding::None), &[], &[0]), [0u8; 0]);
    assert_eq!(encode(&int4(Padding::First), &[], &[0]), [0]);
}

#[test]
fn packbits_of_every_width_and_order() {
    for (size, big) in [(1, false), (2, false), (2, true), (4, true), (8, false), (8, true)] {
        let data = random(size * 37);
        let bits = size as u32 * 8;
        for (first, last) in [(0, bits - 1), (0, 2), (1, 6), (bits - 3, bits - 1), (bits / 2, bits - 1)] {
            for signed in [false, true] {
                let codec =
                    PackBits::new((size, big), 1, (first, last), signed.then_some(bits), Padding::First).unwrap();
                let packed = encode(&codec, &data, &[37]);
                let back = decode(&codec, &packed, data.len(), &[37]).unwrap();
                for (from, to) in data.chunks(size).zip(back.chunks(size)) {
                    let number = |bytes: &[u8]| {
                        let order = |(i, &b): (usize, &u8)| u64::from(b) << (8 * if big { size - 1 - i } else { i });
                        bytes.iter().enumerate().map(order).sum::<u64>()
                    };
                    let width = last - first + 1;
                    let kept = (number(from) >> first) & (u64::MAX >> (64 - width));
                    let extended =
                        if signed && kept >> (width - 1) == 1 { kept | (u64::MAX << (width - 1)) } else { kept };
                    assert_eq!(number(to), extended << first & (u64::MAX >> (64 - bits)));
                }
            }
        }
    }
}

#[test]
fn packbits_of_the_wrong_size_is_corrupt() {
    let codec = int4(Padding::First);
    for stream in [&[][..], &[4], &[4, 1], &[4, 1, 2, 3], &[3, 1, 2], &[0, 1, 2]] {
        assert_eq!(decode(&codec, stream, 3, &[3]).unwrap_err().fault, Fault::Corrupt, "{stream:?}");
    }
    assert!(codec.encode(&[1; 4], &mut Buffer::default(), &[3], &mut Contexts::default()).is_err());
}

#[test]
fn numcodecs_puts_the_first_boolean_highest() {
    assert_eq!(encode(&BoolBits, &[1, 0, 0, 9], &[2, 2]), [4, 144]);
    assert_eq!(decode(&BoolBits, &[4, 144], 4, &[2, 2]).unwrap(), [1, 0, 0, 1]);
    assert_eq!(BoolBits.encoded_shape(&[3, 5]).as_slice(), [3]);
    for stream in [&[][..], &[4], &[3, 144], &[4, 1, 2]] {
        assert_eq!(decode(&BoolBits, stream, 4, &[4]).unwrap_err().fault, Fault::Corrupt);
    }
}

fn rounded<const N: usize>(codec: &BitRound, values: [u32; N]) -> [u32; N] {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    let made = super::encode(codec, &bytes);
    let mut words = made.chunks(4).map(|c| u32::from_be_bytes(c.try_into().unwrap()));
    std::array::from_fn(|_| words.next().unwrap())
}

#[test]
fn floats_round_half_to_even_and_stay_nan() {
    let codec = BitRound::new((4, true), Rounded::Float(23), 3).unwrap();
    let values = [0.0, 0.1, 1.2, 12.3, 123.4, 1234.5, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1.0625];
    let expect = [0.0, 0.101_562_5, 1.25, 12.0, 120.0, 1280.0, f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, -1.0];
    assert_eq!(rounded(&codec, values.map(f32::to_bits)), expect.map(f32::to_bits));
    for keep in [0, 1, 3, 22] {
        let codec = BitRound::new((4, true), Rounded::Float(23), keep).unwrap();
        let nans = [0x7FC0_0000, 0xFFC0_0000, 0x7F80_0001, 0xFFFF_FFFF, 0x7FFF_FFFF, 0xFF80_0001];
        for (before, after) in nans.iter().zip(rounded(&codec, nans)) {
            assert!(f32::from_bits(after).is_nan(), "{before:x} {after:x}");
            assert_eq!(before >> 31, after >> 31);
        }
    }
}

#[test]
fn integers_keep_their_highest_bits() {
    let codec = BitRound::new((1, false), Rounded::Integer { signed: false }, 3).unwrap();
    let made = super::encode(&codec, &[0, 1, 10, 11, 100, 123, 200, 208, 209, 255]);
    assert_eq!(made, [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]);
    assert_eq!(super::decode(&codec, &made, Want::Exact(10)).unwrap(), made);
}

#[test]
fn signed_integers_keep_their_sign() {
    let codec = BitRound::new((1, false), Rounded::Integer { signed: true }, 3).unwrap();
    let values: [i8; 11] = [0, 1, -1, 11, -11, 100, -100, 123, -123, 127, -128];
    let made = super::encode(&codec, &values.map(i8::cast_unsigned));
    let expect: [i8; 11] = [0, 1, -1, 12, -12, 96, -96, 112, -128, 112, -128];
    assert_eq!(made, expect.map(i8::cast_unsigned));
    let wide = BitRound::new((8, false), Rounded::Integer { signed: true }, 1).unwrap();
    let ends: Vec<u8> = [i64::MIN, i64::MAX, -3].into_iter().flat_map(i64::to_le_bytes).collect();
    let expect: Vec<u8> = [i64::MIN, 1 << 62, -4].into_iter().flat_map(i64::to_le_bytes).collect();
    assert_eq!(super::encode(&wide, &ends), expect);
}

#[test]
fn shapes() {
    let to = |lengths: Vec<Length>| Reshape::To(lengths);
    let pairs = to(vec![Length::Of(vec![0, 1]), Length::Of(vec![2]), Length::Fixed(3)]);
    assert_eq!(pairs.shape(&[4, 5, 2, 3]).unwrap().as_slice(), [20, 2, 3]);
    assert_eq!(pairs.shape(&[4, 5, 2, 4]), None);
    assert_eq!(pairs.shape(&[4]), None);
    assert_eq!(to(vec![Length::Rest, Length::Fixed(4)]).shape(&[6, 2]).unwrap().as_slice(), [3, 4]);
    assert_eq!(to(vec![Length::Rest, Length::Fixed(5)]).shape(&[6, 2]), None);
    assert_eq!(to(vec![Length::Rest]).shape(&[]).unwrap().as_slice(), [1]);
    assert_eq!(to(vec![Length::Fixed(usize::MAX), Length::Fixed(3)]).shape(&[5]), None);
    assert_eq!(Reshape::Squeeze.shape(&[4, 1, 3, 1]).unwrap().as_slice(), [4, 3]);
    assert_eq!(pairs.apply(&[4]).unwrap_err().fault, Fault::Config);
}

fn n5(shape: &[usize]) -> N5 {
    let zlib: Arc<dyn Step> = Arc::new(Zlib::new(1).unwrap());
    N5::new(2, 2, Dims::from_slice(shape), Series::new(vec![zlib]))
}

#[test]
fn blocks_say_their_shape_from_the_last_dimension_on() {
    let data: Vec<u8> = (0..12).flat_map(|i: u16| i.to_le_bytes()).collect();
    let codec = N5::new(2, 2, Dims::from_slice(&[3, 4]), Series::new(vec![]));
    let encoded = encode(&codec, &data, &[3, 4]);
    assert_eq!(encoded[..12], [0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 3]);
    assert_eq!(encoded[12..16], [0, 0, 0, 1]);
    assert_eq!(decode(&codec, &encoded, 24, &[3, 4]).unwrap(), data);
}

#[test]
fn blocks_that_are_smaller_or_larger_than_the_chunk() {
    let numbers = |n: u16| -> Vec<u8> { (1..=n).flat_map(u16::to_le_bytes).collect() };
    let codec = n5(&[3, 4]);
    let cut = encode(&codec, &numbers(6), &[2, 3]);
    let got = decode(&codec, &cut, 24, &[3, 4]).unwrap();
    let expect: Vec<u8> = [1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0].iter().flat_map(|n: &u16| n.to_le_bytes()).collect();
    assert_eq!(got, expect);
    let full = encode(&codec, &numbers(12), &[3, 4]);
    let got = decode(&codec, &full, 12, &[2, 3]).unwrap();
    let expect: Vec<u8> = [1, 2, 3, 5, 6, 7].iter().flat_map(|n: &u16| n.to_le_bytes()).collect();
    assert_eq!(got, expect);
    let large = encode(&n5(&[9, 9]), &numbers(81), &[9, 9]);
    assert_eq!(decode(&codec, &large, 24, &[3, 4]).unwrap_err().fault, Fault::Corrupt);
}

#[test]
fn other_kinds_of_blocks_are_errors() {
    let codec = n5(&[3, 4]);
    let mut encoded = encode(&codec, &[7; 24], &[3, 4]);
    for (mode, fault) in [(1, Fault::Config), (2, Fault::Config), (3, Fault::Corrupt)] {
        encoded[1] = mode;
        assert_eq!(decode(&codec, &encoded, 24, &[3, 4]).unwrap_err().fault, fault);
    }
    encoded[1] = 0;
    assert_eq!(decode(&codec, &encoded, 14, &[7]).unwrap_err().fault, Fault::Corrupt);
    for cut in 0..encoded.len() {
        assert!(decode(&codec, &encoded[..cut], 24, &[3, 4]).is_err());
    }
    let mut noise = Noise(5);
    for _ in 0..2000 {
        let mut broken = encoded.clone();
        let at = noise.below(broken.len());
        broken[at] = noise.next() as u8;
        drop(decode(&codec, &broken, 24, &[3, 4]));
    }
}
