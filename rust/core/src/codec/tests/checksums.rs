//! Checksums against published values.

use super::{decode, encode};
use crate::codec::jenkins::lookup3;
use crate::codec::xxhash32::xxhash32;
use crate::codec::*;

#[test]
fn lookup3_of_its_author() {
    let text = b"Four score and seven years ago";
    assert_eq!(lookup3(b"", b"", 0), 0xDEAD_BEEF);
    assert_eq!(lookup3(b"", text, 0), 0x1777_0551);
    assert_eq!(lookup3(b"", text, 1), 0xCD62_8161);
    for split in 0..=text.len() {
        assert_eq!(lookup3(&text[..split], &text[split..], 1), 0xCD62_8161, "{split}");
    }
}

#[test]
fn xxhash32_of_its_author() {
    assert_eq!(xxhash32(b"", 0), 0x02CC_5D05);
    assert_eq!(xxhash32(b"abc", 0), 0x32D1_53FF);
    assert_eq!(xxhash32(b"Nobody inspects the spammish repetition", 0), 0xE229_3B2F);
}

#[test]
fn sums_stand_where_they_should() {
    let data = b"123456789";
    let at = |sum, start: bool| encode(&Checksum::new(sum, start), data);
    assert_eq!(at(Sum::Crc32, true)[..4], 0xCBF4_3926_u32.to_le_bytes());
    assert_eq!(at(Sum::Crc32, false)[9..], 0xCBF4_3926_u32.to_le_bytes());
    assert_eq!(at(Sum::Crc32c, true)[..4], 0xE306_9283_u32.to_le_bytes());
    assert_eq!(at(Sum::Adler32, true)[..4], 0x091E_01DE_u32.to_le_bytes());
}

#[test]
fn every_turned_bit_is_found() {
    for (sum, start) in [(Sum::Crc32, true), (Sum::Adler32, false), (Sum::Fletcher32, false)] {
        let codec = Checksum::new(sum, start);
        let mut encoded = encode(&codec, b"some bytes");
        for bit in 0..encoded.len() * 8 {
            encoded[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&codec, &encoded, Want::Exact(10)).unwrap_err().fault, Fault::Checksum);
            encoded[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
