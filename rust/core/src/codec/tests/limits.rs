//! Bombs and false claims: a few bytes that want to become many.

use super::{all, boxed, decode, encode};
use crate::codec::*;

#[test]
fn bombs_stop_at_the_expected_size() {
    let zeros = vec![0; 32 << 20];
    for step in [
        boxed(Zstd::new(3, false)),
        boxed(Gzip::new(9)),
        boxed(Zlib::new(9)),
        boxed(Lz4::new(1)),
        boxed(Bz2::new(9)),
        boxed(Lzma::new(1, -1, Some(0), None)),
        boxed(Lzma::new(2, -1, Some(0), None)),
        boxed(Blosc::new("lz4", 5, 1, 4, 0)),
        boxed(Blosc::new("zstd", 5, 1, 4, 0)),
    ] {
        let bomb = encode(&*step, &zeros);
        assert!(bomb.len() < zeros.len() / 100);
        for want in [Want::Exact(10), Want::AtMost(10), Want::AtMost(1 << 20)] {
            // `decode` also checks that no more room is made than that.
            assert_eq!(decode(&*step, &bomb, want).unwrap_err().fault, Fault::TooLarge, "{}", step.name());
        }
    }
}

#[test]
fn a_false_size_makes_no_room() {
    // 2³²-1 bytes in a block of 6; 2³¹-1 bytes in a container of 24.
    let lz4 = super::hex("ffffffff 500000000000");
    assert_eq!(decode(&Lz4::new(1).unwrap(), &lz4, Want::AtMost(1 << 20)).unwrap_err().fault, Fault::TooLarge);
    assert_eq!(decode(&Lz4::new(1).unwrap(), &lz4, Want::AtMost(usize::MAX >> 1)).unwrap_err().fault, Fault::Corrupt);
    let blosc = super::hex("02012104 ffffff7f 00000100 18000000 14000000 00000000");
    let codec = Blosc::new("lz4", 5, 1, 4, 0).unwrap();
    assert_eq!(decode(&codec, &blosc, Want::AtMost(1 << 20)).unwrap_err().fault, Fault::TooLarge);
}

#[test]
fn errors_give_sizes() {
    for step in all() {
        let encoded = encode(&*step, &super::smooth(5000));
        let error = decode(&*step, &encoded, Want::Exact(6000)).unwrap_err();
        assert!(error.message.contains("6000") || error.message.contains("5000"), "{error}");
        assert_eq!(error.codec, step.name());
    }
}

#[test]
fn a_few_parameters_describe_no_million_parts() {
    // An array of numbers of one byte with seven bits each.
    let array = |n: u32| NBit::new(&[10, 0, 1, 2, n, 1, 1, 0, 7, 0], None);
    assert!(array(1 << 16).is_ok());
    assert_eq!(array(1 << 20).unwrap_err().fault, Fault::Config);
}
