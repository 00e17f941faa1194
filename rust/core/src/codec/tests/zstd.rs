//! Frames of Zstandard that other writers make.

use super::{decode, encode, hex, smooth};
use crate::codec::*;

fn read(stream: &[u8], want: Want) -> Result<Vec<u8>, CodecError> {
    decode(&Zstd::new(3, false).unwrap(), stream, want)
}

/// A frame of one raw block that does not say how long its content is.
fn unsized_frame(data: &[u8]) -> Vec<u8> {
    let mut frame = hex("28b52ffd 00 58");
    frame.extend(&((data.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend(data);
    frame
}

#[test]
fn frames_without_a_size() {
    let data = smooth(70_000);
    let frame = unsized_frame(&data);
    assert!(read(&frame, Want::Exact(70_000)).unwrap() == data);
    assert!(read(&frame, Want::AtMost(1 << 20)).unwrap() == data);
    assert_eq!(read(&frame, Want::AtMost(69_999)).unwrap_err().fault, Fault::TooLarge);
}

#[test]
fn many_frames_and_skippable_ones() {
    let data = smooth(3000);
    let codec = Zstd::new(3, true).unwrap();
    let mut stream = hex("502a4d18 05000000 0102030405");
    for part in data.chunks(700) {
        stream.extend(encode(&codec, part));
        stream.extend(hex("5f2a4d18 00000000"));
        stream.extend(unsized_frame(&[]));
    }
    assert!(read(&stream, Want::Exact(3000)).unwrap() == data);
    assert!(read(&stream, Want::AtMost(1 << 20)).unwrap() == data);
    stream.push(0);
    assert_eq!(read(&stream, Want::Exact(3000)).unwrap_err().fault, Fault::Corrupt);
}

#[test]
fn frames_of_version_0_7() {
    // One raw block of 200 bytes, then the end mark, in the layout that zstd 0.7 wrote.
    let mut stream = hex("27b52ffd 20 c8 4000c8");
    stream.extend(0..200_u8);
    stream.extend(hex("c00000"));
    let expected: Vec<u8> = (0..200).collect();
    assert_eq!(read(&stream, Want::Exact(200)).unwrap(), expected);
    assert_eq!(read(&stream, Want::AtMost(999)).unwrap(), expected);
    assert_eq!(read(&stream, Want::Exact(199)).unwrap_err().fault, Fault::TooLarge);
    for cut in 0..stream.len() {
        assert!(read(&stream[..cut], Want::Exact(200)).is_err());
    }
    // The same claim of 0.6 and 0.1 is refused, whatever follows.
    stream[0] = 0x26;
    assert_eq!(read(&stream, Want::Exact(200)).unwrap_err().fault, Fault::Corrupt);
}

#[test]
fn claims_of_a_terabyte() {
    let stream = hex("28b52ffd e0 0000000000010000 010000");
    assert_eq!(read(&stream, Want::AtMost(1 << 20)).unwrap_err().fault, Fault::Corrupt);
    assert_eq!(read(&stream, Want::Exact(10)).unwrap_err().fault, Fault::Corrupt);
    // Even an array without a bound of its own makes no room for it.
    let mut dst = Buffer::default();
    let mut cx = Contexts::default();
    let huge = encode(&Zstd::new(3, false).unwrap(), &vec![0; 5_000_000]);
    Zstd::new(3, false).unwrap().decode(&huge, &mut dst, Want::AtMost(usize::MAX), &mut cx).unwrap();
    assert!(dst.len() == 5_000_000 && dst.capacity() < 20_000_000);
}

#[test]
fn wrong_checksums() {
    let mut stream = encode(&Zstd::new(3, true).unwrap(), &smooth(1000));
    *stream.last_mut().unwrap() ^= 1;
    assert_eq!(read(&stream, Want::Exact(1000)).unwrap_err().fault, Fault::Checksum);
}
