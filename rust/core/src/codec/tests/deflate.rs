//! Members, headers, trailers and padding of gzip and zlib.

use super::{boxed, decode, encode, smooth};
use crate::codec::*;

fn gzip(stream: &[u8], want: Want) -> Result<Vec<u8>, CodecError> {
    decode(&Gzip::new(5).unwrap(), stream, want)
}

#[test]
fn members_follow_each_other() {
    let data = smooth(10_000);
    let codec = Gzip::new(5).unwrap();
    let mut stream: Vec<u8> = data.chunks(3000).flat_map(|part| encode(&codec, part)).collect();
    assert!(gzip(&stream, Want::Exact(10_000)).unwrap() == data);
    assert!(gzip(&stream, Want::AtMost(1 << 20)).unwrap() == data);
    assert_eq!(gzip(&stream, Want::AtMost(9_999)).unwrap_err().fault, Fault::TooLarge);
    stream.extend([0; 300]);
    assert!(gzip(&stream, Want::Exact(10_000)).unwrap() == data);
    stream.push(1);
    assert_eq!(gzip(&stream, Want::Exact(10_000)).unwrap_err().fault, Fault::Corrupt);
}

#[test]
fn trailing_bytes_are_errors() {
    for step in [boxed(Gzip::new(5)), boxed(Zlib::new(5))] {
        for tail in [&b"x"[..], b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\0"] {
            let mut stream = encode(&*step, &smooth(100));
            stream.extend(tail);
            assert_eq!(decode(&*step, &stream, Want::Exact(100)).unwrap_err().fault, Fault::Corrupt);
        }
    }
}

#[test]
fn either_frame_is_read_by_both() {
    let data = smooth(1000);
    for (writer, reader) in [(boxed(Gzip::new(5)), boxed(Zlib::new(5))), (boxed(Zlib::new(0)), boxed(Gzip::new(5)))] {
        assert!(decode(&*reader, &encode(&*writer, &data), Want::Exact(1000)).unwrap() == data);
    }
}

#[test]
fn optional_header_fields() {
    let data = smooth(500);
    let plain = encode(&Gzip::new(5).unwrap(), &data);
    let mut stream = plain[..10].to_vec();
    stream[3] = 2 | 4 | 8 | 16;
    stream.extend(b"\x03\0abc");
    stream.extend(b"name.bin\0a comment\0");
    stream.extend(b"\x12\x34");
    stream.extend(&plain[10..]);
    assert!(gzip(&stream, Want::Exact(500)).unwrap() == data);
    for cut in 0..stream.len() {
        assert!(gzip(&stream[..cut], Want::Exact(500)).is_err());
    }
    stream[3] |= 32;
    assert_eq!(gzip(&stream, Want::Exact(500)).unwrap_err().fault, Fault::Corrupt);
}

#[test]
fn checksums_are_checked() {
    for step in [boxed(Gzip::new(5)), boxed(Zlib::new(5))] {
        let stream = encode(&*step, &smooth(500));
        let length = stream.len();
        for back in 1..=4 {
            let mut wrong = stream.clone();
            wrong[length - back] ^= 0x10;
            assert_eq!(decode(&*step, &wrong, Want::Exact(500)).unwrap_err().fault, Fault::Checksum);
            let cut = &stream[..length - back];
            assert_eq!(decode(&*step, cut, Want::Exact(500)).unwrap_err().fault, Fault::Checksum);
        }
    }
}

#[test]
fn a_preset_dictionary_is_refused() {
    let mut stream = encode(&Zlib::new(5).unwrap(), &smooth(500));
    stream[..2].copy_from_slice(&[0x78, 0x20 + 27]);
    assert!(decode(&Zlib::new(5).unwrap(), &stream, Want::Exact(500)).is_err());
}

#[test]
fn level_0_stores() {
    let data = smooth(10_000);
    for step in [boxed(Gzip::new(0)), boxed(Zlib::new(0))] {
        let stream = encode(&*step, &data);
        assert!(stream.len() > data.len() && stream.windows(1000).any(|part| part == &data[..1000]));
    }
}
