//! Codecs that hold other codecs.

use std::sync::Arc;

use super::{Noise, decode, encode, random, smooth};
use crate::codec::*;

fn steps() -> Vec<Arc<dyn Step>> {
    vec![Arc::new(Shuffle::new(4).unwrap()), Arc::new(Zlib::new(6).unwrap()), Arc::new(Crc32c::new())]
}

fn conditional() -> Conditional {
    Conditional::new(steps(), 16).unwrap()
}

#[test]
fn a_series_is_its_steps_one_after_the_other() {
    let (series, data) = (Series::new(steps()), smooth(4000));
    let by_hand = steps().iter().fold(data.clone(), |data, step| encode(&**step, &data));
    let encoded = encode(&series, &data);
    assert_eq!(encoded, by_hand);
    for want in [Want::Exact(4000), Want::AtMost(4000), Want::AtMost(1 << 30)] {
        let mut dst = Buffer::default();
        series.decode(&encoded, &mut dst, want, &mut Contexts::default()).unwrap();
        assert_eq!(dst.as_slice(), data);
    }
    assert!(decode(&Series::new(vec![]), &data, Want::Exact(3999)).is_err());
    assert_eq!(decode(&Series::new(vec![]), &data, Want::Exact(4000)).unwrap(), data);
}

#[test]
fn compressors_are_left_out_where_they_do_not_help() {
    let codec = conditional();
    for (data, mask) in [(smooth(4000), [7, 0]), (random(4000), [5, 0]), (vec![], [5, 0])] {
        let encoded = encode(&codec, &data);
        assert_eq!(encoded[..2], mask);
        assert!(encoded.len() <= data.len() + 6);
        assert!(encoded.len() <= codec.bound(data.len()));
        let mut dst = Buffer::default();
        codec.decode(&encoded, &mut dst, Want::Exact(data.len()), &mut Contexts::default()).unwrap();
        assert_eq!(dst.as_slice(), data);
        let mut exact = vec![0; data.len()];
        codec.decode_exact(&encoded, &mut exact, &mut Contexts::default()).unwrap();
        assert_eq!(exact, data);
    }
}

#[test]
fn bits_of_codecs_that_are_not_there_are_errors() {
    let codec = conditional();
    for header in [[8, 0], [0, 1], [0xFF, 0xFF]] {
        let stream = [&header[..], &[0; 100]].concat();
        assert_eq!(decode(&codec, &stream, Want::Exact(100)).unwrap_err().fault, Fault::Corrupt);
    }
    assert_eq!(decode(&codec, &[0], Want::Exact(0)).unwrap_err().fault, Fault::Corrupt);
    assert_eq!(decode(&codec, &[0, 0, 5], Want::Exact(1)).unwrap(), [5]);
}

#[test]
fn damage_does_no_harm() {
    let (codec, mut noise) = (conditional(), Noise(3));
    let encoded = encode(&codec, &smooth(2000));
    for _ in 0..500 {
        let mut broken = encoded.clone();
        let at = noise.below(broken.len());
        broken[at] ^= 1 << noise.below(8);
        // A turned bit of the header may name other codecs; in all else the checksum finds it.
        assert!(decode(&codec, &broken, Want::Exact(2000)).is_err() || at < 2);
        drop(decode(&codec, &broken[..at], Want::AtMost(2000)));
    }
}

#[test]
fn java_blocks_by_hand() {
    // The bytes "0123456789abcdef" as lz4-java 1.8 writes them: one raw block, then the mark of the end.
    let data = b"0123456789abcdef";
    let encoded = encode(&N5Lz4::new(1 << 16).unwrap(), data);
    assert_eq!(encoded.len(), 21 + 16 + 21);
    assert_eq!(&encoded[..9], b"LZ4Block\x16");
    assert_eq!(encoded[9..17], [16, 0, 0, 0, 16, 0, 0, 0]);
    assert_eq!(&encoded[21..37], data);
    assert_eq!(&encoded[37..46], b"LZ4Block\x16");
    assert_eq!(encoded[46..], [0; 12]);
}
