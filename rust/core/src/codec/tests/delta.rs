//! Differences in the number types of NumPy.

use super::{decode, encode, random, smooth};
use crate::codec::delta_type::{Kind, Type};
use crate::codec::*;

const INTEGERS: &[&str] = &["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"];

#[test]
fn integers_of_one_width_survive() {
    for name in INTEGERS {
        let width = Type::parse(name).unwrap().kind.size();
        for order in ["<", ">", "=", "|", ""] {
            let codec = Delta::new(&format!("{order}{name}"), &format!("<{name}")).unwrap();
            for n in [0, 1, 2, 255, 256, 257, 5000] {
                let data = random(n * width);
                let encoded = encode(&codec, &data);
                assert!(decode(&codec, &encoded, Want::Exact(data.len())).unwrap() == data, "{order}{name} {n}");
            }
        }
    }
}

#[test]
fn names_of_zarr_are_known_too() {
    assert_eq!(Type::parse("int32"), Type::parse("=i4"));
    assert_eq!(Type::parse("float16").unwrap().kind, Kind::F16);
    assert!(Type::parse("").is_none() && Type::parse("<").is_none() && Type::parse("<i3").is_none());
}

#[test]
fn wider_and_narrower_differences() {
    let slow: Vec<u8> = (0..1000_i32).flat_map(|i| (100_000 + i * 7).to_le_bytes()).collect();
    let wide = Delta::new("<i4", ">i8").unwrap();
    let encoded = encode(&wide, &slow);
    assert_eq!((encoded.len(), wide.bound(4000), wide.decoded_size(8000)), (8000, 8000, Some(4000)));
    assert!(decode(&wide, &encoded, Want::Exact(4000)).unwrap() == slow);
    // The first number does not fit two bytes: it wraps, and so do all sums.
    let narrow = Delta::new("<i4", "<i2").unwrap();
    let back = decode(&narrow, &encode(&narrow, &slow), Want::Exact(4000)).unwrap();
    assert_eq!(back[..4], (100_000_i32 - 131_072).to_le_bytes());
    assert_eq!(back[4..8], (100_007_i32 - 131_072).to_le_bytes());
}

#[test]
fn parts_of_items_are_errors() {
    let codec = Delta::new("<i4", "<i2").unwrap();
    assert_eq!(decode(&codec, &[0; 7], Want::AtMost(100)).unwrap_err().fault, Fault::Corrupt);
    assert_eq!(decode(&codec, &[0; 8], Want::AtMost(15)).unwrap_err().fault, Fault::TooLarge);
    assert_eq!(decode(&codec, &[0; 8], Want::Exact(18)).unwrap_err().fault, Fault::Corrupt);
    assert_eq!(codec.decoded_size(7), None);
    let mut dst = Buffer::default();
    assert!(codec.encode(&smooth(9), &mut dst, &mut Contexts::default()).is_err());
}

#[test]
fn halves_round_to_even() {
    let rounded = [
        (0.0, 0),
        (-0.0, 32_768),
        (1.0, 15_360),
        (65_504.0, 31_743),
        (65_519.99, 31_743),
        (65_520.0, 31_744),
        (1e-8, 0),
        (2.0_f64.powi(-25), 0),
        (2.0_f64.powi(-25) * 1.0001, 1),
        (2.0_f64.powi(-24), 1),
        (6.1e-5, 1023),
        (1.0 / 3.0, 13_653),
        (2049.0, 26_624),
        (2051.0, 26_626),
        (-1.5, 48_640),
        (f64::NEG_INFINITY, 64_512),
    ];
    let half = Type::parse("<f2").unwrap();
    for (x, bits) in rounded {
        let mut bytes = [0; 2];
        half.store_floats(&[x], &mut bytes);
        assert_eq!(u16::from_le_bytes(bytes), bits, "{x}");
    }
    for bits in 0..=u16::MAX {
        let (mut value, mut bytes) = ([0.0], [0; 2]);
        half.load_floats(&bits.to_le_bytes(), &mut value);
        half.store_floats(&value, &mut bytes);
        let same = u16::from_le_bytes(bytes) == bits;
        assert!(same || value[0].is_nan(), "{bits:#06x}");
    }
}

#[test]
fn sums_are_made_in_the_type_that_numpy_takes() {
    let common = |a, b| Type::parse(a).unwrap().kind.float_with(Type::parse(b).unwrap().kind);
    assert_eq!(common("i1", "u4"), None);
    assert_eq!(common("u8", "u1"), None);
    assert_eq!(common("u8", "i8"), Some(Kind::F64));
    assert_eq!(common("f2", "i1"), Some(Kind::F16));
    assert_eq!(common("f2", "u2"), Some(Kind::F32));
    assert_eq!(common("f4", "i2"), Some(Kind::F32));
    assert_eq!(common("f4", "i4"), Some(Kind::F64));
    assert_eq!(common("f4", "f2"), Some(Kind::F32));
}
