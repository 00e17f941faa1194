//! Codecs that make bytes of numbers by themselves.

use super::{Noise, random, smooth};
use crate::codec::*;

fn encode(filter: &dyn Filter, src: &[u8], shape: &[usize]) -> Vec<u8> {
    let mut dst = Buffer::default();
    filter.encode(src, &mut dst, shape, &mut Contexts::default()).unwrap();
    assert!(dst.len() <= filter.encoded_size(Want::Exact(src.len()), shape).max(), "{}", filter.name());
    dst.as_slice().to_vec()
}

fn decode(filter: &dyn Filter, src: &[u8], shape: &[usize], size: usize) -> Result<Vec<u8>, CodecError> {
    let mut dst = Buffer::default();
    filter.decode(src, &mut dst, shape, Want::Exact(size), &mut Contexts::default())?;
    assert_eq!(dst.len(), size);
    Ok(dst.as_slice().to_vec())
}

fn pcodec(kind: NumberKind, size: usize) -> Pcodec {
    let options = PcodecOptions { level: 8, find_mode: true, delta: "auto".into(), delta_order: 0, page: 1000 };
    Pcodec::new(kind, (size, false), 1, &options).unwrap()
}

fn zfp(mode: ZfpMode, kind: ZfpType) -> Zfp {
    Zfp::new(mode, kind, false, false).unwrap()
}

const LOSSLESS: &[ZfpType] = &[
    ZfpType::Int8,
    ZfpType::UInt8,
    ZfpType::Int16,
    ZfpType::UInt16,
    ZfpType::Int32,
    ZfpType::Int64,
    ZfpType::Float32,
    ZfpType::Float64,
];

#[test]
fn zfp_loses_nothing_if_asked() {
    for (kind, size) in LOSSLESS.iter().zip([1, 1, 2, 2, 4, 8, 4, 8]) {
        for shape in [&[][..], &[1], &[37], &[5, 9], &[3, 6, 7], &[2, 5, 3, 6], &[0, 4]] {
            let n = shape.iter().product::<usize>() * size;
            for data in [random(n), smooth(n), vec![0; n], vec![255; n]] {
                let codec = zfp(ZfpMode::Reversible, *kind);
                let encoded = encode(&codec, &data, shape);
                assert_eq!(decode(&codec, &encoded, shape, n).unwrap(), data, "{kind:?} {shape:?}");
            }
        }
    }
}

#[test]
fn zfp_takes_no_more_bits_than_it_may() {
    let data = smooth(4 * 400);
    for rate in [4.0, 9.5, 32.0] {
        let codec = zfp(ZfpMode::Rate(rate), ZfpType::Float32);
        let bits = 25.0 * (16.0 * rate + 0.5_f64).floor();
        assert_eq!(encode(&codec, &data, &[20, 20]).len(), (bits as usize).div_ceil(64) * 8);
    }
}

#[test]
fn zfp_settings_out_of_range() {
    let expert = |minbits, maxbits, maxprec| ZfpMode::Expert { minbits, maxbits, maxprec, minexp: -1074 };
    for mode in [expert(2, 1, 64), expert(0, 11, 64), expert(0, 100, 0), expert(0, 100, 65), ZfpMode::Rate(70.0)] {
        assert_eq!(Zfp::new(mode, ZfpType::Float64, false, false).unwrap_err().fault, Fault::Config);
    }
    let codec = zfp(ZfpMode::Reversible, ZfpType::Float64);
    let mut dst = Buffer::default();
    for (n, shape) in [(8, &[1, 1, 1, 1, 1][..]), (7, &[1]), (8, &[2])] {
        assert!(codec.encode(&vec![0; n], &mut dst, shape, &mut Contexts::default()).is_err());
    }
    let nan = f64::NAN.to_le_bytes();
    let lossy = zfp(ZfpMode::Precision(9), ZfpType::Float64);
    assert!(lossy.encode(&nan, &mut dst, &[1], &mut Contexts::default()).is_err());
}

#[test]
fn pcodec_loses_nothing() {
    for kind in [NumberKind::Float, NumberKind::Signed, NumberKind::Unsigned] {
        for size in [2, 4, 8] {
            for n in [0, 1, 255, 5000] {
                for data in [random(n * size), smooth(n * size)] {
                    let codec = pcodec(kind, size);
                    let encoded = encode(&codec, &data, &[n]);
                    assert_eq!(decode(&codec, &encoded, &[n], n * size).unwrap(), data);
                }
            }
        }
    }
}

#[test]
fn damage_does_no_harm() {
    let header = Zfp::new(ZfpMode::Accuracy(0.1), ZfpType::Float64, true, true).unwrap();
    let mut noise = Noise(11);
    let filters: [&dyn Filter; 4] = [
        &zfp(ZfpMode::Reversible, ZfpType::Float64),
        &zfp(ZfpMode::Rate(8.0), ZfpType::Float64),
        &header,
        &pcodec(NumberKind::Float, 8),
    ];
    for filter in filters {
        let encoded = encode(filter, &vec![1; 8 * 200], &[10, 20]);
        // The last word of zfp may be filling.
        for cut in 0..encoded.len() - 8 {
            assert!(decode(filter, &encoded[..cut], &[10, 20], 1600).is_err(), "{} {cut}", filter.name());
        }
        for _ in 0..500 {
            let mut broken = encoded.clone();
            let at = noise.below(broken.len());
            broken[at] = noise.next() as u8;
            drop(decode(filter, &broken, &[10, 20], 1600));
            drop(decode(filter, &random(300), &[10, 20], 1600));
        }
    }
}
